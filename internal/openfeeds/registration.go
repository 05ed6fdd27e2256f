package openfeeds

import (
	"cmp"

	"wayside/internal/feed"
	"wayside/internal/mapdata"
)

// Registration is the request for a feed that polls this one: with its attribution and licence, which so reach every place that shows it.
func (f *Feed) Registration() feed.Registration {
	optional := func(text string) *string {
		if text == "" {
			return nil
		}
		return &text
	}
	interval := float64(cmp.Or(f.IntervalSeconds, 300))
	return feed.Registration{Direction: string(mapdata.Pull), Settings: feed.Settings{
		Name: &f.Name, Attribution: optional(f.Attribution), Licence: optional(f.Licence), SpecURL: optional(f.Homepage),
		PullURL: &f.URL, PullIntervalSeconds: &interval, Format: &f.Format, Mapping: optional(string(f.Mapping)),
		StatusURL: optional(f.StatusURL), TimeZone: optional(f.TimeZone), ChargerNetwork: optional(f.ChargerNetwork),
	}}
}
