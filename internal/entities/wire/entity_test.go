package wire

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestAppendTime compares Calendar with the standard library.
func TestAppendTime(t *testing.T) {
	first := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	last := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()
	var days Calendar
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64Range(first, last).Draw(t, "ms")
		if rapid.Bool().Draw(t, "same day") && days.made {
			ms = days.day + (ms%msPerDay+msPerDay)%msPerDay
		}
		if ms == 0 {
			return
		}
		want := `"` + time.UnixMilli(ms).UTC().Format(TimeLayout) + `"`
		if got := string(days.Append(nil, ms)); got != want {
			t.Errorf("%d: %s, want %s", ms, got, want)
		}
	})
	if got := string(AppendTime(nil, 0)); got != "null" {
		t.Errorf("no time is %s", got)
	}
}

// TestAppendHit checks that a JSON decoder reads from the read shape of an entity what the entity contains.
func TestAppendHit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		coordinate := func(name string, limit float64) float64 {
			return rapid.OneOf(rapid.Float64Range(-limit, limit), rapid.SampledFrom([]float64{
				0, limit, -limit, 6.123233995736766e-17, -1.2345678901234567e-300, math.SmallestNonzeroFloat64,
			})).Draw(t, name)
		}
		point := func(name string) geo.Point {
			return geo.Point{Lat: coordinate(name+" lat", 90), Lng: coordinate(name+" lng", 180)}
		}
		e := &mapdata.Entity{
			ExternalID: rapid.StringMatching(`[a-z0-9"\\äß: ]{1,40}`).Draw(t, "external id"), Point: point("point"),
			Properties: rapid.SampledFrom([][]byte{[]byte(`{}`), []byte(`{"a":{"b":"c"}}`)}).Draw(t, "properties"),
		}
		if rapid.Bool().Draw(t, "line") {
			e.Line = []geo.Point{point("from"), point("to")}
		}
		h := &mapdata.Hit{Source: "feed:x", Layer: "slug", ExternalID: []byte(e.ExternalID), Prepared: EncodeEntity([]byte("before"), e)[len("before"):], Prior: mapdata.DefaultPrior}
		var encoder Encoder
		var got struct {
			ID         string `json:"id"`
			ExternalID string `json:"external_id"`
			Geom       struct {
				Coordinates [2]float64 `json:"coordinates"`
			} `json:"geom"`
			Line *struct {
				Coordinates [][2]float64 `json:"coordinates"`
			} `json:"geom_line"`
			Properties json.RawMessage `json:"properties"`
		}
		text := encoder.AppendHit(nil, h)
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if want := mapdata.EntityID(h.Source, e.ExternalID); got.ID != want || got.ExternalID != e.ExternalID {
			t.Errorf("id %s of %q, want %s of %q", got.ID, got.ExternalID, want, e.ExternalID)
		}
		if want := [2]float64{e.Point.Lng, e.Point.Lat}; got.Geom.Coordinates != want {
			t.Errorf("at %v, want %v", got.Geom.Coordinates, want)
		}
		if (got.Line != nil) != (e.Line != nil) || got.Line != nil && got.Line.Coordinates[1] != [2]float64{e.Line[1].Lng, e.Line[1].Lat} {
			t.Errorf("line %v, want %v", got.Line, e.Line)
		}
		if line := AppendLine(nil, h); HasLine(h) != (e.Line != nil) || !slices.Equal(line, e.Line) {
			t.Errorf("line %v read back, want %v", line, e.Line)
		}
		if string(got.Properties) != string(e.Properties) || string(Properties(h)) != string(e.Properties) {
			t.Errorf("properties %s and %s, want %s", got.Properties, Properties(h), e.Properties)
		}
	})
}

// TestEncoderFollowsItsEntities compares a reused encoder with a new one, so that no entity gets text of another.
func TestEncoderFollowsItsEntities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var used Encoder
		for range rapid.IntRange(1, 12).Draw(t, "entities") {
			e := &mapdata.Entity{ExternalID: "a", Properties: []byte(`{}`)}
			h := &mapdata.Hit{
				Source: rapid.SampledFrom([]mapdata.SourceID{"feed:x", "feed:y", mapdata.Incidents}).Draw(t, "source"),
				Layer:  rapid.SampledFrom([]string{"", "slug", "other"}).Draw(t, "layer"),
				Kind:   rapid.SampledFrom([]mapdata.Kind{0, 1, 5}).Draw(t, "kind"), ExternalID: []byte(e.ExternalID),
				Prepared: EncodeEntity(nil, e), Prior: mapdata.DefaultPrior,
				FirstSeenAt: rapid.Int64Range(1, 3*msPerDay).Draw(t, "first seen"), ExpiresAt: rapid.Int64Range(0, 3*msPerDay).Draw(t, "expires"),
			}
			var fresh Encoder
			if got, want := string(used.AppendHit(nil, h)), string(fresh.AppendHit(nil, h)); got != want {
				t.Fatalf("%s, want %s", got, want)
			}
		}
	})
}

func BenchmarkAppendHit(b *testing.B) {
	h := &mapdata.Hit{
		Source: "feed:01a1fc6e-94d2-7baa-95f8-b1be3409b54e", Layer: "bench-0", Kind: 3, ExternalID: []byte("bench00:0020539"),
		Prepared:    EncodeEntity(nil, &mapdata.Entity{ExternalID: "bench00:0020539", Point: geo.Point{Lat: 48.090176, Lng: 5.249039}, Properties: []byte(`{"street":"Street 22","city":"Town 139","maxspeed_kmh":120,"version":4}`)}),
		FirstSeenAt: 1795236468138, LastSeenAt: 1795236522048, ExpiresAt: 1795841322048,
	}
	for _, step := range []int64{0, 100_003} { // the same minute, and another one
		b.Run(fmt.Sprintf("step=%dms", step), func(b *testing.B) {
			var encoder Encoder
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				h.LastSeenAt += step
				h.ExpiresAt += step
				dst = encoder.AppendHit(dst[:0], h)
			}
			b.SetBytes(int64(len(dst)))
		})
	}
	b.Run("20 sources and 8 kinds", func(b *testing.B) {
		var hits []mapdata.Hit
		random := rand.New(rand.NewPCG(1, 2))
		for range 100 {
			other := *h
			other.Source = mapdata.SourceID(fmt.Sprintf("%s%02x", h.Source[:len(h.Source)-2], random.IntN(20)*12))
			other.Kind = mapdata.Kind(random.IntN(8))
			other.ExpiresAt += int64(other.Kind) * msPerDay
			hits = append(hits, other)
		}
		var encoder Encoder
		var dst []byte
		b.ReportAllocs()
		for b.Loop() {
			dst = dst[:0]
			for i := range hits {
				dst = encoder.AppendHit(dst, &hits[i])
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(hits)), "ns/hit")
	})
}
