package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// crowd returns hits with properties of a kilobyte each, as many as a read may ask for.
func crowd() []mapdata.Hit {
	hits := make([]mapdata.Hit, 1000)
	for i := range hits {
		e := &mapdata.Entity{
			Point: geo.Point{Lat: 43.73, Lng: 7.42}, ExternalID: strings.Repeat("a", 20), Kind: mapdata.Hazard(),
			Properties: []byte(`{"street":"Rue Grimaldi","text":"` + strings.Repeat("x", 1000) + `"}`),
		}
		hits[i] = mapdata.Hit{Source: "feed", Layer: "incidents", ExternalID: []byte(e.ExternalID), Kind: e.Kind, Prepared: EncodeEntity(nil, e)}
	}
	return hits
}

// TestLargeAnswersGrowOnce checks that an answer of a thousand entities gets its memory in one piece, and that an entity costs no
// allocation (a feature three: its title, a reader of its properties): answers that were copied as they grew made four fifths of all
// garbage under attack.
func TestLargeAnswersGrowOnce(t *testing.T) {
	hits := crowd()
	for name, tt := range map[string]struct {
		features bool
		each     float64 // allocations
		add      func(e *Encoder, dst []byte, h *mapdata.Hit) []byte
	}{
		"entities": {false, 0, func(e *Encoder, dst []byte, h *mapdata.Hit) []byte { return e.AppendHit(dst, h) }},
		"features": {true, 3, func(e *Encoder, dst []byte, h *mapdata.Hit) []byte {
			return e.AppendFeature(dst, h, Terms{Attribution: "City of Monaco", Licence: "CC BY 4.0"}, false)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var e Encoder
			var body []byte
			allocated := testing.AllocsPerRun(3, func() {
				body = GrowForHits(nil, hits, tt.features)
				room := cap(body)
				for i := range hits {
					body = tt.add(&e, body, &hits[i])
				}
				if cap(body) != room {
					t.Errorf("%d bytes did not fit into %d", len(body), room)
				}
			})
			if most := 10 + tt.each*float64(len(hits)); allocated > most {
				t.Errorf("%.0f allocations, want at most %.0f", allocated, most)
			}
			if room := cap(body); room > 2*len(body) {
				t.Errorf("%d bytes got room for %d", len(body), room)
			}
		})
	}
}

// TestFeaturesKeepProperties checks that a feature has the provider's properties in their order, but for those that are the service's.
func TestFeaturesKeepProperties(t *testing.T) {
	e := &mapdata.Entity{Point: geo.Point{Lat: 1, Lng: 2}, ExternalID: "a", Kind: mapdata.Hazard(), Properties: []byte(`{"b":[1,{"c":null}],"title":"theirs","stree\u0074":"High \"Street\"","a\/b":true}`)}
	h := &mapdata.Hit{Source: "feed", ExternalID: []byte("a"), Kind: e.Kind, Prepared: EncodeEntity(nil, e)}
	var encoder Encoder
	for range 2 { // the second time in the memory of the first
		feature := encoder.AppendFeature(nil, h, Terms{}, false)
		var got struct{ Properties json.RawMessage }
		if err := json.Unmarshal(feature, &got); err != nil {
			t.Fatalf("%v: %s", err, feature)
		}
		var members map[string]any
		if err := json.Unmarshal(got.Properties, &members); err != nil {
			t.Fatal(err)
		}
		title, _ := members["title"].(string)
		if !strings.HasSuffix(title, `, High "Street"`) || members["a/b"] != true || bytes.Count(got.Properties, []byte(`"title"`)) != 1 {
			t.Errorf("properties %s", got.Properties)
		}
		if b, a := bytes.Index(feature, []byte(`"b":[1,{"c":null}]`)), bytes.Index(feature, []byte(`"stree`)); b < 0 || a < b {
			t.Errorf("the order changed: %s", feature)
		}
	}
}
