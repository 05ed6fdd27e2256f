package consensus_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/consensus"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// crowdCenter is the middle of crowds.
var crowdCenter = geo.Point{Lat: 52, Lng: 4}

// crowd returns hits of one kind, of so many sources, in a square whose sides are width metres long.
func crowd(t testingT, rows, sources int, width float64) []mapdata.Hit {
	random := rand.New(rand.NewPCG(1, uint64(rows)))
	hits := make([]mapdata.Hit, rows)
	for i := range hits {
		at := moved(crowdCenter, (random.Float64()-0.5)*width, (random.Float64()-0.5)*width)
		hits[i] = mapdata.Hit{
			Kind: kind(t, "hazard"), Source: mapdata.FeedID{14: byte(i % sources >> 8), 15: byte(i % sources)}.SourceID(),
			Rank: mapdata.RankOfFeeds, ExternalID: fmt.Appendf(nil, "%06d", i), Point: at, Prior: mapdata.DefaultPrior,
			Chord: crowdCenter.Vector().ChordSquared(at.Vector()), LastSeenAt: start.UnixMilli(), ChangedAt: start.UnixMilli(),
		}
	}
	slices.SortFunc(hits, func(a, b mapdata.Hit) int { return a.Compare(&b) })
	return hits
}

// TestWorkInCrowdsIsBounded holds that what merging looks at is bounded for each hit, however dense the hits are and however
// many sources say them.
func TestWorkInCrowdsIsBounded(t *testing.T) {
	const most = 150 // for each hit
	for _, sources := range []int{1, 2, 5, 40, 300} {
		for _, width := range []float64{0, 100, 1000, 3000} {
			for _, rows := range []int{200, 1000, 4000} {
				var r consensus.Resolver
				r.Resolve(crowd(t, rows, sources, width), start, false)
				if compared := r.Compared(); compared > most*rows {
					t.Errorf("%d sources within %v m: %d hits take %d looks", sources, width, rows, compared)
				}
			}
		}
	}
}

// TestWorkInOnePlaceGrowsWithHits holds that twice the hits in one place take about twice the work.
func TestWorkInOnePlaceGrowsWithHits(t *testing.T) {
	const growth = 2.2
	for _, sources := range []int{1, 2, 5, 40} {
		for _, width := range []float64{0, 30, 100, 300} {
			var looks [2]int
			for i, rows := range []int{4000, 8000} {
				var r consensus.Resolver
				r.Resolve(crowd(t, rows, sources, width), start, false)
				looks[i] = r.Compared()
			}
			if float64(looks[1]) > growth*float64(looks[0]) {
				t.Errorf("%d sources within %v m: 4000 hits take %d looks, 8000 %d", sources, width, looks[0], looks[1])
			}
		}
	}
}

// TestPinsOfCrowds holds for crowds what D10 says of all pins: none has two hits of one source, each hit of a pin matches another one
// of it, the order of hits does not matter, and no hit is lost. As much is merged as can be, but for a few.
func TestPinsOfCrowds(t *testing.T) {
	reach := geo.ChordSquaredOf(kind(t, "hazard").Info().MergeDistance)
	for _, tt := range []struct {
		sources int
		width   float64
		most    int // pins of 1000 hits
	}{
		{2, 0, 500}, {2, 40, 530}, {2, 150, 530}, {2, 400, 560}, {5, 0, 200}, {5, 100, 270}, {40, 0, 25}, {40, 100, 110}, {300, 200, 100},
	} {
		hits := crowd(t, 1000, tt.sources, tt.width)
		points := make(map[string]geo.Vector)
		for i := range hits {
			points[string(hits[i].ExternalID)] = hits[i].Point.Vector()
		}
		var r, other consensus.Resolver
		pins := r.Resolve(slices.Clone(hits), start, false)
		if len(pins) > tt.most {
			t.Errorf("%d sources within %v m: %d pins, want %d at most", tt.sources, tt.width, len(pins), tt.most)
		}
		shown := 0
		for i := range pins {
			p := &pins[i]
			members := append([]mapdata.MergedID{{Source: p.Source, ExternalID: p.ExternalID}}, p.Merged...)
			shown += len(members)
			for j, m := range members {
				near := len(members) == 1
				for k, o := range members {
					if k != j && m.Source == o.Source {
						t.Fatalf("%d sources within %v m: a pin has two hits of one source", tt.sources, tt.width)
					}
					near = near || k != j && points[string(m.ExternalID)].ChordSquared(points[string(o.ExternalID)]) <= reach
				}
				if !near {
					t.Fatalf("%d sources within %v m: a pin has a hit that matches none of its others", tt.sources, tt.width)
				}
			}
		}
		if shown != len(hits) {
			t.Errorf("%d sources within %v m: %d hits are shown of %d", tt.sources, tt.width, shown, len(hits))
		}
		if diff := cmp.Diff(pins, other.MergeFeeds(slices.Clone(hits), start)); diff != "" {
			t.Errorf("%d sources within %v m: (-Resolve +MergeFeeds)\n%s", tt.sources, tt.width, diff)
		}
		rand.New(rand.NewPCG(7, 8)).Shuffle(len(hits), func(i, j int) { hits[i], hits[j] = hits[j], hits[i] })
		if diff := cmp.Diff(pins, other.Resolve(hits, start, false)); diff != "" {
			t.Errorf("%d sources within %v m: another order of hits has another result\n%s", tt.sources, tt.width, diff)
		}
	}
}

// TestCrowdsLeaveOthersAlone holds that a crowd does not change what is merged beside it, and that what few say among the many
// hits of one source is merged with the nearest of them.
func TestCrowdsLeaveOthersAlone(t *testing.T) {
	const rows = 1000
	place := geo.Point{Lat: crowdCenter.Lat, Lng: crowdCenter.Lng + 0.01} // some 700 m to the east
	pin := func(source byte, id string, at geo.Point) mapdata.Hit {
		return mapdata.Hit{
			Kind: kind(t, "hazard"), Source: mapdata.FeedID{15: source}.SourceID(), Rank: mapdata.RankOfFeeds, ExternalID: []byte(id),
			Point: at, Chord: crowdCenter.Vector().ChordSquared(at.Vector()), Prior: mapdata.DefaultPrior, LastSeenAt: start.UnixMilli(),
		}
	}
	for _, sources := range []int{1, 2} {
		hits := crowd(t, rows, sources, 300)
		few := []mapdata.Hit{
			pin(200, "a", place), pin(201, "b", moved(place, 100, 0)), pin(202, "c", moved(place, 110, 0)), pin(200, "d", moved(place, 115, 0)),
		}
		want := map[string]string{"b": "c", "c": "d"} // the nearest pair first: c and d, then b with them
		if sources == 1 {
			nearest := hits[len(hits)/2]
			few = append(few, pin(203, "e", moved(nearest.Point, 0.01, 0)))
			want["e"] = string(nearest.ExternalID)
		}
		var r consensus.Resolver
		together := make(map[string][]string)
		pins := r.Resolve(append(hits, few...), start, false)
		for i := range pins {
			names := []string{string(pins[i].ExternalID)}
			for _, m := range pins[i].Merged {
				names = append(names, string(m.ExternalID))
			}
			for _, name := range names {
				together[name] = names
			}
		}
		if !slices.Equal(together["a"], []string{"a"}) {
			t.Errorf("%d sources: a is merged: %v", sources, together["a"])
		}
		for name, other := range want {
			if !slices.Contains(together[name], other) {
				t.Errorf("%d sources: %s is merged with %v, want %s among them", sources, name, together[name], other)
			}
		}
	}
}

// TestCrowdsAreSettled holds that a read need not look for the end of a crowd, and that what stands beside it is settled or not as
// if it were not there.
func TestCrowdsAreSettled(t *testing.T) {
	const known = 400.0
	var r consensus.Resolver
	hits := crowd(t, 4000, 2, 600)
	hits = slices.DeleteFunc(hits, func(h mapdata.Hit) bool { return geo.MetresOf(h.Chord) > known })
	r.Resolve(slices.Clone(hits), start, false)
	if got := r.Settled(crowdCenter.Vector(), known); got != known {
		t.Errorf("a crowd is settled within %v m, want %v", got, known)
	}
	beside := hits[0]
	beside.Kind, beside.ExternalID, beside.Point = kind(t, "police"), []byte("beside"), moved(crowdCenter, 350, 0)
	beside.Chord = crowdCenter.Vector().ChordSquared(beside.Point.Vector())
	r.Resolve(append(hits, beside), start, false)
	if got := r.Settled(crowdCenter.Vector(), known); got < 349 || got > 351 {
		t.Errorf("what lies 350 m away beside a crowd is settled within %v m", got)
	}
}

// TestMergeFeedsCountsCrowdsAsResolveDoes holds that what matches nothing makes a crowd too, although MergeFeeds looks at it only in
// order to find that.
func TestMergeFeedsCountsCrowdsAsResolveDoes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	reader := moved(crowdCenter, 0, -1000).Vector() // so that few are about equally far away
	for shift := range 10 {
		var hits []mapdata.Hit
		add := func(count int, source byte, north, east, width float64) {
			for range count {
				at := moved(crowdCenter, north+random.Float64()*width, east+float64(shift)*12+random.Float64()*width)
				hits = append(hits, mapdata.Hit{
					Kind: kind(t, "hazard"), Source: mapdata.FeedID{15: source}.SourceID(), Rank: mapdata.RankOfFeeds,
					ExternalID: fmt.Appendf(nil, "%05d", random.IntN(1e5)), Point: at, Prior: mapdata.DefaultPrior,
					Chord: reader.ChordSquared(at.Vector()), LastSeenAt: int64(len(hits)),
				})
			}
		}
		add(100, 1, 0, 0, 30)
		add(100, 2, 0, 0, 30)
		add(60, 1, 0, 155, 0)
		add(60, 2, 0, -125, 0)
		for i := range 100 {
			add(1, 3, 1000+200*float64(i), 0, 0)
		}
		slices.SortFunc(hits, func(a, b mapdata.Hit) int { return a.Compare(&b) })
		var r, other consensus.Resolver
		want := r.Resolve(slices.Clone(hits), start, false)
		if diff := cmp.Diff(want, other.MergeFeeds(hits, start)); diff != "" {
			t.Fatalf("(-Resolve +MergeFeeds)\n%s", diff)
		}
	}
}
