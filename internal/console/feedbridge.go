package console

import (
	"net/url"
	"slices"
	"strings"

	"wayside/internal/console/words"
	"wayside/internal/feed"
	"wayside/internal/mapdata"
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

// maxCarriedMapping is how long a mapping may be that a link carries: servers bound the length of a request's first line.
const maxCarriedMapping = 4 << 10

// Carried is what the form of a new feed is filled in with after a check, but for the auth header, which belongs in no address.
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

// fillFromCheck fills the form of a new feed in with what was checked.
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

// faultText says where a document is bad; empty: not known.
func faultText(w *words.Words, line int, at int64) string {
	switch {
	case line > 0:
		return w.Text("outcome.at.line", line)
	case at > 0:
		return w.Text("outcome.at.byte", at)
	}
	return ""
}

// placeOfFault is where the last document of a bridged feed was bad, as bridge.Explain begins what is stored: "xml: line 3".
func placeOfFault(f *mapdata.Feed) string {
	bad := f.Polling.LastOutcome == mapdata.OutcomeParseError || f.Polling.LastOutcome == mapdata.OutcomeTooLarge
	if f.Bridge.Format == "" || !bad {
		return ""
	}
	place, _, _ := strings.Cut(f.Polling.LastError, ". ")
	if !strings.Contains(place, ": ") {
		return "" // the fault alone, which the page says in words
	}
	return place
}
