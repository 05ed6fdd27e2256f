package geometry_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geometry"
	"wayside/internal/feeds/format/jsondoc"
	"wayside/internal/ground/geo"
)

func at(lat, lng float64) geo.Point { return geo.Point{Lat: lat, Lng: lng} }

// geoJSON returns the place of a geometry.
func geoJSON(t *testing.T, text string, both bool) geometry.Place {
	t.Helper()
	v, err := jsondoc.New(strings.NewReader(text), nil).Value()
	if err != nil {
		t.Fatal(text, err)
	}
	return geometry.GeoJSON(v, both)
}

// TestGeoJSON checks that positions are longitude and latitude, in degrees, and that lines count before points, and
// points before areas.
func TestGeoJSON(t *testing.T) {
	type place = geometry.Place
	line := []geo.Point{at(52, 5), at(53, 6)}
	const point, lineString, polygon = `{"type":"Point","coordinates":[5,52]}`, `{"type":"LineString","coordinates":[[5,52],[6,53]]}`, `{"type":"Polygon","coordinates":[[[5,52],[6,53],[5,53],[5,52]]]}`
	collection := func(of ...string) string {
		return `{"type":"GeometryCollection","geometries":[` + strings.Join(of, ",") + `]}`
	}
	for text, want := range map[string]place{
		point: {Point: at(52, 5)},
		`{"type":"Point","coordinates":[5.25,52.125,17]}`:     {Point: at(52.125, 5.25)},
		`{"type":"Point","coordinates":[-180,-90]}`:           {Point: at(-90, -180)},
		`{"type":"MultiPoint","coordinates":[[5,52],[6,53]]}`: {Point: at(52, 5)},
		lineString: {Point: at(52, 5), Line: line},
		`{"type":"LineString","coordinates":[[5,52,1],[5,52,2],[6,53,3]]}`:                   {Point: at(52, 5), Line: line},
		`{"type":"MultiLineString","coordinates":[[[5,52],[5.5,52.5]],[[5.5,52.5],[6,53]]]}`: {Point: at(52, 5), Line: []geo.Point{at(52, 5), at(52.5, 5.5), at(53, 6)}},
		`{"type":"MultiLineString","coordinates":[[[1,1],[1.1,1]],[],[[5,52],[6,53]]]}`:      {Point: at(52, 5), Line: line},
		collection(polygon, point, lineString):                                               {Point: at(52, 5), Line: line},
		collection(polygon, `{"type":"Point","coordinates":[7,50]}`, point):                  {Point: at(50, 7)},
		collection(collection(lineString)):                                                   {Point: at(52, 5), Line: line},
		collection():                                                                         {Skip: format.NoPosition},
		collection(polygon):                                                                  {Skip: format.Area},
		polygon:                                                                              {Skip: format.Area},
		`{"type":"MultiPolygon","coordinates":[]}`:                                           {Skip: format.Area},
		`{"type":"LineString","coordinates":[[5,52]]}`:                                       {Point: at(52, 5)},
		`{"type":"LineString","coordinates":[[5,52],[5,52],[5,52]]}`:                         {Point: at(52, 5)},
		`{"type":"LineString","coordinates":[[5,52],[6,91]]}`:                                {Point: at(52, 5)},
		`{"type":"LineString","coordinates":[[5,52],["6","53"],null,[7],[6,53]]}`:            {Point: at(52, 5), Line: line},
		`{"type":"LineString","coordinates":[]}`:                                             {Skip: format.NoPosition},
		`{"type":"LineString","coordinates":[5,52]}`:                                         {Skip: format.NoPosition},
		`{"type":"Point","coordinates":["5","52"]}`:                                          {Skip: format.NoPosition},
		`{"type":"Point","coordinates":[5]}`:                                                 {Skip: format.NoPosition},
		`{"type":"Point","coordinates":[1e999,5]}`:                                           {Skip: format.NoPosition},
		`{"type":"Point"}`:                                                                   {Skip: format.NoPosition},
		`{"type":"point","coordinates":[5,52]}`:                                              {Skip: format.NoPosition},
		`{"coordinates":[5,52]}`:                                                             {Skip: format.NoPosition},
		`null`:                                                                               {Skip: format.NoPosition}, `[5,52]`: {Skip: format.NoPosition}, `"POINT (5 52)"`: {Skip: format.NoPosition},
	} {
		if got := geoJSON(t, text, false); got.Point != want.Point || got.Skip != want.Skip || !slices.Equal(got.Line, want.Line) {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

// TestBothDirections checks that the point of an item for both directions is halfway along its line, with 7 decimals,
// also across the antimeridian.
func TestBothDirections(t *testing.T) {
	for text, want := range map[string]geo.Point{
		`[[5,0],[6,0],[9,0]]`: at(0, 7), `[[5,0],[5.1,0],[5.2,0],[5.3,0]]`: at(0, 5.15), `[[179.5,0],[-179,0]]`: at(0, -179.75),
		`[[-179.5,0],[179,0]]`: at(0, 179.75), `[[5,60],[5,60.00000033]]`: at(60.0000002, 5), `[[5,52]]`: at(52, 5),
	} {
		got := geoJSON(t, `{"type":"LineString","coordinates":`+text+`}`, true)
		if math.Abs(got.Point.Lat-want.Lat) > 1e-9 || math.Abs(got.Point.Lng-want.Lng) > 1e-9 {
			t.Errorf("%s: %v, want %v", text, got.Point, want)
		}
	}
	if got := geoJSON(t, `{"type":"MultiPoint","coordinates":[[5,0],[6,0]]}`, true); got.Point != at(0, 5) || got.Line != nil {
		t.Errorf("a multipoint has no line: %+v", got)
	}
}

// TestLongGeometries checks that of more than 500 positions 500 are kept, evenly, the ends among them, and that at most
// 200 000 are read of one item.
func TestLongGeometries(t *testing.T) {
	text := func(n int) string {
		var b strings.Builder
		b.WriteString(`{"type":"MultiLineString","coordinates":[[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `[%.5f,0]`, float64(i)/1e5)
		}
		b.WriteString(`],[[90,0],[91,0]]]}`)
		return b.String()
	}
	if got := geoJSON(t, text(200_000), false); len(got.Line) != 500 || got.Line[0] != at(0, 0) || got.Line[format.MaxLine-1] != at(0, 1.99999) {
		t.Errorf("%d positions, from %v; a line beyond those that are read counts", len(got.Line), got.Point)
	}
	for _, n := range []int{499, 500, 501, 10_000} {
		got := geoJSON(t, strings.Replace(text(n), `,[[90,0],[91,0]]`, "", 1), false)
		if len(got.Line) != min(n, 500) || got.Line[0] != at(0, 0) || math.Abs(got.Line[len(got.Line)-1].Lng-float64(n-1)/1e5) > 1e-9 {
			t.Errorf("%d positions: %d, from %v", n, len(got.Line), got.Line[0])
		}
		least, most := math.Inf(1), 0.0
		for i := 1; i < len(got.Line); i++ {
			gap := (got.Line[i].Lng - got.Line[i-1].Lng) * 1e5
			least, most = min(least, gap), max(most, gap)
		}
		if math.Round(most)-math.Round(least) > 1 {
			t.Errorf("%d positions: gaps of %.0f to %.0f", n, least, most)
		}
	}
}

func TestPositions(t *testing.T) {
	for text, want := range map[string][]geo.Point{
		"52 5 53 6": {at(52, 5), at(53, 6)}, "52 5 53": {at(52, 5)}, "52": nil, "": nil, "52 5 53 six 54 7": {at(52, 5)}, "NaN 5 53 6": nil, "52,5 6": nil, "-1e1 +5": {at(-10, 5)},
	} {
		if got := geometry.Positions(strings.FieldsSeq(text), false); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		for i := range want {
			want[i].Lat, want[i].Lng = want[i].Lng, want[i].Lat
		}
		if got := geometry.Positions(strings.FieldsSeq(text), true); !slices.Equal(got, want) {
			t.Errorf("%q, longitude first: %v, want %v", text, got, want)
		}
	}
	if got := geometry.Positions(slices.Values(slices.Repeat([]string{"1"}, 500_000)), false); len(got) != 200_000 {
		t.Errorf("%d positions of a text without bound", len(got))
	}
}

func TestOfLine(t *testing.T) {
	for _, parts := range [][][]geo.Point{nil, {}, {nil, {}}} {
		if got := geometry.OfLine(parts, true); got.Skip != format.NoPosition || got.Line != nil {
			t.Errorf("%v: %+v", parts, got)
		}
	}
	if got := geometry.OfLine([][]geo.Point{nil, {at(52, 5)}, {at(53, 6)}}, true); got.Skip != "" || got.Point != at(52, 5) || got.Line != nil {
		t.Errorf("two positions that are apart: %+v", got)
	}
}

// TestLinesAreGood checks for any parts that a line has 2 to 500 positions in range, that no position repeats the one
// before, and that the first is the point of an item for one direction.
func TestLinesAreGood(t *testing.T) {
	coordinate := rapid.OneOf(rapid.Float64Range(-200, 200), rapid.SampledFrom([]float64{0, 1e-6, 90, -90, 180, -180, 52, math.NaN(), math.Inf(1)}))
	position := rapid.Custom(func(t *rapid.T) geo.Point { return at(coordinate.Draw(t, "lat"), coordinate.Draw(t, "lng")) })
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SliceOfN(position, 0, 4), 0, 4).Draw(t, "parts")
		both := rapid.Bool().Draw(t, "both")
		got := geometry.OfLine(parts, both)
		if (got.Skip != "") != (len(slices.Concat(parts...)) == 0) || len(got.Line) == 1 || len(got.Line) > format.MaxLine {
			t.Fatalf("%v: %+v", parts, got)
		}
		for i, p := range got.Line {
			if !p.Valid() || i > 0 && p == got.Line[i-1] {
				t.Fatalf("%v: %+v", parts, got)
			}
		}
		if got.Line != nil && (!both && got.Point != got.Line[0] || !got.Point.Valid()) {
			t.Fatalf("%v: %+v", parts, got)
		}
	})
}
