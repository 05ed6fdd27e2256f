package consensus_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"wayside/internal/entities/consensus"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// denseHits returns n live and n feed hits within 5 km, half of which are near a hit of the other.
func denseHits(t testingT, n int) []mapdata.Hit {
	rng := rand.New(rand.NewPCG(1, 2))
	center := geo.Point{Lat: 52.1, Lng: 4.3}
	var kinds []mapdata.Kind
	for k := range mapdata.Kind(mapdata.KindCount) {
		if mapdata.IncidentKinds().Has(k) {
			kinds = append(kinds, k)
		}
	}
	var hits []mapdata.Hit
	for i := range 2 * n {
		h := mapdata.Hit{
			Kind: kinds[rng.IntN(len(kinds))], ExternalID: fmt.Appendf(nil, "alert-%08d-%d", rng.IntN(1e8), i),
			Source: mapdata.Incidents, Upstream: fmt.Sprintf("upstream-%d", i%2), Prior: mapdata.DefaultPrior,
			LastSeenAt: int64(i), Prepared: make([]byte, 10),
		}
		r, angle := 5000*math.Sqrt(rng.Float64()), 2*math.Pi*rng.Float64()
		h.Point = moved(center, r*math.Cos(angle), r*math.Sin(angle))
		if i >= n {
			h.Upstream, h.Rank = "", mapdata.RankOfFeeds
			h.Source = mapdata.FeedID{15: byte(i % 3)}.SourceID()
			if i%2 == 0 {
				h.Kind, h.Point = hits[i-n].Kind, moved(hits[i-n].Point, 30, 10)
			}
		}
		h.Chord = center.Vector().ChordSquared(h.Point.Vector())
		hits = append(hits, h)
	}
	slices.SortFunc(hits[:n], func(a, b mapdata.Hit) int { return a.Compare(&b) })
	slices.SortFunc(hits[n:], func(a, b mapdata.Hit) int { return a.Compare(&b) })
	return hits
}

// moved returns p shifted by metres to the north and east.
func moved(p geo.Point, north, east float64) geo.Point {
	const degree = math.Pi / 180 * geo.EarthRadius
	return geo.Point{Lat: p.Lat + north/degree, Lng: p.Lng + east/(degree*math.Cos(p.Lat*math.Pi/180))}
}

func BenchmarkResolve(b *testing.B) {
	ordered := denseHits(b, 300)
	mixed := slices.Clone(ordered)
	rand.New(rand.NewPCG(3, 4)).Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	for name, input := range map[string][]mapdata.Hit{"two runs": ordered, "any order": mixed} {
		b.Run(name, func(b *testing.B) {
			var r consensus.Resolver
			hits := make([]mapdata.Hit, len(input))
			merged := 0
			b.ReportAllocs()
			for b.Loop() {
				copy(hits, input)
				merged = len(hits) - len(r.Resolve(hits, start, false))
			}
			b.ReportMetric(float64(merged), "merged")
		})
	}
	b.Run("copy", func(b *testing.B) {
		hits := make([]mapdata.Hit, len(ordered))
		for b.Loop() {
			copy(hits, ordered)
		}
	})
}

// BenchmarkDensePoints measures the worst case that feeds can cause: 2 500 entities each, of one kind, at or around one point.
func BenchmarkDensePoints(b *testing.B) {
	for name, spread := range map[string]float64{"at one point": 0, "within reach": 50, "within 1 km": 1000} {
		b.Run(name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 2))
			var input []mapdata.Hit
			for i := range 5000 {
				input = append(input, mapdata.Hit{
					Kind: kind(b, "police"), Source: mapdata.FeedID{15: byte(i % 2)}.SourceID(), ExternalID: fmt.Appendf(nil, "%d", i),
					Point: moved(geo.Point{Lat: 52, Lng: 4}, spread*rng.Float64(), spread*rng.Float64()),
				})
			}
			var r consensus.Resolver
			hits := make([]mapdata.Hit, len(input))
			for b.Loop() {
				copy(hits, input)
				if got := len(r.Resolve(hits, start, false)); spread < 100 && got != 2500 {
					b.Fatal(got)
				}
			}
		})
	}
}

// BenchmarkMergeFeeds measures a read of a hundred alerts of three feeds, hardly any two of which are one event.
func BenchmarkMergeFeeds(b *testing.B) {
	var r consensus.Resolver
	input := denseHits(b, 100)[100:]
	hits := make([]mapdata.Hit, len(input))
	b.ReportAllocs()
	for b.Loop() {
		copy(hits, input)
		if n := len(r.MergeFeeds(hits, start)); n < 90 {
			b.Fatalf("%d of %d hits are left", n, len(hits))
		}
	}
}
