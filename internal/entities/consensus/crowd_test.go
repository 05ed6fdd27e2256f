package consensus_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/consensus"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestResolveOfManySources compares Resolve with the reference for more sources than one word of a set has bits: two
// pins of a source are never one event, whatever its number.
func TestResolveOfManySources(t *testing.T) {
	const sources = 140
	random := rand.New(rand.NewPCG(1, 2))
	var hits []mapdata.Hit
	for i := range sources + 60 { // the last 60 sources have two pins each
		p := moved(geo.Point{Lat: 52, Lng: 4}, float64(random.IntN(12))*59, float64(random.IntN(12))*59)
		source := i
		if i >= sources {
			source -= 60
		}
		h := mapdata.Hit{
			Kind: kind(t, "police"), Source: mapdata.FeedID{15: byte(source)}.SourceID(), Rank: mapdata.RankOfFeeds,
			ExternalID: fmt.Append(nil, i), Point: p, Prior: mapdata.DefaultPrior, LastSeenAt: start.UnixMilli(), ChangedAt: start.UnixMilli(),
		}
		h.Chord = geo.Point{Lat: 52, Lng: 4}.Vector().ChordSquared(p.Vector())
		hits = append(hits, h)
	}
	var r consensus.Resolver
	want := reference(hits, start, false)
	if diff := cmp.Diff(want, r.Resolve(hits, start, false)); diff != "" {
		t.Errorf("(-reference +Resolve)\n%s", diff)
	}
}

// TestSettled compares Settled with the sets of pins that are linked by matches, which are settled if each of their
// pins is farther from the unknown area than its merge distance.
func TestSettled(t *testing.T) {
	center := geo.Point{Lat: 52, Lng: 4}
	police := kind(t, "police")
	reach := police.Info().MergeDistance
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		known := 1000 + 100*float64(random.IntN(20))
		var hits []mapdata.Hit
		for i := range 2 + random.IntN(40) {
			// On a coarse grid, as in drawPoint: no distance is within rounding of a merge distance.
			p := moved(center, float64(random.IntN(40)-20)*59, float64(random.IntN(40)-20)*59)
			h := mapdata.Hit{
				Kind: police, Source: mapdata.FeedID{15: byte(i)}.SourceID(), Rank: mapdata.RankOfFeeds, ExternalID: fmt.Append(nil, i),
				Point: p, Prior: mapdata.DefaultPrior, LastSeenAt: start.UnixMilli(), ChangedAt: start.UnixMilli(),
			}
			if h.Chord = center.Vector().ChordSquared(p.Vector()); geo.MetresOf(h.Chord) < known {
				hits = append(hits, h)
			}
		}
		set := make([]int, len(hits))
		for i := range set {
			set[i] = i
		}
		metres := func(a, b geo.Vector) float64 { return geo.MetresOf(a.ChordSquared(b)) }
		for i := range hits {
			for j := range i {
				if metres(hits[i].Point.Vector(), hits[j].Point.Vector()) <= reach {
					for k, was := range set {
						if was == set[i] {
							set[k] = set[j]
						}
					}
				}
			}
		}
		want := known
		for i := range hits {
			if metres(hits[i].Point.Vector(), center.Vector())+reach < known {
				continue
			}
			for j := range hits {
				if set[i] == set[j] {
					want = math.Min(want, metres(hits[j].Point.Vector(), center.Vector()))
				}
			}
		}
		var r consensus.Resolver
		r.Resolve(hits, start, false)
		if got := r.Settled(center.Vector(), known); math.Abs(got-want) > 0.01 {
			t.Fatalf("round %d: settled within %v m, want %v", round, got, want)
		}
	}
}

// TestNothingIsSettledInACrowd checks that Settled returns 0 where the pairs were taken in batches and are not kept.
func TestNothingIsSettledInACrowd(t *testing.T) {
	center := geo.Point{Lat: 52, Lng: 4}
	r := consensus.NewWithPairLimits(0, 4)
	var hits []mapdata.Hit
	for i := range 20 {
		hits = append(hits, mapdata.Hit{
			Kind: kind(t, "police"), Source: mapdata.FeedID{15: byte(i)}.SourceID(), ExternalID: fmt.Append(nil, i), Point: center,
		})
	}
	r.Resolve(hits, start, false)
	if got := r.Settled(center.Vector(), 1000); got != 0 {
		t.Errorf("settled within %v m", got)
	}
}
