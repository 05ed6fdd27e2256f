package consensus_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"wayside/internal/entities/consensus"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// testPoints are points at which rounding or wrapping may go wrong.
var testPoints = []geo.Point{{Lat: 52.37, Lng: 4.9}, {Lat: 0, Lng: 180}, {Lat: -64, Lng: -180}, {Lat: 90}, {Lat: -90, Lng: 77}, {}}

// drawPoint draws a point within some 700 m of the place, on a coarse grid: equal points and distances occur, but no distance
// within rounding of a merge distance.
func drawPoint(t *rapid.T, place geo.Point, width int) geo.Point {
	north := float64(rapid.IntRange(-width, width).Draw(t, "north")) * 59
	east := float64(rapid.IntRange(-width, width).Draw(t, "east")) * 59
	if math.Abs(place.Lat) == 90 {
		p := moved(geo.Point{Lat: place.Lat}, -math.Copysign(math.Hypot(north, east), place.Lat), 0)
		p.Lng = math.Atan2(east, north) * 180 / math.Pi
		return p
	}
	p := moved(place, north, east)
	switch {
	case p.Lng > 180:
		p.Lng -= 360
	case p.Lng < -180:
		p.Lng += 360
	}
	return p
}

func drawHits(t *rapid.T) []mapdata.Hit {
	place := rapid.SampledFrom(testPoints).Draw(t, "place")
	kinds := []mapdata.Kind{kind(t, "hazard"), kind(t, "ice"), kind(t, "fog"), kind(t, "police"), kind(t, "jam"), kind(t, "camera-speed")}
	kinds = kinds[:rapid.IntRange(1, len(kinds)).Draw(t, "kinds")]
	width := rapid.IntRange(0, 8).Draw(t, "width")
	var hits []mapdata.Hit
	for i := range rapid.IntRange(0, 24).Draw(t, "hits") {
		h := mapdata.Hit{
			Kind:       rapid.SampledFrom(kinds).Draw(t, "kind"),
			Point:      drawPoint(t, place, width),
			Merged:     []mapdata.MergedID{{ExternalID: []byte("of an earlier read")}},
			LastSeenAt: start.UnixMilli() - rapid.Int64Range(0, 2).Draw(t, "seen"),
			ChangedAt:  start.UnixMilli() - rapid.Int64Range(0, 9).Draw(t, "changed"),
			Prior:      float32(rapid.IntRange(4, 6).Draw(t, "prior")) / 10,
			ExternalID: fmt.Appendf(nil, "%d", i),
		}
		h.Chord = place.Vector().ChordSquared(h.Point.Vector())
		if source := rapid.IntRange(0, 5).Draw(t, "source"); source < 3 {
			h.Source, h.Upstream, h.Rank = mapdata.Incidents, fmt.Sprint("upstream ", source), int32(source/2)
			// Several upstreams may report an incident, and one upstream twice; its votes are always the same.
			id := rapid.IntRange(0, 9).Draw(t, "id")
			h.ExternalID, h.Confirms, h.Disputes = fmt.Append(nil, id), int32(id%3), int32(id%4)
			h.Kind, h.ChangedAt = kinds[id%len(kinds)], start.UnixMilli()
			if slices.ContainsFunc(hits, func(o mapdata.Hit) bool {
				return o.Source == h.Source && o.Upstream == h.Upstream && o.LastSeenAt == h.LastSeenAt && string(o.ExternalID) == string(h.ExternalID)
			}) {
				continue
			}
		} else {
			h.Source, h.Rank = mapdata.FeedID{15: byte(source)}.SourceID(), mapdata.RankOfFeeds
			h.Confirms = rapid.Int32Range(0, 2).Draw(t, "confirms")
			h.Disputes = rapid.Int32Range(0, 2).Draw(t, "disputes")
		}
		if rapid.IntRange(0, 5).Draw(t, "disputed") == 0 {
			h.DisputedUntil = start.UnixMilli() + rapid.Int64Range(0, 1).Draw(t, "until")
		}
		hits = append(hits, h)
	}
	return hits
}

// TestResolveMatchesReference compares Resolve with the reference, for any order of the input and a reused Resolver (D10). Low
// limits exercise batches.
func TestResolveMatchesReference(t *testing.T) {
	var reused consensus.Resolver
	rapid.Check(t, func(t *rapid.T) {
		hits := drawHits(t)
		suppressed := rapid.Bool().Draw(t, "suppressed")
		want := reference(hits, start, suppressed)
		limited := consensus.NewWithPairLimits(rapid.IntRange(0, 4).Draw(t, "unordered"), rapid.IntRange(4, 12).Draw(t, "at once"))
		for name, r := range map[string]*consensus.Resolver{"used": &reused, "narrow": limited} {
			input := rapid.Permutation(hits).Draw(t, "order")
			if diff := cmp.Diff(want, r.Resolve(input, start, suppressed)); diff != "" && len(want) > 0 {
				t.Fatalf("%s: (-reference +Resolve)\n%s", name, diff)
			}
		}
	})
}

// TestMergeFeedsMatchesReference compares MergeFeeds with the reference, for hits of feeds in the order of a search.
func TestMergeFeedsMatchesReference(t *testing.T) {
	var reused consensus.Resolver
	rapid.Check(t, func(t *rapid.T) {
		hits := slices.DeleteFunc(drawHits(t), func(h mapdata.Hit) bool { return h.Source == mapdata.Incidents })
		for i := range hits {
			hits[i].Merged = nil
		}
		slices.SortFunc(hits, func(a, b mapdata.Hit) int { return a.Compare(&b) })
		want := reference(hits, start, false)
		if diff := cmp.Diff(want, reused.MergeFeeds(hits, start)); diff != "" && len(want) > 0 {
			t.Fatalf("(-reference +MergeFeeds)\n%s", diff)
		}
	})
}

// TestMergeFeedsInOnePlace merges more hits at one point than could be compared pairwise in time.
func TestMergeFeedsInOnePlace(t *testing.T) {
	var hits []mapdata.Hit
	for i := range 4000 {
		hits = append(hits, mapdata.Hit{
			Kind: kind(t, "police"), Source: mapdata.FeedID{15: byte(i % 2)}.SourceID(), ExternalID: fmt.Append(nil, i), Point: geo.Point{Lat: 52, Lng: 4},
		})
	}
	slices.SortFunc(hits, func(a, b mapdata.Hit) int { return a.Compare(&b) })
	var r, plain consensus.Resolver
	want := plain.Resolve(slices.Clone(hits), start, false)
	if diff := cmp.Diff(want, r.MergeFeeds(hits, start)); diff != "" || len(want) != 2000 {
		t.Errorf("%d pins: %s", len(want), diff)
	}
}

// TestBatchesMatchSingleBatch checks that many small batches have the result of one large batch.
func TestBatchesMatchSingleBatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for name, spread := range map[string]float64{"at one point": 0, "within reach": 80, "beyond reach": 800} {
		t.Run(name, func(t *testing.T) {
			var hits []mapdata.Hit
			for i := range 450 {
				h := mapdata.Hit{Kind: kind(t, "police"), Source: mapdata.FeedID{15: byte(i % 3)}.SourceID(), ExternalID: fmt.Append(nil, i)}
				h.Point = moved(geo.Point{Lat: 52, Lng: 4}, spread*rng.Float64(), spread*rng.Float64())
				h.Chord = rng.Float64()
				hits = append(hits, h)
			}
			var real consensus.Resolver
			want := real.Resolve(slices.Clone(hits), start, false)
			if spread == 0 && len(want) != 150 {
				t.Fatalf("%d pins of 450 hits of three sources, want 150", len(want))
			}
			for range 5 {
				rng.Shuffle(len(hits), func(i, j int) { hits[i], hits[j] = hits[j], hits[i] })
				r := consensus.NewWithPairLimits(0, 4+rng.IntN(2000))
				if diff := cmp.Diff(want, r.Resolve(slices.Clone(hits), start, false)); diff != "" {
					t.Fatal(diff)
				}
			}
			r := consensus.NewWithPairLimits(1<<20, 0) // a single unordered batch
			if diff := cmp.Diff(want, r.Resolve(hits, start, false)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
