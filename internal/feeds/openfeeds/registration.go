package openfeeds

import (
	"cmp"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
)

// Registration returns the request for a feed that polls this one. It includes the attribution and licence, so that
// every place that shows the feed shows them.
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
