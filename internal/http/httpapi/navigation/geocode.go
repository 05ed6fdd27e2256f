package navigation

import (
	"math"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/response"
	"wayside/internal/http/httpapi"
	"wayside/internal/roads/geocode"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/hours"
)

// Geocoder returns the place search of the served region, and the attribution that is shown with its results. A nil index means
// that there is none now.
type Geocoder func() (index *geocode.Index, attribution string)

// Bounds of place search (D15.20).
const (
	defaultPlaces   = 15
	maxSearchRunes  = 200 // of q
	maxTagFilters   = 20
	maxSearchRadius = 50 // kilometres
	kilometre       = 1000.0
)

// geocodeScratch is reusable memory for one response.
type geocodeScratch struct {
	results []geocode.Result
	ways    [maxRoadResults]byRoad // to the first results
	body    []byte
}

// geocodePool reuses memory between requests; it holds no state of the service.
var geocodePool = sync.Pool{New: func() any { return new(geocodeScratch) }}

// getPlaces answers GET /v2/geocode/api with named places.
func (a *api) getPlaces(w http.ResponseWriter, r *http.Request, c *httpapi.Caller) error {
	p, err := httpapi.ParseParams(r)
	if err != nil {
		return err
	}
	q := geocode.Query{Text: searchText(p), Limit: p.LimitUpTo(defaultPlaces, geocode.MaxLimit), Language: languageIn(p), Filter: filterIn(p), Within: searchBox(p)}
	if p.Values.Has("lat") || p.Values.Has("lon") {
		q.Near, q.Biased = geo.Point{Lat: p.Number("lat", -90, 90, true), Lng: p.Number("lon", -180, 180, true)}, true
	}
	roads := wantsRoads(p, q.Biased)
	if p.Problem != nil {
		return p.Problem
	}
	return a.writePlaces(w, r, func(index *geocode.Index, s *geocodeScratch) (err error) {
		if s.results, err = index.Search(r.Context(), s.results, &q); err == nil && roads {
			s.ways = a.roadsTo(r.Context(), c, q.Near, s.results)
		}
		return err
	})
}

// getPlacesNear answers GET /v2/geocode/reverse with the places near a point.
func (a *api) getPlacesNear(w http.ResponseWriter, r *http.Request, _ *httpapi.Caller) error {
	p, err := httpapi.ParseParams(r)
	if err != nil {
		return err
	}
	q := geocode.Near{
		At:     geo.Point{Lat: p.Number("lat", -90, 90, true), Lng: p.Number("lon", -180, 180, true)},
		Radius: kilometre, Limit: 1, Language: languageIn(p), Filter: filterIn(p),
	}
	if p.Values.Has("radius") {
		q.Radius = kilometre * p.Number("radius", 0, maxSearchRadius, false)
	}
	if p.Values.Has("limit") {
		q.Limit = p.LimitUpTo(1, geocode.MaxLimit)
	}
	if p.Problem != nil {
		return p.Problem
	}
	return a.writePlaces(w, r, func(index *geocode.Index, s *geocodeScratch) (err error) {
		s.results, err = index.Reverse(r.Context(), s.results, &q)
		return err
	})
}

// writePlaces writes the results of a search as GeoJSON.
func (a *api) writePlaces(w http.ResponseWriter, r *http.Request, search func(*geocode.Index, *geocodeScratch) error) error {
	var index *geocode.Index
	attribution := ""
	if a.Geocoder != nil {
		index, attribution = a.Geocoder()
	}
	w.Header()["Vary"] = []string{a.Vary()}
	w.Header()["Cache-Control"] = []string{httpapi.NoStore}
	if index == nil {
		return &httpapi.Problem{
			Type: "unavailable", Status: http.StatusServiceUnavailable, RetryAfter: httpapi.UnavailableRetryAfter,
			Detail: "There is no place search: no region is served, or it was imported without search.",
		}
	}
	scratch, ok := geocodePool.Get().(*geocodeScratch)
	if !ok {
		scratch = new(geocodeScratch)
	}
	scratch.results, scratch.ways = scratch.results[:0], [maxRoadResults]byRoad{}
	if err := search(index, scratch); err != nil {
		return err
	}
	scratch.body = appendPlaces(scratch.body[:0], scratch, attribution)
	runtime.KeepAlive(index) // results point into its memory
	clear(scratch.results)
	response.Write(w, r, http.StatusOK, "application/json", scratch.body)
	if cap(scratch.body) <= httpapi.MaxPooledBody {
		geocodePool.Put(scratch)
	}
	return nil
}

// searchText returns the text of a search.
func searchText(p *httpapi.Params) string {
	text, _ := p.Value("q")
	switch {
	case strings.TrimSpace(text) == "":
		p.AddError("q", "missing", "q is required: what to look for.")
	case !utf8.ValidString(text):
		p.AddError("q", "invalid", "q must be UTF-8.")
	case utf8.RuneCountInString(text) > maxSearchRunes:
		p.AddError("q", "too_long", "q may have "+strconv.Itoa(maxSearchRunes)+" characters.")
	}
	return text
}

// languageIn returns the language of names: that of lang without its region, -1 for the default names.
func languageIn(p *httpapi.Params) int {
	text, given := p.Value("lang")
	if !given {
		return -1
	}
	tag, _, _ := strings.Cut(text, "-")
	return slices.Index(geocode.Languages(), strings.ToLower(tag))
}

// filterIn reads osm_tag and layer, each of which may be given several times.
func filterIn(p *httpapi.Params) geocode.Filter {
	var f geocode.Filter
	for _, v := range p.Values {
		switch v.Name {
		case "osm_tag":
			t, ok := geocode.ParseTagFilter(v.Value)
			if !ok || len(f.Tags) == maxTagFilters {
				p.AddError("osm_tag", "invalid", "osm_tag must be key, key:value, :value or one of these with a ! before it, or key:!value; at most "+strconv.Itoa(maxTagFilters)+".")
				continue
			}
			f.Tags = append(f.Tags, t)
		case "layer":
			for name := range strings.SplitSeq(v.Value, ",") {
				l, ok := geocode.ParseLayer(name)
				if !ok {
					p.AddError("layer", "unknown_layer", "layer must be house, street, locality, district, city, county, state, country or other.")
					continue
				}
				f.Layers |= 1 << l
			}
		}
	}
	return f
}

// wantsRoads reports whether distances by road are asked for, which needs a position.
func wantsRoads(p *httpapi.Params, biased bool) bool {
	text, given := p.Value("by_road")
	switch {
	case given && text != "true" && text != "false":
		p.AddError("by_road", "invalid", "by_road must be true or false.")
	case text == "true" && !biased:
		p.AddError("by_road", "invalid", "by_road needs lat and lon.")
	}
	return text == "true"
}

// searchBox reads bbox: west, south, east, north.
func searchBox(p *httpapi.Params) *geo.Box {
	text, given := p.Value("bbox")
	if !given {
		return nil
	}
	var edges [4]float64
	parts := strings.Split(text, ",")
	ok := len(parts) == len(edges)
	for i := 0; ok && i < len(edges); i++ {
		v, err := strconv.ParseFloat(parts[i], 64)
		ok = err == nil && !math.IsNaN(v) && math.Abs(v) <= []float64{180, 90}[i%2]
		edges[i] = v
	}
	if !ok || edges[1] > edges[3] {
		p.AddError("bbox", "invalid", "bbox must be west,south,east,north in degrees.")
		return nil
	}
	return &geo.Box{West: edges[0], South: edges[1], East: edges[2], North: edges[3]}
}

// appendPlaces appends results as GeoJSON with Photon's properties.
func appendPlaces(dst []byte, s *geocodeScratch, attribution string) []byte {
	dst = append(dst, `{"type":"FeatureCollection","attribution":`...)
	dst = wire.AppendString(dst, attribution)
	dst = append(dst, `,"features":[`...)
	for i := range s.results {
		r := &s.results[i]
		dst = wire.AppendComma(dst, i > 0)
		dst = append(dst, `{"type":"Feature","geometry":{"type":"Point","coordinates":[`...)
		dst = appendDegrees(dst, r.At.Lng)
		dst = append(dst, ',')
		dst = appendDegrees(dst, r.At.Lat)
		dst = append(dst, `]},"properties":{"osm_type":"`...)
		dst = append(dst, r.OSMType...)
		dst = append(dst, `","osm_id":`...)
		dst = strconv.AppendInt(dst, r.OSMID, 10)
		dst = append(dst, `,"osm_key":"`...)
		dst = append(dst, r.Key...)
		dst = append(dst, `","osm_value":"`...)
		dst = append(dst, r.Value...)
		dst = append(dst, `","type":"`...)
		dst = append(dst, r.Layer.String()...)
		dst = append(dst, '"')
		dst = appendPlaceNames(dst, r)
		dst = appendPlaceKind(dst, r)
		if i < len(s.ways) {
			dst = s.ways[i].append(dst)
		}
		if r.HasExtent {
			dst = append(dst, `,"extent":[`...)
			for k, edge := range [...]int32{r.Extent.West, r.Extent.North, r.Extent.East, r.Extent.South} {
				dst = wire.AppendComma(dst, k > 0)
				dst = appendDegrees(dst, edge)
			}
			dst = append(dst, ']')
		}
		dst = append(dst, `}}`...)
	}
	return append(dst, "]}\n"...)
}

// appendPlaceNames appends the names of a result and of the areas around it, without those that it does not have.
func appendPlaceNames(dst []byte, r *geocode.Result) []byte {
	if len(r.Other) > 0 {
		dst = append(dst, `,"name":`...)
		dst = wire.AppendString(dst, string(r.Name)+" & "+string(r.Other))
	} else if len(r.Name) == 0 && r.KindName != "" {
		dst = append(dst, `,"name":`...)
		dst = wire.AppendString(dst, r.KindName)
	} else {
		dst = appendMember(dst, "name", r.Name)
	}
	dst = appendMember(dst, "housenumber", r.Number)
	dst = appendMember(dst, "street", r.Street)
	dst = appendMember(dst, "postcode", r.Postcode)
	dst = appendMember(dst, "district", r.District)
	dst = appendMember(dst, "city", r.City)
	dst = appendMember(dst, "county", r.County)
	dst = appendMember(dst, "state", r.State)
	dst = appendMember(dst, "country", r.Country)
	return appendMember(dst, "countrycode", r.Code)
}

// appendPlaceKind appends what a result is in words, and when it is open in a week without public holidays.
func appendPlaceKind(dst []byte, r *geocode.Result) []byte {
	if r.Kind != "" {
		dst = wire.AppendString(append(dst, `,"kind":`...), r.Kind)
		dst = wire.AppendString(append(dst, `,"kind_name":`...), r.KindName)
	}
	week, ok := hours.Parse(string(r.Hours))
	if !ok {
		return dst
	}
	dst = appendMember(dst, "opening_hours", r.Hours)
	dst = append(dst, `,"open_minutes":[`...)
	for i, span := range week {
		dst = wire.AppendComma(dst, i > 0)
		dst = strconv.AppendInt(append(dst, '['), int64(span.From), 10)
		dst = append(strconv.AppendInt(append(dst, ','), int64(span.To), 10), ']')
	}
	return append(dst, ']')
}

func appendMember(dst []byte, name string, text []byte) []byte {
	if len(text) == 0 {
		return dst
	}
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	return wire.AppendString(dst, string(text))
}

// appendDegrees appends units of 1e-7 degrees.
func appendDegrees(dst []byte, units int32) []byte {
	return strconv.AppendFloat(dst, graph.Position{Lng: units}.Point().Lng, 'f', -1, 64)
}
