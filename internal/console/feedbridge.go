package console

import (
	"slices"
	"strings"

	"wayside/internal/feed"
)

// bridgeFields are the inputs that only some formats use.
var bridgeFields = [...]string{"mapping", "status_url", "time_zone", "charger_network"}

// bridge adds the fields that say how documents become rows. A form without a format leaves them as they are.
func (f *Form) bridge(s *feed.Settings) {
	if !f.values.Has("format") {
		return
	}
	for name, to := range map[string]**string{
		"format": &s.Format, "mapping": &s.Mapping, "status_url": &s.StatusURL, "time_zone": &s.TimeZone, "charger_network": &s.ChargerNetwork,
	} {
		text := strings.TrimSpace(f.raw(name))
		*to = &text
	}
}

// BridgeOpen says whether the fields that only some formats use are shown from the beginning.
func (p *feedForm) BridgeOpen() bool {
	return slices.ContainsFunc(bridgeFields[:], func(field string) bool { return p.Form.Value(field) != "" || p.Form.Has(field) })
}

// BridgeOpen says whether the fields that only some formats use are shown from the beginning.
func (p *checkPage) BridgeOpen() bool {
	return slices.ContainsFunc(bridgeFields[:], func(field string) bool { return p.Form.Value(field) != "" || p.Form.Has(field) })
}
