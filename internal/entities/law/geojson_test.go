package law_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"wayside/internal/entities/law"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

func position(p geo.Point) string { return fmt.Sprintf("[%v,%v]", p.Lng, p.Lat) }

// TestErrors checks that each error names the feature and the member.
func TestErrors(t *testing.T) {
	collection := func(features ...string) string {
		return `{"type":"FeatureCollection","features":[` + strings.Join(features, ",") + `]}`
	}
	good := feature(police, square)
	withGeometry := func(geometry string) string {
		return collection(`{"type":"Feature","properties":{"name":"X",` + police + `},"geometry":` + geometry + `}`)
	}
	manyPositions := strings.TrimSuffix(strings.Repeat("[1,1],", 50_000), ",")
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", ``, "is not GeoJSON"},
		{"no JSON", `{"type":`, "is not GeoJSON"},
		{"another type", `{"type":"Feature"}`, "type must be FeatureCollection"},
		{"no features", collection(), "features is empty"},
		{"a feature of another type", collection(good, `{"type":"Polygon"}`), "feature 2: type must be Feature"},
		{"no name", collection(`{"type":"Feature","properties":{` + police + `}}`), "feature 1: properties.name is missing"},
		{"an empty name", collection(`{"type":"Feature","properties":{"name":"",` + police + `}}`), "feature 1: properties.name must be a text"},
		{"no properties", collection(`{"type":"Feature"}`), "feature 1: properties.name is missing"},
		{"it asks for nothing", collection(feature(`"camera_zone":false`, square)), `feature 1 ("X"): properties: hide or camera_zone must ask for something`},
		{"a misspelt property", collection(feature(`"hides":["alert.police"]`, square)), `feature 1 ("X"): properties.hides is unknown`},
		{"an unknown kind", collection(feature(`"hide":["alert.polite"]`, square)), `properties.hide holds "alert.polite", which is not a kind`},
		{"hide is no list", collection(feature(`"hide":"alert.police"`, square)), "properties.hide must be a list"},
		{"camera_zone is no flag", collection(feature(`"camera_zone":"yes"`, square)), "properties.camera_zone must be true or false"},
		{"camera_zone is null", collection(feature(`"camera_zone":null`, square)), "properties.camera_zone must be true or false"},
		{"a zone without zones", collection(feature(police+`,"zone_m":400`, square)), "properties.zone_m needs camera_zone"},
		{"a zone that is too narrow", collection(feature(`"camera_zone":true,"zone_m":299`, square)), "properties.zone_m must be a whole number of metres, 300 to 50000"},
		{"a zone that is too wide", collection(feature(`"camera_zone":true,"zone_m":50001`, square)), "properties.zone_m must be"},
		{"half a metre", collection(feature(`"camera_zone":true,"zone_m":300.5`, square)), "properties.zone_m must be"},
		{"zones at a pole", collection(feature(`"camera_zone":true`, `[4,80],[8,80],[8,86],[4,86],[4,80]`)), "polygon 1: areas with camera_zone lie within 85 degrees"},
		{"no geometry", collection(`{"type":"Feature","properties":{"name":"X",` + police + `},"geometry":null}`), `feature 1 ("X"): geometry is missing`},
		{"a line", withGeometry(`{"type":"LineString","coordinates":[[1,1],[2,2]]}`), "geometry.type must be Polygon or MultiPolygon"},
		{"coordinates of something else", withGeometry(`{"type":"Polygon","coordinates":[1,2]}`), "geometry.coordinates are not those of a Polygon"},
		{"no coordinates", withGeometry(`{"type":"Polygon"}`), "geometry.coordinates are not those of a Polygon"},
		{"no polygon", withGeometry(`{"type":"MultiPolygon","coordinates":[]}`), "geometry.coordinates are empty"},
		{"no ring", withGeometry(`{"type":"MultiPolygon","coordinates":[[]]}`), "polygon 1: has no ring"},
		{"three positions", collection(feature(police, `[1,1],[2,2],[1,1]`)), "polygon 1: ring 1 has fewer than 4 positions"},
		{"an open ring", collection(feature(police, `[1,1],[2,1],[2,2],[1,2]`)), "ring 1 is not closed"},
		{"half a position", collection(feature(police, `[1,1],[2],[2,2],[1,1]`)), "ring 1, position 2 must be longitude and latitude"},
		{"latitude first", collection(feature(police, `[1,1],[2,91],[2,2],[1,1]`)), "ring 1, position 2 is out of range"},
		{"no area", collection(feature(police, `[1,1],[2,1],[3,1],[1,1]`)), "has no area"},
		{"round a pole", collection(feature(police, `[0,80],[120,80],[-120,80],[0,80]`)), "ring 1 goes round a pole"},
		{"a hole outside", collection(feature(police, square, `[15,51],[16,51],[16,52],[15,51]`)), "ring 2 is a hole outside of ring 1"},
		{"too many points", collection(good, feature(police, manyPositions, manyPositions, manyPositions, manyPositions)), "feature 2 (\"X\"): geometry.coordinates: the file has more than 200000 points"},
		{"too many bytes", strings.Repeat(" ", law.MaxBytes+1), "has more than 10485760 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := law.Parse([]byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %s", err, tt.want)
			}
		})
	}
}

// FuzzParse checks that a file is rejected or can be queried, and that zones are shown within the drift.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("../../../deploy/law/example.geojson")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(example, 48.0, 2.0)
	wrapped := func(features string) []byte {
		return []byte(`{"type":"FeatureCollection","features":[` + features + `]}`)
	}
	f.Add(wrapped(feature(police, square, hole)), 51.5, 5.5)
	f.Add(wrapped(feature(`"camera_zone":true,"zone_m":300`, `[179,-20],[-179,-20],[-179,-18],[179,-18],[179,-20]`)), -19.0, 180.0)
	f.Add(wrapped(feature(police, `[-180,-90],[180,-90],[180,90],[-180,90],[-180,-90]`)), 90.0, -180.0)
	f.Fuzz(func(t *testing.T, text []byte, lat, lng float64) {
		l, err := law.Parse(text)
		if err != nil {
			return
		}
		p := geo.Point{Lat: lat, Lng: lng}
		if !p.Valid() {
			return
		}
		var v law.View
		l.Near(p, 1000, &v)
		for k := range mapdata.Kind(mapdata.KindCount) {
			here, there := l.Judge(p, k), v.Judge(p, k)
			if here != there {
				t.Fatalf("%+v alone, %+v in a circle", here, there)
			}
			if here.Zone != 0 && geo.Distance(p, law.Middle(p, here.Zone)) > l.Drift() {
				t.Fatalf("a zone of %v m is shown farther away than %v m", here.Zone, l.Drift())
			}
		}
	})
}
