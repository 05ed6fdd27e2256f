package apps

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/net/publicsuffix"

	"wayside/internal/ground/mapdata"
)

// Bounds of a submission (D16.1, D16.3), in characters unless stated otherwise.
const (
	maxName        = 60
	maxSummary     = 140
	maxDescription = 4000
	maxKinds       = 4
	maxFeeds       = 20
	maxDomains     = 20
	maxDomain      = 253
	maxCostNote    = 200
	maxChangelog   = 1000
)

// Rules holds the rules for submissions.
type Rules struct {
	BaseURL    *url.URL                     // of this service
	Hosts      []string                     // other names by which it may be called; "*" names none
	DevOrigins []string                     // whose pages are exempt from D6.5 and from https, for developing apps
	CheckURL   func(string) (string, error) // checks a URL by the rules of D6.5 and returns it normalized
	CheckHost  func(string) (string, error) // checks the name of a public host and returns it normalized
}

// ParseSubmission parses the members of a submission, and adds its errors to errors.
func (r *Rules) ParseSubmission(members map[string]jsontext.Value, errors *mapdata.FieldErrors) *mapdata.AppFields {
	m := reader{members: members, errors: errors}
	f := &mapdata.AppFields{
		Name: m.line("name", true, maxName), Summary: m.line("summary", true, maxSummary),
		Description: m.lines("description", maxDescription), Changelog: m.lines("changelog", maxChangelog),
		Kinds: m.kinds(), FeedIDs: m.feeds(), Domains: m.domains(r.CheckHost), Cost: m.cost(),
		WidgetURL: m.text("widget_url", false), WebsiteURL: m.page("website_url", true), PrivacyURL: m.page("privacy_url", false),
	}
	if schema, ok := m.take("config_schema"); ok {
		f.ConfigSchema = ParseSchema("config_schema", schema, errors)
	}
	m.rest()
	if f.Kinds != nil {
		r.checkParts(f, errors)
	}
	return f
}

// Framed reports whether an app of these kinds is a web page beside the map.
func Framed(kinds []mapdata.AppKind) bool {
	return slices.Contains(kinds, mapdata.AppWidget) || slices.Contains(kinds, mapdata.AppNotifications)
}

// showsFeeds reports whether an app of these kinds shows feeds.
func showsFeeds(kinds []mapdata.AppKind) bool {
	return slices.Contains(kinds, mapdata.AppPins) || slices.Contains(kinds, mapdata.AppCustomLayer)
}

// checkParts checks that an app has the members that its kinds need, and no others.
func (r *Rules) checkParts(f *mapdata.AppFields, errors *mapdata.FieldErrors) {
	switch framed := Framed(f.Kinds); {
	case framed && f.WidgetURL == "":
		errors.Add("widget_url", "missing", "is required for widget and notifications")
	case !framed && f.WidgetURL != "":
		errors.Add("widget_url", "not_allowed", "belongs to widget and notifications only")
	case framed:
		f.WidgetURL = r.checkWidgetURL(f.WidgetURL, errors)
	}
	switch feeds := showsFeeds(f.Kinds); {
	case feeds && len(f.FeedIDs) == 0:
		errors.Add("feed_ids", "missing", "is required for pins and custom_layer")
	case !feeds && len(f.FeedIDs) > 0:
		errors.Add("feed_ids", "not_allowed", "belongs to pins and custom_layer only")
	}
}

// checkWidgetURL checks the address of the page in the frame (D16.2), and returns it normalized.
func (r *Rules) checkWidgetURL(text string, errors *mapdata.FieldErrors) string {
	normalized, err := r.CheckURL(text)
	if u, invalid := url.Parse(text); invalid == nil && r.Exempt(u) && len(text) <= maxURL {
		normalized, err = u.String(), nil
	}
	if err != nil {
		errors.Add("widget_url", "invalid", err.Error())
		return ""
	}
	if u, err := url.Parse(normalized); err != nil || r.isOurs(u.Hostname()) {
		errors.Add("widget_url", "same_site", "must be on another site than this service: a page of ours in a frame could act as the driver")
		return ""
	}
	return normalized
}

// Exempt reports whether an address belongs to an origin for developing apps.
func (r *Rules) Exempt(u *url.URL) bool {
	return u.User == nil && slices.Contains(r.DevOrigins, u.Scheme+"://"+u.Host)
}

// exempts reports whether an address, given as text, belongs to an origin for developing apps.
func (r *Rules) exempts(text string) bool {
	u, err := url.Parse(text)
	return err == nil && r.Exempt(u)
}

// isOurs reports whether a host belongs to a site of this service.
func (r *Rules) isOurs(host string) bool {
	return sameSite(host, r.BaseURL.Hostname()) || slices.ContainsFunc(r.Hosts, func(own string) bool { return sameSite(host, own) })
}

// sameSite reports whether two hosts belong to one site: one registered domain.
func sameSite(a, b string) bool {
	site := func(host string) string {
		host = strings.ToLower(strings.TrimSuffix(host, "."))
		if registered, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
			return registered
		}
		return host
	}
	return site(a) == site(b)
}

// lines takes a text for people of several lines, which may be left out.
func (r *reader) lines(name string, maxLength int) string {
	before := len(*r.errors)
	text := r.text(name, false)
	if len(*r.errors) > before {
		return ""
	}
	return r.people(func() string { return r.errors.Lines(r.at+name, text, 0, maxLength) })
}

// kinds takes the kinds of an app; nil: they are wrong.
func (r *reader) kinds() []mapdata.AppKind {
	known := []string{string(mapdata.AppPins), string(mapdata.AppCustomLayer), string(mapdata.AppWidget), string(mapdata.AppNotifications)}
	if _, ok := r.members["kinds"]; !ok {
		r.errors.Add(r.at+"kinds", "missing", "is required: "+strings.Join(known, ", "))
		return nil
	}
	before := len(*r.errors)
	var kinds []mapdata.AppKind
	for i, text := range r.texts("kinds", maxKinds) {
		if !slices.Contains(known, text) {
			r.errors.Add(r.at+"kinds["+strconv.Itoa(i)+"]", "invalid", "must be one of "+strings.Join(known, ", "))
		}
		kinds = append(kinds, mapdata.AppKind(text))
	}
	if len(kinds) == 0 && len(*r.errors) == before {
		r.errors.Add(r.at+"kinds", "missing", "must name at least one of "+strings.Join(known, ", "))
	}
	if len(*r.errors) > before {
		return nil
	}
	return kinds
}

func (r *reader) feeds() []string {
	ids := r.texts("feed_ids", maxFeeds)
	for i, id := range ids {
		if _, ok := mapdata.ParseFeedID(id); !ok {
			r.errors.Add(r.at+"feed_ids["+strconv.Itoa(i)+"]", "unknown_feed", "is no feed of this account")
		}
	}
	return ids
}

// domains takes the names of the hosts that an app's page talks to.
func (r *reader) domains(check func(string) (string, error)) []string {
	names := r.texts("domains", maxDomains)
	for i, name := range names {
		normalized, err := check(name)
		if err != nil || len(name) > maxDomain {
			r.errors.Add(r.at+"domains["+strconv.Itoa(i)+"]", "invalid", "must be the name of a public host, such as api.example.org")
			continue
		}
		names[i] = normalized
	}
	return names
}

func (r *reader) cost() (c mapdata.AppCost) {
	models := []string{"free", "one_time", "subscription", "freemium", "donation"}
	value, ok := r.take("cost")
	if !ok {
		r.errors.Add(r.at+"cost", "missing", `is required: {"model": "free"}, or one of `+strings.Join(models[1:], ", "))
		return c
	}
	members, ok := membersOf(value)
	if !ok {
		r.errors.Add(r.at+"cost", "invalid", "must be an object with model and note")
		return c
	}
	inner := reader{at: r.at + "cost.", members: members, errors: r.errors}
	if c.Model = inner.text("model", true); c.Model != "" && !slices.Contains(models, c.Model) {
		r.errors.Add(r.at+"cost.model", "invalid", "must be one of "+strings.Join(models, ", "))
	}
	c.Note = inner.line("note", false, maxCostNote)
	inner.rest()
	return c
}

// page takes the address of a page for people, which opens in a new tab.
func (r *reader) page(name string, required bool) string {
	text := r.text(name, required)
	if text != "" && (len(text) > maxURL || !strings.HasPrefix(text, "https://") || !isWebAddress(text) || strings.ContainsFunc(text, mapdata.ForbiddenInText)) {
		r.errors.Add(r.at+name, "invalid", "must be an address that begins with https://, of at most "+strconv.Itoa(maxURL)+" characters")
		return ""
	}
	return text
}
