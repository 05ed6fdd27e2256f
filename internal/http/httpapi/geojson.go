package httpapi

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"wayside/internal/entities/nearby"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/mapdata"
)

// The media types of a read.
const (
	mediaJSON    = "application/json"
	mediaGeoJSON = "application/geo+json"
)

// form is the form in which a read answers (D17.39).
type form struct {
	geoJSON bool
	lines   bool // features with a line have it as their geometry
}

// formOf reads the parameters f and geometry; f wins over the header Accept.
func formOf(p *Params, r *http.Request) (f form) {
	text, given := p.Value("f")
	switch {
	case !given:
		f.geoJSON = prefersGeoJSON(r.Header["Accept"])
	case text == "geojson":
		f.geoJSON = true
	case text != "json":
		p.AddError("f", "unknown_form", strconv.Quote(Truncate(text))+" is no form of this answer: f is json or geojson.")
	}
	f.lines = p.Lines()
	return f
}

// prefersGeoJSON reports whether a client accepts GeoJSON, and does not prefer the usual form.
func prefersGeoJSON(accept []string) bool {
	geo, usual := 0.0, 0.0
	for _, header := range accept {
		if !strings.Contains(header, "geo+json") {
			continue
		}
		for part := range strings.SplitSeq(header, ",") {
			name, parameters, err := mime.ParseMediaType(part)
			if err != nil {
				continue
			}
			weight, err := strconv.ParseFloat(parameters["q"], 64)
			if err != nil {
				weight = 1
			}
			switch name {
			case mediaGeoJSON:
				geo = max(geo, weight)
			case mediaJSON:
				usual = max(usual, weight)
			}
		}
	}
	return geo > 0 && geo >= usual
}

// appendFeatures appends the answer as a FeatureCollection, without its time and its end.
func (a *API) appendFeatures(dst []byte, encoder *wire.Encoder, answer *nearby.Answer, c *Caller, lines bool) []byte {
	dst = append(wire.GrowForHits(dst, answer.Hits, true), `{"type":"FeatureCollection","features":[`...)
	terms := make(map[mapdata.SourceID]wire.Terms)
	for i := range answer.Hits {
		h := &answer.Hits[i]
		yield(i + 1)
		of, known := terms[h.Source]
		if !known {
			s := a.entitySource(&mapdata.SourceHealth{ID: h.Source}, c)
			of = wire.Terms{Attribution: s.Attribution, Licence: s.Licence}
			terms[h.Source] = of
		}
		dst = encoder.AppendFeature(wire.AppendComma(dst, i > 0), h, of, lines)
	}
	return a.appendBeside(append(dst, "],"...), answer)
}
