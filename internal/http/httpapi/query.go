package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"wayside/internal/entities/nearby"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// params reads query parameters and collects their errors, so that one response lists all of them (D4.11).
type params struct {
	values  queryValues
	problem *problem

	room [usualParameters]queryValue // for values
}

// usualParameters is how many parameters a read has at most, unless some are repeated or unknown.
const usualParameters = 10

func parameterProblem() *problem {
	return &problem{
		Type: "invalid-parameters", Status: http.StatusBadRequest,
		Detail: "Some parameters are missing or wrong; errors lists them.",
	}
}

// addError adds an error in a parameter.
func (p *params) addError(name, code, message string) {
	if p.problem == nil {
		p.problem = parameterProblem()
	}
	p.problem.add(problemField{Parameter: name, Code: code, Message: message})
}

// parseNearby reads the parameters of a nearby query (D4.1 to D4.7), and into f, unless that is nil, the form of its answer.
func (a *api) parseNearby(r *http.Request, c *caller, f *form) (*nearby.Query, error) {
	p, err := readParams(r)
	if err != nil {
		return nil, err
	}
	center, radius := p.point(), p.number("radius", 0, nearby.MaxRadius, false)
	q := a.parseSelection(p, c)
	q.Center, q.Radius = center, radius
	q.Since = p.since()
	q.Limit = p.limit()
	if f != nil {
		*f = p.form(r)
	}
	return q, a.parameterErrors(p, q)
}

// parseParams parses the query string.
func parseParams(r *http.Request) (*params, error) {
	p := new(params)
	var err error
	if p.values, err = appendQuery(p.room[:0], r.URL.RawQuery); err != nil {
		p.addError("", "malformed_query", "The query string cannot be read: check its % escapes, and use & between parameters.")
		return nil, p.problem
	}
	return p, nil
}

// readParams parses the query string, and rejects parameters that no read of the public API accepts.
func readParams(r *http.Request) (*params, error) {
	p, err := parseParams(r)
	if err != nil {
		return nil, err
	}
	if p.values.has("bbox") {
		p.addError("bbox", "bbox_not_accepted", "A bounding box is not accepted; give lat, lng and radius.")
	}
	return p, nil
}

// parseSelection reads the parameters that select entities independent of their position (D4.5 to D4.7).
func (a *api) parseSelection(p *params, c *caller) *nearby.Query {
	q := &nearby.Query{Account: c.id(), Tier: c.tier(), Curator: c.isCurator()}
	if a.Incidents != nil {
		q.Driver = c.tenantName()
	}
	q.Kinds = p.kinds()
	q.Sources = p.sources()
	if text, given := p.value("layers"); given {
		q.ByLayer = true
		q.Layers, _ = p.list("layers", text)
	}
	if text, given := p.value("networks"); given {
		q.Named, q.Networks = true, p.networkNames(text)
	}
	return q
}

func (p *params) point() geo.Point {
	return geo.Point{Lat: p.number("lat", -90, 90, true), Lng: p.number("lng", -180, 180, true)}
}

// parameterErrors returns the collected errors, with unknown sources among them; nil: there are none.
func (a *api) parameterErrors(p *params, q *nearby.Query) error {
	if p.problem == nil {
		return nil
	}
	var unknown *nearby.UnknownSourcesError
	if err := a.Nearby.CheckSources(q); errors.As(err, &unknown) {
		p.problem.addSources(unknown)
	}
	return p.problem
}

// value returns a parameter that may be given once (D4.4).
func (p *params) value(name string) (string, bool) {
	first, count := p.values.get(name)
	if count > 1 {
		p.addError(name, "repeated", name+" may be given once.")
	}
	return first, count > 0
}

// number reads a required number within bounds; low itself is allowed if inclusive.
func (p *params) number(name string, low, high float64, inclusive bool) float64 {
	text, given := p.value(name)
	if !given || text == "" {
		p.addError(name, "missing", name+" is required.")
		return 0
	}
	// ParseFloat accepts NaN, Inf, hexadecimal and underscores too, which are rejected here.
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789+-.eE") != "" {
		p.addError(name, "not_a_number", name+" must be a decimal number such as 52.37.")
		return 0
	}
	if v < low || v > high || v == low && !inclusive {
		bounds := "between " + formatFloat(low) + " and " + formatFloat(high)
		if !inclusive {
			bounds = "more than " + formatFloat(low) + " and at most " + formatFloat(high)
		}
		p.addError(name, "out_of_range", name+" must be "+bounds+".")
	}
	return v
}

func formatFloat(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// kinds reads the kinds, each with its subtypes (D2.6); every kind if the parameter is absent.
func (p *params) kinds() mapdata.KindSet {
	text, given := p.value("kinds")
	if !given {
		return mapdata.AllKinds
	}
	var set mapdata.KindSet
	ids, ok := p.list("kinds", text)
	if ok && len(ids) == 0 {
		p.addError("kinds", "empty", "kinds selects nothing; leave it out for every kind.")
	}
	listed := false
	for _, id := range ids {
		kinds := mapdata.SelectKinds(id)
		set |= kinds
		if kinds != 0 {
			continue
		}
		p.addError("kinds", "unknown_kind", strconv.Quote(truncate(id))+" is not a kind; valid_ids lists those, GET /v2/kinds tells more.")
		if !listed {
			listed = true
			for _, k := range mapdata.Kinds() {
				p.problem.ValidIDs = append(p.problem.ValidIDs, k.ID)
			}
		}
	}
	return set
}

// sources merges sources[]=a&sources[]=b and sources=a,b (D4.5); nil if both are absent.
func (p *params) sources() []string {
	if !p.values.has("sources") && !p.values.has("sources[]") {
		return nil
	}
	var texts []string
	for _, key := range []string{"sources", "sources[]"} {
		for _, v := range p.values {
			if v.name == key {
				texts = append(texts, v.value)
			}
		}
	}
	names, ok := p.list("sources", texts...)
	if ok && len(names) == 0 {
		p.addError("sources", "empty", "sources selects nothing; leave it out for every source.")
	}
	return names
}

// maxNetworkName is the longest id of a network, in bytes.
const maxNetworkName = 64

func (p *params) networkNames(text string) []string {
	names, _ := p.list("networks", text)
	for _, n := range names {
		if len(n) > maxNetworkName || !utf8.ValidString(n) {
			p.addError("networks", "invalid", "A network id has at most "+strconv.Itoa(maxNetworkName)+" bytes of UTF-8.")
			return nil
		}
	}
	return names
}

func (p *params) since() time.Time {
	text, given := p.value("since")
	if !given {
		return time.Time{}
	}
	t, err := mapdata.ParseTime(text)
	if err != nil {
		p.addError("since", "invalid_time", "since must be RFC 3339, such as 2026-11-21T08:00:00Z (encode a + as %2B).")
	}
	return t
}

func (p *params) limit() int { return p.limitUpTo(nearby.DefaultLimit, nearby.MaxLimit) }

// limitUpTo returns the number of entities to return: defaultLimit if the parameter is absent, and at most maxLimit.
func (p *params) limitUpTo(defaultLimit, maxLimit int) int {
	text, given := p.value("limit")
	if !given {
		return defaultLimit
	}
	n, err := strconv.Atoi(text)
	if errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(text, "-") {
		n, err = maxLimit, nil // a number too large for int is above maxLimit
	}
	if err != nil || n < 1 {
		p.addError("limit", "invalid_limit", "limit must be a whole number of 1 or more; above "+strconv.Itoa(maxLimit)+" it is cut to that.")
		return 0
	}
	return min(n, maxLimit)
}

// maxListValues bounds the values of a list parameter (D4.4).
const maxListValues = 100

// list splits the comma-separated values of a parameter. It adds an error and returns false if there are too many.
func (p *params) list(name string, texts ...string) ([]string, bool) {
	values := []string{}
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			if len(values) == maxListValues {
				p.addError(name, "too_many", name+" takes at most "+strconv.Itoa(maxListValues)+" values.")
				return nil, false
			}
			values = append(values, part)
		}
	}
	return values, true
}

// splitList splits a comma-separated value and skips empty parts.
func splitList(text string) []string {
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// truncate shortens a client's text before it is repeated in a response.
func truncate(text string) string {
	const maxBytes = 80
	if len(text) > maxBytes {
		return strings.ToValidUTF8(text[:maxBytes], "") + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
