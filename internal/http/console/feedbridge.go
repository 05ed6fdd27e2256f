package console

import (
	"net/url"
	"slices"
	"strings"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/console/words"
)

// bridgeFields are the inputs that only some formats use.
var bridgeFields = [...]string{"mapping", "status_url", "time_zone", "charger_network"}

// bridge adds the settings of how documents become rows. A form without a format leaves them unchanged.
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

// BridgeOpen reports whether the fields that only some formats use are shown from the beginning.
func (p *feedForm) BridgeOpen() bool {
	return slices.ContainsFunc(bridgeFields[:], func(field string) bool { return p.Form.Value(field) != "" || p.Form.Has(field) })
}

// BridgeOpen reports whether the fields that only some formats use are shown from the beginning.
func (p *checkPage) BridgeOpen() bool {
	return slices.ContainsFunc(bridgeFields[:], func(field string) bool { return p.Form.Value(field) != "" || p.Form.Has(field) })
}

// maxCarriedMapping bounds a mapping in a link, because servers bound the length of a request's first line.
const maxCarriedMapping = 4 << 10

// Carried returns the values of the form of a new feed after a check, without the auth header, which must not be in a URL.
func (p *checkPage) Carried() map[string]string {
	carried := map[string]string{"pull_url": p.URL, "format": p.Form.Value("format"), "attribution": p.Trial.Reading.Publisher, "licence": p.Trial.Reading.Licence}
	for _, field := range bridgeFields {
		carried[field] = strings.TrimSpace(p.Form.raw(field))
	}
	if len(carried["mapping"]) > maxCarriedMapping {
		delete(carried, "mapping")
	}
	for field, text := range carried {
		if text == "" {
			delete(carried, field)
		}
	}
	return carried
}

// fillFromCheck fills in the form of a new feed with the values of a check.
func fillFromCheck(asked, values url.Values) {
	if asked.Get("pull_url") == "" {
		return
	}
	values.Set("direction", string(mapdata.Pull))
	for _, field := range append([]string{"pull_url", "format", "attribution", "licence"}, bridgeFields[:]...) {
		if text := asked.Get(field); text != "" {
			values.Set(field, text)
		}
	}
}

// faultText describes the position of a document's fault; empty: not known.
func faultText(w *words.Words, line int, at int64) string {
	switch {
	case line > 0:
		return w.Text("outcome.at.line", line)
	case at > 0:
		return w.Text("outcome.at.byte", at)
	}
	return ""
}

// placeOfFault returns where the last document of a bridged feed was faulty, which the stored error begins with (bridge.Explain):
// "xml: line 3".
func placeOfFault(f *mapdata.Feed) string {
	bad := f.Polling.LastOutcome == mapdata.OutcomeParseError || f.Polling.LastOutcome == mapdata.OutcomeTooLarge
	if f.Bridge.Format == "" || !bad {
		return ""
	}
	place, _, _ := strings.Cut(f.Polling.LastError, ". ")
	if !strings.Contains(place, ": ") {
		return "" // the fault alone, which the page describes
	}
	return place
}
