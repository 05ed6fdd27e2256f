package feed

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
)

// NoteFormat is the review note of an approved feed that is pending again because its documents are read in another way (D17.17). Pages
// translate it.
const NoteFormat = "Back to review: format, mapping or status_url has changed since it was approved."

// maxMapping bounds a mapping, in bytes.
const maxMapping = 16 << 10

// Format describes which settings a feed of a format may have (D17.17). Formats are injected because they belong to the bridges.
type Format struct {
	Name     string
	Mapping  bool // a mapping is required
	Status   bool // a status document is allowed
	Zone     bool // a time zone is allowed
	Chargers bool // its documents may contain chargers
}

// format returns the format with the name; nil: there is none.
func (s *Service) format(name string) *Format {
	for i := range s.Formats {
		if s.Formats[i].Name == name {
			return &s.Formats[i]
		}
	}
	return nil
}

// FormatNames lists the names that a feed's format may have, v1 first.
func (s *Service) FormatNames() []string {
	names := []string{mapdata.FormatV1}
	for i := range s.Formats {
		names = append(names, s.Formats[i].Name)
	}
	return names
}

// applyBridge copies the settings that determine how documents become rows. It drops settings that a newly chosen format does not have,
// unless they were given with it.
func (s *Service) applyBridge(f *mapdata.Feed, given *Settings, w *mapdata.FieldErrors) {
	if f.Direction == mapdata.Push {
		for _, field := range given.bridgeFields() {
			notForPush(w, field.name, field.text != nil)
		}
		return
	}
	b := f.Bridge
	format := &Format{Name: mapdata.FormatV1}
	if name := b.FormatName(); given.Format != nil || b.Format != "" {
		if given.Format != nil && *given.Format != "" {
			name = *given.Format
		} else if given.Format != nil {
			name = mapdata.FormatV1
		}
		if found := s.format(name); found != nil {
			format, b.Format = found, name
		} else if b.Format = ""; name != mapdata.FormatV1 {
			w.Add("format", "unknown_format", "must be one of "+strings.Join(s.FormatNames(), ", "))
			return
		}
	}
	for _, field := range given.bridgeFields() {
		has := field.of(format)
		switch {
		case has && field.text != nil:
			*field.in(&b) = *field.text
		case field.text != nil && *field.text != "":
			w.Add(field.name, "not_for_format", "does not belong to the format "+format.Name)
		case !has:
			*field.in(&b) = ""
		}
	}
	s.checkBridge(f, &b, format, w)
	f.Bridge = b
}

// bridgeField is one of the settings that only some formats have.
type bridgeField struct {
	name string
	text *string // as given; nil: absent
	of   func(*Format) bool
	in   func(*mapdata.Bridge) *string
}

func (given *Settings) bridgeFields() []bridgeField {
	return []bridgeField{
		{"format", given.Format, func(*Format) bool { return true }, func(*mapdata.Bridge) *string { return new(string) }},
		{"mapping", given.Mapping, func(f *Format) bool { return f.Mapping }, func(b *mapdata.Bridge) *string { return &b.Mapping }},
		{"status_url", given.StatusURL, func(f *Format) bool { return f.Status }, func(b *mapdata.Bridge) *string { return &b.StatusURL }},
		{"time_zone", given.TimeZone, func(f *Format) bool { return f.Zone }, func(b *mapdata.Bridge) *string { return &b.TimeZone }},
		{"charger_network", given.ChargerNetwork, func(f *Format) bool { return f.Chargers }, func(b *mapdata.Bridge) *string { return &b.ChargerNetwork }},
	}
}

// networkID is the form of a charger network's id (D17.10).
var networkID = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const maxNetworkID = 64

// checkBridge validates the settings of a format, as far as they changed.
func (s *Service) checkBridge(f *mapdata.Feed, b *mapdata.Bridge, format *Format, w *mapdata.FieldErrors) {
	switch {
	case !format.Mapping:
	case b.Mapping == "":
		w.Add("mapping", "missing", "is required for the format "+format.Name)
	case b.Mapping != f.Bridge.Mapping || b.Format != f.Bridge.Format:
		b.Mapping = s.checkMapping(format.Name, b.Mapping, w)
	}
	if b.StatusURL != "" && b.StatusURL != f.Bridge.StatusURL {
		normalized, err := s.CheckURL(b.StatusURL)
		if err != nil {
			w.AddRule("status_url", "invalid_url", err)
		}
		b.StatusURL = normalized
	}
	if b.TimeZone != "" && b.TimeZone != f.Bridge.TimeZone {
		if _, err := time.LoadLocation(b.TimeZone); err != nil || b.TimeZone == "Local" {
			w.Add("time_zone", "invalid_time_zone", "must be the name of a time zone, such as Europe/Amsterdam")
		}
	}
	if n := b.ChargerNetwork; len(n) > maxNetworkID || n != "" && !networkID.MatchString(n) {
		w.Add("charger_network", "invalid_network", "must be none, or the id of a network: small letters, digits and single hyphens, at most 64")
	}
}

// checkMapping returns a mapping in its stored form, without white space around its members.
func (s *Service) checkMapping(format, mapping string, w *mapdata.FieldErrors) string {
	if len(mapping) > maxMapping {
		w.Add("mapping", "too_long", "must have at most 16 KiB")
		return ""
	}
	var raw json.RawMessage
	if err := json.Unmarshal([]byte(mapping), &raw); err != nil || len(raw) == 0 || raw[0] != '{' {
		w.Add("mapping", "invalid_mapping", "must be a JSON object")
		return ""
	}
	wrong := s.CheckMapping(format, raw)
	for _, e := range wrong {
		w.Add("mapping", "invalid_mapping", strings.TrimSpace(e.Field+" "+e.Message))
	}
	compact, err := json.Marshal(raw)
	if err != nil || len(wrong) > 0 {
		return mapping
	}
	return string(compact)
}

// readDifferently reports whether an edit changed what a review of a bridged feed is bound to (D17.17).
func readDifferently(f, before *mapdata.Feed) bool {
	now, was := f.Bridge, before.Bridge
	return now.Format != was.Format || now.Mapping != was.Mapping || now.StatusURL != was.StatusURL
}

// Chargers reports whether feeds of a format may bring chargers.
func (s *Service) Chargers(format string) bool {
	return slices.ContainsFunc(s.Formats, func(f Format) bool { return f.Name == format && f.Chargers })
}

// Fit drops the settings that their format does not have, for settings whose author is not the owner: those of a catalogue.
func (s *Service) Fit(given *Settings) {
	format := s.format(mapdata.FormatV1)
	if given.Format != nil {
		format = s.format(*given.Format)
	}
	if format == nil {
		return
	}
	for name, to := range map[string]**string{
		"mapping": &given.Mapping, "status_url": &given.StatusURL, "time_zone": &given.TimeZone, "charger_network": &given.ChargerNetwork,
	} {
		for _, field := range given.bridgeFields() {
			if field.name == name && !field.of(format) {
				*to = nil
			}
		}
	}
}

// CheckBridge validates the settings of a bridge as a registration does, for providers who try a feed before they register it.
func (s *Service) CheckBridge(given *Settings) (mapdata.Bridge, error) {
	var w mapdata.FieldErrors
	f := mapdata.Feed{Direction: mapdata.Pull}
	s.applyBridge(&f, given, &w)
	return f.Bridge, w.Err()
}
