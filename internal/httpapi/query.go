package httpapi

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
	"wayside/internal/nearby"
)

// params reads a read's query parameters and gathers what is wrong with them, so that all is told at once (D4.11).
type params struct {
	values url.Values
	wrong  *problem
}

func parameterProblem() *problem {
	return &problem{
		Type: "invalid-parameters", Status: http.StatusBadRequest,
		Detail: "Some parameters are missing or wrong; errors lists them all.",
	}
}

// bad notes what is wrong with a parameter.
func (p *params) bad(name, code, message string) {
	if p.wrong == nil {
		p.wrong = parameterProblem()
	}
	p.wrong.Errors = append(p.wrong.Errors, problemField{Parameter: name, Code: code, Message: message})
}

// parseNearby reads the parameters of a nearby query (D4.1 to D4.7).
func (a *api) parseNearby(r *http.Request, c *caller) (*nearby.Query, error) {
	p, err := readParams(r)
	if err != nil {
		return nil, err
	}
	center, radius := p.point(), p.number("radius", 0, nearby.MaxRadius, false)
	q := a.selection(p, c)
	q.Center, q.Radius = center, radius
	q.Since = p.since()
	q.Limit = p.limit()
	return q, a.wrong(p, q)
}

// readParams reads the query string, and refuses what no read takes.
func readParams(r *http.Request) (*params, error) {
	p := new(params)
	var err error
	if p.values, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		p.bad("", "malformed_query", "The query string cannot be read: check its % escapes, and use & between parameters.")
		return nil, p.wrong
	}
	if p.values.Has("bbox") {
		p.bad("bbox", "bbox_not_accepted", "A bounding box is not accepted; give lat, lng and radius.")
	}
	return p, nil
}

// selection reads what selects entities wherever they are (D4.5 to D4.7).
func (a *api) selection(p *params, c *caller) *nearby.Query {
	q := &nearby.Query{Account: c.id(), Tier: c.tier(), Curator: c.curates()}
	if a.Incidents != nil {
		q.Driver = c.driver()
	}
	q.Kinds = p.kinds()
	q.Sources = p.sources()
	if text, given := p.single("layers"); given {
		q.ByLayer, q.Layers = true, list(text)
	}
	if text, given := p.single("networks"); given {
		q.Named, q.Networks = true, p.networkNames(text)
	}
	return q
}

func (p *params) point() geo.Point {
	return geo.Point{Lat: p.number("lat", -90, 90, true), Lng: p.number("lng", -180, 180, true)}
}

// wrong tells of everything that is wrong with the parameters, unknown sources too; nil if nothing is.
func (a *api) wrong(p *params, q *nearby.Query) error {
	if p.wrong == nil {
		return nil
	}
	var unknown *nearby.UnknownSourcesError
	if err := a.Nearby.CheckSources(q); errors.As(err, &unknown) {
		p.wrong.addSources(unknown)
	}
	return p.wrong
}

// single gives the value of a parameter that may stand once (D4.4).
func (p *params) single(name string) (string, bool) {
	values := p.values[name]
	if len(values) == 0 {
		return "", false
	}
	if len(values) > 1 {
		p.bad(name, "repeated", name+" may be given once.")
	}
	return values[0], true
}

// number reads a required number within bounds; the lower one itself counts if inclusive.
func (p *params) number(name string, low, high float64, inclusive bool) float64 {
	text, given := p.single(name)
	if !given || text == "" {
		p.bad(name, "missing", name+" is required.")
		return 0
	}
	// ParseFloat takes more than decimal numbers: NaN, Inf, hexadecimal and underscores are none of ours.
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789+-.eE") != "" {
		p.bad(name, "not_a_number", name+" must be a decimal number such as 52.37.")
		return 0
	}
	if v < low || v > high || v == low && !inclusive {
		bounds := "between " + format(low) + " and " + format(high)
		if !inclusive {
			bounds = "more than " + format(low) + " and at most " + format(high)
		}
		p.bad(name, "out_of_range", name+" must be "+bounds+".")
	}
	return v
}

func format(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// kinds reads the kinds, each with its subtypes (D2.6); every kind without the parameter.
func (p *params) kinds() mapdata.KindSet {
	text, given := p.single("kinds")
	if !given {
		return mapdata.AllKinds
	}
	var set mapdata.KindSet
	ids := list(text)
	if len(ids) == 0 {
		p.bad("kinds", "empty", "kinds selects nothing; leave it out for every kind.")
	}
	listed := false
	for _, id := range ids {
		kinds := mapdata.SelectKinds(id)
		set |= kinds
		if kinds != 0 {
			continue
		}
		p.bad("kinds", "unknown_kind", strconv.Quote(shorten(id))+" is not a kind; valid_ids lists those, GET /v2/kinds tells more.")
		if !listed {
			listed = true
			for _, k := range mapdata.Kinds() {
				p.wrong.ValidIDs = append(p.wrong.ValidIDs, k.ID)
			}
		}
	}
	return set
}

// sources unites sources[]=a&sources[]=b and sources=a,b (D4.5); nil without either.
func (p *params) sources() []string {
	if !p.values.Has("sources") && !p.values.Has("sources[]") {
		return nil
	}
	names := []string{}
	for _, key := range []string{"sources", "sources[]"} {
		for _, text := range p.values[key] {
			names = append(names, list(text)...)
		}
	}
	if len(names) == 0 {
		p.bad("sources", "empty", "sources selects nothing; leave it out for every source.")
	}
	return names
}

// Bounds of the networks parameter: more or longer names are nobody's.
const (
	maxNetworks    = 50
	maxNetworkName = 64
)

func (p *params) networkNames(text string) []string {
	names := list(text)
	if len(names) > maxNetworks {
		p.bad("networks", "too_many", "networks takes at most "+strconv.Itoa(maxNetworks)+" ids.")
		return nil
	}
	for _, n := range names {
		if len(n) > maxNetworkName || !utf8.ValidString(n) {
			p.bad("networks", "invalid", "A network id has at most "+strconv.Itoa(maxNetworkName)+" bytes of UTF-8.")
			return nil
		}
	}
	return names
}

func (p *params) since() time.Time {
	text, given := p.single("since")
	if !given {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		p.bad("since", "invalid_time", "since must be RFC 3339, such as 2026-11-21T08:00:00Z (write a + as %2B).")
	}
	return t
}

func (p *params) limit() int { return p.limitUpTo(nearby.DefaultLimit, nearby.MaxLimit) }

// limitUpTo is how many things are asked for: usual where nothing is said, and never more than most.
func (p *params) limitUpTo(usual, most int) int {
	text, given := p.single("limit")
	if !given {
		return usual
	}
	n, err := strconv.Atoi(text)
	if errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(text, "-") {
		n, err = most, nil // larger than any int is larger than the most
	}
	if err != nil || n < 1 {
		p.bad("limit", "invalid_limit", "limit must be a whole number of 1 or more; above "+strconv.Itoa(most)+" it is cut to that.")
		return 0
	}
	return min(n, most)
}

// list splits a comma-separated value; empty parts are passed over.
func list(text string) []string {
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// shorten cuts what a client sent before it is repeated to them.
func shorten(text string) string {
	const most = 80
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
