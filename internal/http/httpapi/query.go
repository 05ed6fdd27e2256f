package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"wayside/internal/drive/nav/session"
	"wayside/internal/entities/nearby"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Params reads query parameters and collects their errors, so that one response lists all of them (D4.11).
type Params struct {
	Values  queryValues
	Problem *Problem

	room [usualParameters]queryValue // for values
}

// Bounds of what a car tells about itself.
const (
	MaxSpeed     = 100              // m/s
	MaxSessionID = session.IDLength // bytes
)

// usualParameters is how many parameters a read has at most, unless some are repeated or unknown.
const usualParameters = 10

func parameterProblem() *Problem {
	return &Problem{
		Type: "invalid-parameters", Status: http.StatusBadRequest,
		Detail: "Some parameters are missing or wrong; errors lists them.",
	}
}

// AddError adds an error in a parameter.
func (p *Params) AddError(name, code, message string) {
	if p.Problem == nil {
		p.Problem = parameterProblem()
	}
	p.Problem.add(problemField{Parameter: name, Code: code, Message: message})
}

// ParseParams parses the query string.
func ParseParams(r *http.Request) (*Params, error) {
	p := new(Params)
	var err error
	if p.Values, err = AppendQuery(p.room[:0], r.URL.RawQuery); err != nil {
		p.AddError("", "malformed_query", "The query string cannot be read: check its % escapes, and use & between parameters.")
		return nil, p.Problem
	}
	return p, nil
}

// ReadParams parses the query string, and rejects parameters that no read of the public API accepts.
func ReadParams(r *http.Request) (*Params, error) {
	p, err := ParseParams(r)
	if err != nil {
		return nil, err
	}
	if p.Values.Has("bbox") {
		p.AddError("bbox", "bbox_not_accepted", "A bounding box is not accepted; give lat, lng and radius.")
	}
	return p, nil
}

// Point reads lat and lng.
func (p *Params) Point() geo.Point {
	return geo.Point{Lat: p.Number("lat", -90, 90, true), Lng: p.Number("lng", -180, 180, true)}
}

// Value returns a parameter that may be given once (D4.4).
func (p *Params) Value(name string) (string, bool) {
	first, count := p.Values.get(name)
	if count > 1 {
		p.AddError(name, "repeated", name+" may be given once.")
	}
	return first, count > 0
}

// Number reads a required number within bounds; low itself is allowed if inclusive.
func (p *Params) Number(name string, low, high float64, inclusive bool) float64 {
	text, given := p.Value(name)
	if !given || text == "" {
		p.AddError(name, "missing", name+" is required.")
		return 0
	}
	// ParseFloat accepts NaN, Inf, hexadecimal and underscores too, which are rejected here.
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789+-.eE") != "" {
		p.AddError(name, "not_a_number", name+" must be a decimal number such as 52.37.")
		return 0
	}
	if v < low || v > high || v == low && !inclusive {
		bounds := "between " + formatFloat(low) + " and " + formatFloat(high)
		if !inclusive {
			bounds = "more than " + formatFloat(low) + " and at most " + formatFloat(high)
		}
		p.AddError(name, "out_of_range", name+" must be "+bounds+".")
	}
	return v
}

func formatFloat(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Kinds reads the kinds, each with its subtypes (D2.6); every kind if the parameter is absent.
func (p *Params) Kinds() mapdata.KindSet {
	text, given := p.Value("kinds")
	if !given {
		return mapdata.AllKinds
	}
	var set mapdata.KindSet
	ids, ok := p.List("kinds", text)
	if ok && len(ids) == 0 {
		p.AddError("kinds", "empty", "kinds selects nothing; leave it out for every kind.")
	}
	listed := false
	for _, id := range ids {
		kinds := mapdata.SelectKinds(id)
		set |= kinds
		if kinds != 0 {
			continue
		}
		p.AddError("kinds", "unknown_kind", strconv.Quote(Truncate(id))+" is not a kind; valid_ids lists those, GET /v2/kinds tells more.")
		if !listed {
			listed = true
			for _, k := range mapdata.Kinds() {
				p.Problem.ValidIDs = append(p.Problem.ValidIDs, k.ID)
			}
		}
	}
	return set
}

// Sources merges sources[]=a&sources[]=b and sources=a,b (D4.5); nil if both are absent.
func (p *Params) Sources() []string {
	if !p.Values.Has("sources") && !p.Values.Has("sources[]") {
		return nil
	}
	var texts []string
	for _, key := range []string{"sources", "sources[]"} {
		for _, v := range p.Values {
			if v.Name == key {
				texts = append(texts, v.Value)
			}
		}
	}
	names, ok := p.List("sources", texts...)
	if ok && len(names) == 0 {
		p.AddError("sources", "empty", "sources selects nothing; leave it out for every source.")
	}
	return names
}

// maxNetworkName is the longest id of a network, in bytes.
const maxNetworkName = 64

// NetworkNames splits the ids of charger networks.
func (p *Params) NetworkNames(text string) []string {
	names, _ := p.List("networks", text)
	for _, n := range names {
		if len(n) > maxNetworkName || !utf8.ValidString(n) {
			p.AddError("networks", "invalid", "A network id has at most "+strconv.Itoa(maxNetworkName)+" bytes of UTF-8.")
			return nil
		}
	}
	return names
}

// Since reads the time since which entities changed; zero: absent.
func (p *Params) Since() time.Time {
	text, given := p.Value("since")
	if !given {
		return time.Time{}
	}
	t, err := mapdata.ParseTime(text)
	if err != nil {
		p.AddError("since", "invalid_time", "since must be RFC 3339, such as 2026-11-21T08:00:00Z (encode a + as %2B).")
	}
	return t
}

// Limit returns the number of entities to return.
func (p *Params) Limit() int { return p.LimitUpTo(nearby.DefaultLimit, nearby.MaxLimit) }

// LimitUpTo returns the number of entities to return: defaultLimit if the parameter is absent, and at most maxLimit.
func (p *Params) LimitUpTo(defaultLimit, maxLimit int) int {
	text, given := p.Value("limit")
	if !given {
		return defaultLimit
	}
	n, err := strconv.Atoi(text)
	if errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(text, "-") {
		n, err = maxLimit, nil // a number too large for int is above maxLimit
	}
	if err != nil || n < 1 {
		p.AddError("limit", "invalid_limit", "limit must be a whole number of 1 or more; above "+strconv.Itoa(maxLimit)+" it is cut to that.")
		return 0
	}
	return min(n, maxLimit)
}

// maxListValues bounds the values of a list parameter (D4.4).
const maxListValues = 100

// List splits the comma-separated values of a parameter. It adds an error and returns false if there are too many.
func (p *Params) List(name string, texts ...string) ([]string, bool) {
	values := []string{}
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part == "" {
				continue
			}
			if len(values) == maxListValues {
				p.AddError(name, "too_many", name+" takes at most "+strconv.Itoa(maxListValues)+" values.")
				return nil, false
			}
			values = append(values, part)
		}
	}
	return values, true
}

// SplitList splits a comma-separated value and skips empty parts.
func SplitList(text string) []string {
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// Truncate shortens a client's text before it is repeated in a response.
func Truncate(text string) string {
	const maxBytes = 80
	if len(text) > maxBytes {
		return strings.ToValidUTF8(text[:maxBytes], "") + "…"
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Lines reads the parameter geometry: whether features with a line have it as their geometry.
func (p *Params) Lines() bool {
	text, given := p.Value("geometry")
	if given && text != "point" && text != "line" {
		p.AddError("geometry", "unknown_geometry", strconv.Quote(Truncate(text))+" is no geometry of features: geometry is point or line.")
	}
	return text == "line"
}

// SourcesProblem converts the error of unknown sources to a problem that lists the known ones (D4.5, D4.11).
func SourcesProblem(err error) error {
	var unknown *nearby.UnknownSourcesError
	if !errors.As(err, &unknown) {
		return err
	}
	p := parameterProblem()
	p.addSources(unknown)
	return p
}

func (p *Problem) addSources(e *nearby.UnknownSourcesError) {
	for _, name := range e.Unknown {
		p.add(problemField{
			Parameter: "sources", Code: "unknown_source",
			Message: strconv.Quote(Truncate(name)) + " is not a source you may read; valid_ids lists those.",
		})
	}
	for _, id := range e.Valid[:min(len(e.Valid), maxValidIDs-len(p.ValidIDs))] {
		p.ValidIDs = append(p.ValidIDs, string(id))
	}
}
