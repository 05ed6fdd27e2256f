package feed

import (
	"errors"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"wayside/internal/mapdata"
)

// Lengths of what owners write, in characters.
const (
	maxName        = 100 // of a feed and of a layer
	maxAttribution = 500
	maxLicence     = 200
	maxDescription = 2000
	maxNote        = 2000 // a curator's
	maxSpecURL     = 2048
)

// Bounds of a poll's interval in seconds; a wish beyond them is clamped.
const (
	minInterval     = 30
	maxInterval     = 3600
	defaultInterval = 300
)

// Registration is what an owner says of a new feed. nil means that a field was not given.
type Registration struct {
	Direction string // pull or push
	Settings
}

// Settings are what an owner may say at registration and change later. nil means that a field was not given. An empty
// description, attribution, licence or spec URL is none; an empty layer name is the feed's own name.
type Settings struct {
	Name        *string // 1 to 100 characters
	Description *string // at most 2000 characters, lines among them
	Visibility  *string // public or private; private by default
	Attribution *string // at most 500 characters
	Licence     *string // at most 200 characters: an SPDX identifier, or any name
	LayerName   *string // at most 100 characters; the feed's name by default
	SpecURL     *string // https://…, at most 2048 bytes

	PullURL             *string  // of a pull feed only, like the fields below
	PullAuthHeader      *string  // «Name: value»
	PullIntervalSeconds *float64 // clamped to 30 and 3600; a fraction is rounded up
}

// wrong gathers what is wrong with fields.
type wrong []mapdata.FieldError

func (w *wrong) add(field, code, message string) {
	*w = append(*w, mapdata.FieldError{Field: field, Code: code, Message: message})
}

func (w wrong) err() error {
	if len(w) == 0 {
		return nil
	}
	return &mapdata.InvalidError{Fields: w}
}

// check takes a registration over into a new feed, and gives the auth header to be sealed.
func (s *Service) check(f *mapdata.Feed, r *Registration) (header string, err error) {
	var w wrong
	f.Direction = mapdata.Direction(r.Direction)
	switch f.Direction {
	case mapdata.Pull:
		f.PullInterval = defaultInterval * time.Second
		if r.PullURL == nil {
			w.add("pull_url", "missing", "is required for a pull feed")
		}
	case mapdata.Push:
	case "":
		w.add("direction", "missing", "is required: pull or push")
	default:
		w.add("direction", "invalid_direction", "must be pull or push")
	}
	if r.Name == nil {
		w.add("name", "missing", "is required")
	}
	header = s.take(f, &r.Settings, &w)
	if f.Layer.Name == "" {
		f.Layer.Name = f.Name
	}
	f.Layer.Slug = slug(f.Layer.Name)
	return header, w.err()
}

// take takes settings over into a feed, as far as they are good, and gives the auth header to be sealed.
func (s *Service) take(f *mapdata.Feed, g *Settings, w *wrong) (header string) {
	takeLine(w, "name", g.Name, 1, maxName, &f.Name)
	takeLine(w, "attribution", g.Attribution, 0, maxAttribution, &f.Attribution)
	takeLine(w, "licence", g.Licence, 0, maxLicence, &f.Licence)
	if g.Description != nil {
		f.Description = cleanLines(*g.Description)
		checkLines(w, "description", f.Description, 0, maxDescription)
	}
	takeLine(w, "layer_name", g.LayerName, 0, maxName, &f.Layer.Name)
	if g.LayerName != nil && f.Layer.Name == "" {
		f.Layer.Name = f.Name
	}
	if g.Visibility != nil {
		f.Visibility = mapdata.Visibility(*g.Visibility)
		if f.Visibility != mapdata.Public && f.Visibility != mapdata.Private {
			w.add("visibility", "invalid_visibility", "must be public or private")
		}
	}
	if g.SpecURL != nil {
		f.SpecURL = *g.SpecURL
		if f.SpecURL != "" && !goodSpecURL(f.SpecURL) {
			w.add("spec_url", "invalid_url", "must be an address that begins with https://, of at most 2048 characters")
		}
	}
	return s.takePull(f, g, w)
}

// takePull takes over what only pull feeds have.
func (s *Service) takePull(f *mapdata.Feed, g *Settings, w *wrong) (header string) {
	if f.Direction == mapdata.Push {
		w.notForPush("pull_url", g.PullURL != nil)
		w.notForPush("pull_auth_header", g.PullAuthHeader != nil)
		w.notForPush("pull_interval_seconds", g.PullIntervalSeconds != nil)
		return ""
	}
	if g.PullURL != nil {
		kept, err := s.CheckURL(*g.PullURL)
		if err != nil {
			w.addRule("pull_url", "invalid_url", err)
		}
		f.PullURL = kept
	}
	if g.PullAuthHeader != nil {
		header = *g.PullAuthHeader
		if err := s.CheckAuthHeader(header); err != nil {
			w.addRule("pull_auth_header", "invalid_auth_header", err)
		}
	}
	if g.PullIntervalSeconds != nil {
		f.PullInterval = clampInterval(*g.PullIntervalSeconds)
	}
	return header
}

func (w *wrong) notForPush(field string, given bool) {
	if given {
		w.add(field, "not_for_push", "belongs to pull feeds only")
	}
}

// addRule tells of a rule that another package holds. Its error may name a code of its own.
func (w *wrong) addRule(field, code string, err error) {
	var coded interface{ Code() string }
	if errors.As(err, &coded) {
		code = coded.Code()
	}
	w.add(field, code, err.Error())
}

func clampInterval(seconds float64) time.Duration {
	return time.Duration(max(minInterval, min(maxInterval, math.Ceil(seconds)))) * time.Second
}

// takeLine takes over a text of one line, without the space around it.
func takeLine(w *wrong, field string, given *string, least, most int, to *string) {
	if given == nil {
		return
	}
	text := strings.TrimSpace(*given)
	checkText(w, field, text, least, most, unprintable)
	*to = text
}

// cleanLines gives a text of several lines without the space around it, its lines ended in one way.
func cleanLines(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
}

func checkLines(w *wrong, field, text string, least, most int) {
	checkText(w, field, text, least, most, func(r rune) bool { return r != '\n' && r != '\t' && unprintable(r) })
}

// checkText judges a text by its length in characters, and by the characters that may not stand in it.
func checkText(w *wrong, field, text string, least, most int, refused func(rune) bool) {
	switch n := utf8.RuneCountInString(text); {
	case n < least:
		w.add(field, "missing", "must not be empty")
	case n > most:
		w.add(field, "too_long", "must have at most "+strconv.Itoa(most)+" characters")
		(*w)[len(*w)-1].Limit = most
	case !utf8.ValidString(text), strings.ContainsFunc(text, refused):
		w.add(field, "invalid_characters", "must not hold control characters")
	}
}

// unprintable says what may not stand in a text that others read: control characters, line separators, and those that
// turn the text around them, so that a name looks like another one.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// goodSpecURL judges where a provider documents the data: it is shown as a link and never fetched.
func goodSpecURL(text string) bool {
	if len(text) > maxSpecURL || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || unprintable(r) || unicode.IsSpace(r) }) {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && utf8.ValidString(text)
}
