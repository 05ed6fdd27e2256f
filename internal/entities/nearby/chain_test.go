package nearby_test

import (
	"fmt"
	"testing"
	"time"

	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/votes"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestMergeChainsBeyondTheLimit checks a read of one pin with more entities around than the first search returns (66),
// so that the end of a chain of matches is missing. Each gap of a chain is shorter than the previous one: pairs are
// merged from the far end, so that the merge partners of the first pin depend on the chain's length. Lengths are in
// metres.
func TestMergeChainsBeyondTheLimit(t *testing.T) {
	const filler = 50.0 // default distance of the farthest filler, which merges with nothing
	for _, tt := range []struct {
		name    string
		kind    string
		feeds   int // sources of the chain, round robin
		gaps    []float64
		fillers int
		reach   float64 // of the fillers
		merged  int     // into the first pin
	}{
		{"the second lies just beyond", "traffic.jam", 2, []float64{290}, 65, 200, 1},
		{"the second alert lies just beyond", "alert.accident", 2, []float64{118}, 65, 60, 1},
		{"the second lies too far away", "traffic.jam", 2, []float64{310}, 65, 200, 0},
		{"three links", "traffic.jam", 2, []float64{299, 298, 297}, 63, filler, 1},
		{"four links", "traffic.jam", 2, []float64{299, 298, 297, 296}, 62, filler, 0},
		{"seven links", "traffic.jam", 2, []float64{299, 298, 297, 296, 295, 294, 293}, 60, filler, 1},
		{"eight links", "traffic.jam", 2, []float64{299, 298, 297, 296, 295, 294, 293, 292}, 60, filler, 0},
		{"six sources", "traffic.jam", 6, []float64{299, 298, 297, 296, 295}, 62, filler, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			center := geo.Point{Lat: 52, Lng: 5}
			north := func(metres float64) geo.Point {
				return geo.Point{Lat: center.Lat + metres/111_194.93, Lng: center.Lng}
			}
			chain := make([][]mapdata.Entity, tt.feeds)
			entity := func(n int, id, kind string, metres float64) {
				k, ok := mapdata.ParseKind(kind)
				if !ok {
					t.Fatal(kind)
				}
				chain[n] = append(chain[n], mapdata.Entity{
					Feed: mapdata.FeedID{15: byte(n + 1)}, ExternalID: id, Kind: k, Point: north(metres),
					FirstSeenAt: start, SeenAt: start, ChangedAt: start, Lifetime: time.Hour,
				})
			}
			at := 1.0
			entity(0, "first", tt.kind, at)
			for i, gap := range tt.gaps {
				at += gap
				entity((i+1)%tt.feeds, fmt.Sprint("link ", i+1), tt.kind, at)
			}
			for i := range tt.fillers {
				entity(0, fmt.Sprint("filler ", i), "camera.speed", 2+(tt.reach-2)*float64(i)/float64(tt.fillers-1))
			}
			entity(0, "far away", "camera.speed", 4000) // so that the search is always truncated
			var a nearby.Answer
			reader := chainReader(chain)
			q := nearby.Query{Center: center, Radius: 5000, Kinds: mapdata.AllKinds, Limit: 1, Driver: "d"}
			if err := reader.Near(t.Context(), &q, &a); err != nil {
				t.Fatal(err)
			}
			if len(a.Hits) != 1 || string(a.Hits[0].ExternalID) != "first" || len(a.Hits[0].Merged) != tt.merged {
				t.Errorf("the pin is %q with %d merged into it, want %d", a.Hits[0].ExternalID, len(a.Hits[0].Merged), tt.merged)
			}
		})
	}
}

// TestEntityMergeChains checks a read of one live incident whose chain of matches exceeds 600 m.
func TestEntityMergeChains(t *testing.T) {
	jam, ok := mapdata.ParseKind("traffic.jam")
	if !ok {
		t.Fatal("no such kind")
	}
	link := func(feed byte, id string, metres float64) mapdata.Entity {
		return mapdata.Entity{
			Feed: mapdata.FeedID{15: feed}, ExternalID: id, Kind: jam, Point: geo.Point{Lat: 52 + metres/111_194.93, Lng: 5},
			FirstSeenAt: start, SeenAt: start, ChangedAt: start, Lifetime: time.Hour,
		}
	}
	// The second and third are nearest and merge first, so the second is not merged with the first link.
	reader := chainReader([][]mapdata.Entity{{link(1, "first", 299), link(1, "third", 299+298+297)}, {link(2, "second", 299+298)}})
	source := &fakeLive{health: mapdata.Health{Status: mapdata.Online}}
	source.pins = []mapdata.Hit{pin("live", jam, geo.Point{Lat: 52, Lng: 5})}
	reader.Live = source
	reader.Encode = func(dst []byte, _ *mapdata.Entity) []byte { return append(dst, 0) }
	e, err := reader.Entity(t.Context(), mapdata.EntityID(mapdata.Incidents, "live"), &nearby.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if merged := e.Hit.Merged; len(merged) != 1 || string(merged[0].ExternalID) != "first" {
		t.Errorf("merged with %v", merged)
	}
}

// chainReader serves one public feed for each list of entities, and a live source without pins. The first feed ranks highest.
func chainReader(feeds [][]mapdata.Entity) *nearby.Reader {
	ix, catalogue := index.New(func(dst []byte, _ *mapdata.Entity) []byte { return append(dst, 0) }), catalog.New(nil)
	for n, entities := range feeds {
		f := &mapdata.Feed{
			ID: mapdata.FeedID{15: byte(n + 1)}, Visibility: mapdata.Public, ReviewState: mapdata.Approved, Active: true,
			Direction: mapdata.Push, Layer: mapdata.Layer{Slug: fmt.Sprint("layer-", n)},
		}
		ix.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID, Entities: entities}})
		catalogue.Apply([]mapdata.FeedChange{{Feed: f, FeedID: f.ID}}).Publish()
	}
	return nearby.New(nearby.Config{
		Index: ix, Catalog: catalogue, Primary: "tesla", Now: func() time.Time { return start },
		Live: &fakeLive{health: mapdata.Health{Status: mapdata.Online}}, Tallies: votes.NewTallies(func() time.Time { return start }),
	})
}
