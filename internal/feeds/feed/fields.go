package feed

import (
	"math"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"wayside/internal/ground/mapdata"
)

// Maximum lengths of owners' texts, in characters.
const (
	maxName        = 100 // of a feed and of a layer
	maxAttribution = 500
	maxLicence     = 200
	maxDescription = 2000
	maxSpecURL     = 2048
)

// Bounds of the poll interval in seconds; values beyond them are clamped.
const (
	minInterval     = 30
	maxInterval     = 3600
	defaultInterval = 300
)

// Registration is the request for a new feed. nil means that a field was not given.
type Registration struct {
	Direction string // pull or push
	Settings
}

// Settings are the fields that an owner sets at registration and may change later. nil means that a field was not given.
// An empty description, attribution, licence or spec URL clears it; an empty layer name means the feed's own name.
type Settings struct {
	Name        *string // 1 to 100 characters
	Description *string // at most 2000 characters, may have several lines
	Visibility  *string // public or private; private by default
	Attribution *string // at most 500 characters
	Licence     *string // at most 200 characters: an SPDX identifier, or any name
	LayerName   *string // at most 100 characters; the feed's name by default
	SpecURL     *string // https://…, at most 2048 bytes

	PullURL             *string  // of a pull feed only, like the fields below
	PullAuthHeader      *string  // «Name: value»
	PullIntervalSeconds *float64 // clamped to 30 and 3600; a fraction is rounded up

	Format         *string // v1 by default
	Mapping        *string // JSON
	StatusURL      *string
	TimeZone       *string
	ChargerNetwork *string
}

// applyRegistration copies a registration into a new feed and returns the auth header in clear, for sealing.
func (s *Service) applyRegistration(f *mapdata.Feed, r *Registration) (header string, err error) {
	var w mapdata.FieldErrors
	f.Direction = mapdata.Direction(r.Direction)
	switch f.Direction {
	case mapdata.Pull:
		f.PullInterval = defaultInterval * time.Second
		if r.PullURL == nil {
			w.Add("pull_url", "missing", "is required for a pull feed")
		}
	case mapdata.Push:
	case "":
		w.Add("direction", "missing", "is required: pull or push")
	default:
		w.Add("direction", "invalid_direction", "must be pull or push")
	}
	if r.Name == nil {
		w.Add("name", "missing", "is required")
	}
	header = s.applySettings(f, &r.Settings, &w)
	if f.Layer.Name == "" {
		f.Layer.Name = f.Name
	}
	f.Layer.Slug = slug(f.Layer.Name)
	return header, w.Err()
}

// applySettings copies the valid settings into a feed and returns the auth header in clear, for sealing.
func (s *Service) applySettings(f *mapdata.Feed, given *Settings, w *mapdata.FieldErrors) (header string) {
	name, layer := f.Name, f.Layer.Name
	setLine(w, "name", given.Name, 1, maxName, &f.Name)
	checkReserved(w, "name", name, f.Name)
	setLine(w, "attribution", given.Attribution, 0, maxAttribution, &f.Attribution)
	setLine(w, "licence", given.Licence, 0, maxLicence, &f.Licence)
	if given.Description != nil {
		f.Description = w.Lines("description", *given.Description, 0, maxDescription)
	}
	setLine(w, "layer_name", given.LayerName, 0, maxName, &f.Layer.Name)
	checkReserved(w, "layer_name", layer, f.Layer.Name)
	if given.LayerName != nil && f.Layer.Name == "" {
		f.Layer.Name = f.Name
	}
	if given.Visibility != nil {
		f.Visibility = mapdata.Visibility(*given.Visibility)
		if f.Visibility != mapdata.Public && f.Visibility != mapdata.Private {
			w.Add("visibility", "invalid_visibility", "must be public or private")
		}
	}
	if given.SpecURL != nil {
		f.SpecURL = *given.SpecURL
		if f.SpecURL != "" && !validSpecURL(f.SpecURL) {
			w.Add("spec_url", "invalid_url", "must be an address that begins with https://, of at most 2048 characters")
		}
	}
	return s.applyPullSettings(f, given, w)
}

// applyPullSettings copies the settings that only pull feeds have.
func (s *Service) applyPullSettings(f *mapdata.Feed, given *Settings, w *mapdata.FieldErrors) (header string) {
	s.applyBridge(f, given, w)
	if f.Direction == mapdata.Push {
		notForPush(w, "pull_url", given.PullURL != nil)
		notForPush(w, "pull_auth_header", given.PullAuthHeader != nil)
		notForPush(w, "pull_interval_seconds", given.PullIntervalSeconds != nil)
		return ""
	}
	if given.PullURL != nil {
		normalized, err := s.CheckURL(*given.PullURL)
		if err != nil {
			w.AddRule("pull_url", "invalid_url", err)
		}
		f.PullURL = normalized
	}
	if given.PullAuthHeader != nil {
		header = *given.PullAuthHeader
		if err := s.CheckAuthHeader(header); err != nil {
			w.AddRule("pull_auth_header", "invalid_auth_header", err)
		}
	}
	if given.PullIntervalSeconds != nil {
		f.PullInterval = clampInterval(*given.PullIntervalSeconds)
	}
	return header
}

func notForPush(w *mapdata.FieldErrors, field string, given bool) {
	if given {
		w.Add(field, "not_for_push", "belongs to pull feeds only")
	}
}

func clampInterval(seconds float64) time.Duration {
	return time.Duration(max(minInterval, min(maxInterval, math.Ceil(seconds)))) * time.Second
}

// setLine stores a single-line text, if one was given.
func setLine(w *mapdata.FieldErrors, field string, given *string, minLength, maxLength int, to *string) {
	if given != nil {
		*to = w.Line(field, *given, minLength, maxLength)
	}
}

// checkReserved rejects a new name that could be taken for that of a built-in source or layer (D5.8).
func checkReserved(w *mapdata.FieldErrors, field, before, now string) {
	if now != before && reserved(now) {
		w.Add(field, "reserved", "must not begin like the name of a built-in source or layer: incidents, drivers, osm-cameras, osm-chargers")
	}
}

// validSpecURL validates the URL of a provider's documentation, which is shown as a link and never fetched.
func validSpecURL(text string) bool {
	if len(text) > maxSpecURL || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || mapdata.ForbiddenInText(r) || unicode.IsSpace(r) }) {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && utf8.ValidString(text)
}
