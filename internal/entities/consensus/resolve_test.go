package consensus_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/consensus"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// testingT is implemented by *testing.T, *testing.B and *rapid.T.
type testingT interface {
	Helper()
	Fatalf(format string, args ...any)
}

// kind finds a kind by its icon, which is a short name.
func kind(t testingT, icon string) mapdata.Kind {
	t.Helper()
	for k, info := range mapdata.Kinds() {
		if info.Icon == icon {
			return mapdata.Kind(k)
		}
	}
	t.Fatalf("no kind has the icon %s", icon)
	return 0
}

// newHit returns a hit of a source: one that begins with "live" is an upstream, any other a feed. Its chord grows eastwards.
func newHit(t testingT, source, id, icon string, p geo.Point) mapdata.Hit {
	h := mapdata.Hit{
		Source: mapdata.Incidents, Upstream: source, Rank: 1, Kind: kind(t, icon), ExternalID: []byte(id), Point: p,
		Prior: mapdata.DefaultPrior, LastSeenAt: start.UnixMilli(), Chord: 1 + p.Lng,
	}
	if source[:4] != "live" {
		h.Source, h.Upstream, h.Rank = mapdata.FeedID{15: source[0]}.SourceID(), "", mapdata.RankOfFeeds
	}
	return h
}

// summary formats the result of merging: each pin's id, and in brackets the ids merged into it.
func summary(hits []mapdata.Hit) []string {
	var all []string
	for _, h := range hits {
		s := string(h.ExternalID)
		for _, m := range h.Merged {
			s += fmt.Sprintf("[%s]", m.ExternalID)
		}
		all = append(all, s)
	}
	return all
}

// TestMerging checks which hits are one event (D10.1, D10.2), for the input and its reverse.
func TestMerging(t *testing.T) {
	here := geo.Point{Lat: 52, Lng: 4}
	east := func(metres float64) geo.Point { return moved(here, 0, metres) }
	pole := func(metres, lng float64) geo.Point { p := moved(geo.Point{Lat: 90}, -metres, 0); p.Lng = lng; return p }
	type hit = mapdata.Hit
	tests := []struct {
		name string
		hits []hit
		want []string
	}{
		{"two sources", []hit{newHit(t, "live1", "a", "police", here), newHit(t, "feed", "b", "police", east(119))}, []string{"a[b]"}},
		{"too far", []hit{newHit(t, "live1", "a", "police", here), newHit(t, "feed", "b", "police", east(121))}, []string{"a", "b"}},
		{"jams reach farther", []hit{newHit(t, "live1", "a", "jam", here), newHit(t, "feed", "b", "jam", east(299))}, []string{"a[b]"}},
		{"jams too far", []hit{newHit(t, "live1", "a", "jam", here), newHit(t, "feed", "b", "jam", east(301))}, []string{"a", "b"}},
		{"two upstreams", []hit{newHit(t, "live1", "a", "police", here), newHit(t, "live2", "b", "police", east(9))}, []string{"a[b]"}},
		{"one upstream", []hit{newHit(t, "live1", "a", "police", here), newHit(t, "live1", "b", "police", east(9))}, []string{"a", "b"}},
		{"two feeds", []hit{newHit(t, "feed", "a", "police", here), newHit(t, "other", "b", "police", east(9))}, []string{"a[b]"}},
		{"one feed", []hit{newHit(t, "feed", "a", "police", here), newHit(t, "feed", "b", "police", east(9))}, []string{"a", "b"}},
		{"other kinds", []hit{newHit(t, "live1", "a", "police", here), newHit(t, "feed", "b", "accident", east(1))}, []string{"a", "b"}},
		{"a kind and its parent", []hit{newHit(t, "live1", "a", "ice", here), newHit(t, "feed", "b", "hazard", east(9))}, []string{"a[b]"}},
		{"two of one parent", []hit{newHit(t, "live1", "a", "ice", here), newHit(t, "feed", "b", "fog", east(9))}, []string{"a", "b"}},
		{"cameras", []hit{newHit(t, "live1", "a", "camera-speed", here), newHit(t, "feed", "b", "camera-speed", east(1))}, []string{"a", "b"}},
		{"chargers", []hit{newHit(t, "live1", "a", "charger-fast", here), newHit(t, "feed", "b", "charger-fast", east(1))}, []string{"a", "b"}},
		{"three sources", []hit{
			newHit(t, "live1", "a", "police", here), newHit(t, "feed", "b", "police", east(9)), newHit(t, "live2", "c", "police", east(20)),
		}, []string{"a[c][b]"}},
		{"a chain over three sources", []hit{
			newHit(t, "live1", "a", "police", here), newHit(t, "live2", "b", "police", east(100)), newHit(t, "feed", "c", "police", east(200)),
		}, []string{"a[b][c]"}},
		{"the nearest of one source joins", []hit{
			newHit(t, "live1", "a", "police", here), newHit(t, "feed", "b", "police", east(50)), newHit(t, "feed", "c", "police", east(40)),
		}, []string{"a[c]", "b"}},
		{"nearest pairs first, not each one's nearest", []hit{
			newHit(t, "live1", "a", "police", here), newHit(t, "feed", "b", "police", east(60)), newHit(t, "live1", "c", "police", east(100)),
		}, []string{"a", "c[b]"}},
		{"a chain that would hold one source twice", []hit{
			newHit(t, "live1", "a", "police", here), newHit(t, "feed", "b", "police", east(50)),
			newHit(t, "live2", "c", "police", east(110)), newHit(t, "live1", "d", "police", east(150)),
		}, []string{"a[b]", "c[d]"}},
		{"equally near: by name", []hit{
			newHit(t, "live1", "a", "police", here), newHit(t, "feed", "b", "police", here), newHit(t, "feed", "c", "police", here),
		}, []string{"c", "a[b]"}},
		{"across the antimeridian", []hit{
			newHit(t, "live1", "a", "police", geo.Point{Lat: 10, Lng: 179.9996}), newHit(t, "feed", "b", "police", geo.Point{Lat: 10, Lng: -179.9996}),
		}, []string{"a[b]"}},
		{"across a pole", []hit{
			newHit(t, "live1", "a", "police", pole(50, 10)), newHit(t, "feed", "b", "police", pole(60, -170)),
			newHit(t, "live1", "c", "accident", pole(65, 100)), newHit(t, "feed", "d", "accident", pole(65, -80)),
		}, []string{"d", "a[b]", "c"}},
	}
	var r consensus.Resolver
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			input, reversed := make([]hit, len(tt.hits)), make([]hit, len(tt.hits))
			for i, h := range tt.hits {
				input[i], reversed[len(reversed)-1-i] = h, h
			}
			for _, hits := range [][]hit{input, reversed} {
				if diff := cmp.Diff(tt.want, summary(r.Resolve(hits, start, false))); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

// TestRepresentative checks which of several hits is shown, criterion by criterion, and its merged values (D10.3).
func TestRepresentative(t *testing.T) {
	here := geo.Point{Lat: 52, Lng: 4}
	tests := []struct {
		name string
		edit func(a, b *mapdata.Hit) // so that b is shown
	}{
		{"rank before confidence", func(a, b *mapdata.Hit) { b.Rank = 0; a.Confirms = 9 }},
		{"confidence before confirms", func(a, b *mapdata.Hit) { b.Prior = 0.9; a.Confirms, a.Disputes = 2, 2 }},
		{"confirms before time", func(a, b *mapdata.Hit) { b.Confirms, b.Disputes = 1, 1; a.LastSeenAt++ }},
		{"time before id", func(_, b *mapdata.Hit) { b.LastSeenAt++ }},
		// As bytes, the Greek letter is first; as base64url, the Cyrillic one is, since "0" is before "z".
		{"the order of ids, not of bytes", func(a, b *mapdata.Hit) { a.ExternalID, b.ExternalID = []byte("π"), []byte("б") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, b := newHit(t, "live1", "0", "police", here), newHit(t, "live2", "1", "police", here)
			a.ChangedAt, b.ChangedAt = 7, 5
			tt.edit(&a, &b)
			want := b
			want.Confirms, want.Disputes, want.ChangedAt = a.Confirms+b.Confirms, a.Disputes+b.Disputes, 7
			want.Merged = []mapdata.MergedID{mergedID(a)}
			var r consensus.Resolver
			for _, hits := range [][]mapdata.Hit{{a, b}, {b, a}} {
				if diff := cmp.Diff([]mapdata.Hit{want}, r.Resolve(hits, start, false)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

// TestSuppression checks that suppressed hits are removed before merging (D9.5, D10.1).
func TestSuppression(t *testing.T) {
	here := geo.Point{Lat: 52, Lng: 4}
	live, feed := newHit(t, "live1", "a", "police", here), newHit(t, "feed", "b", "police", moved(here, 0, 9))
	live.Disputes = 3
	now := start.UnixMilli()
	tests := []struct {
		name       string
		live, feed int64 // DisputedUntil
		suppressed bool
		want       []string
	}{
		{"both stand", 0, 0, false, []string{"a[b]"}},
		{"the suppression is over", now, 0, false, []string{"a[b]"}},
		{"a hidden pin carries nothing", now + 1, 0, false, []string{"b"}},
		{"a curator sees both, apart", now + 1, 0, true, []string{"a", "b"}},
		{"an owner sees its own, apart", 0, now + 1, false, []string{"a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			live, feed := live, feed
			live.DisputedUntil, feed.DisputedUntil = tt.live, tt.feed
			var r consensus.Resolver
			got := r.Resolve([]mapdata.Hit{feed, live}, start, tt.suppressed)
			if diff := cmp.Diff(tt.want, summary(got)); diff != "" {
				t.Fatalf("(-want +got)\n%s", diff)
			}
			for _, h := range got {
				if string(h.ExternalID) == "b" && h.Disputes != 0 {
					t.Errorf("the feed's pin has %d disputes of the other", h.Disputes)
				}
			}
		})
	}
}

// TestDuplicateIncidents checks that hits of two upstreams with one id are one incident, whose votes count once.
func TestDuplicateIncidents(t *testing.T) {
	here := geo.Point{Lat: 52, Lng: 4}
	for name, edit := range map[string]func(a, b *mapdata.Hit){
		"rank":       func(a, b *mapdata.Hit) { b.Rank = 0; a.Prior = 0.9 },
		"confidence": func(a, b *mapdata.Hit) { b.Prior = 0.9; a.LastSeenAt++ },
		"last seen":  func(_, b *mapdata.Hit) { b.LastSeenAt++ },
		"upstream":   func(_, b *mapdata.Hit) { b.Upstream = "live0" },
	} {
		a, b := newHit(t, "live1", "x", "police", here), newHit(t, "live2", "x", "police", moved(here, 0, 5000))
		a.Confirms, b.Confirms = 2, 2
		edit(&a, &b)
		feed := newHit(t, "feed", "x", "accident", here) // the same id of another source is another entity
		var r consensus.Resolver
		for _, hits := range [][]mapdata.Hit{{a, b, feed}, {feed, b, a}} {
			if diff := cmp.Diff([]mapdata.Hit{feed, b}, r.Resolve(hits, start, false)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		}
	}
}

// TestResolveEmpty resolves an empty input.
func TestResolveEmpty(t *testing.T) {
	var r consensus.Resolver
	if got := r.Resolve(nil, start, false); len(got) != 0 {
		t.Errorf("%d hits of none", len(got))
	}
}

// TestResolveDoesNotAllocate checks that a Resolver reuses its memory.
func TestResolveDoesNotAllocate(t *testing.T) {
	input := denseHits(t, 300)
	hits := make([]mapdata.Hit, len(input))
	var r consensus.Resolver
	if n := testing.AllocsPerRun(20, func() { copy(hits, input); r.Resolve(hits, start, false) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
