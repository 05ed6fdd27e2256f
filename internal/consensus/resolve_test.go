package consensus_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/consensus"
	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fataler is a test of any sort.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// kind finds a kind of the catalogue by its icon, which names it shortly.
func kind(t fataler, icon string) mapdata.Kind {
	t.Helper()
	for k, info := range mapdata.Kinds() {
		if info.Icon == icon {
			return mapdata.Kind(k)
		}
	}
	t.Fatalf("no kind has the icon %s", icon)
	return 0
}

// at is a hit of a source: "live" and what follows it is an upstream, anything else a feed. Its chord grows eastwards.
func at(t fataler, source, id, icon string, p geo.Point) mapdata.Hit {
	h := mapdata.Hit{
		Source: mapdata.Incidents, Upstream: source, Rank: 1, Kind: kind(t, icon), ExternalID: []byte(id), Point: p,
		Prior: mapdata.DefaultPrior, LastSeenAt: start.UnixMilli(), Chord: 1 + p.Lng,
	}
	if source[:4] != "live" {
		h.Source, h.Upstream, h.Rank = mapdata.FeedID{15: source[0]}.SourceID(), "", mapdata.RankOfFeeds
	}
	return h
}

// told is what a result says of merging: each pin's id, and in brackets what it stands for.
func told(hits []mapdata.Hit) []string {
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

// TestMerging holds what is one event (D10.1, D10.2), in the order of the input and in the opposite one.
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
		{"two sources", []hit{at(t, "live1", "a", "police", here), at(t, "feed", "b", "police", east(119))}, []string{"a[b]"}},
		{"too far", []hit{at(t, "live1", "a", "police", here), at(t, "feed", "b", "police", east(121))}, []string{"a", "b"}},
		{"jams reach farther", []hit{at(t, "live1", "a", "jam", here), at(t, "feed", "b", "jam", east(299))}, []string{"a[b]"}},
		{"jams too far", []hit{at(t, "live1", "a", "jam", here), at(t, "feed", "b", "jam", east(301))}, []string{"a", "b"}},
		{"two upstreams", []hit{at(t, "live1", "a", "police", here), at(t, "live2", "b", "police", east(9))}, []string{"a[b]"}},
		{"one upstream", []hit{at(t, "live1", "a", "police", here), at(t, "live1", "b", "police", east(9))}, []string{"a", "b"}},
		{"two feeds", []hit{at(t, "feed", "a", "police", here), at(t, "other", "b", "police", east(9))}, []string{"a[b]"}},
		{"one feed", []hit{at(t, "feed", "a", "police", here), at(t, "feed", "b", "police", east(9))}, []string{"a", "b"}},
		{"other kinds", []hit{at(t, "live1", "a", "police", here), at(t, "feed", "b", "accident", east(1))}, []string{"a", "b"}},
		{"a kind and its parent", []hit{at(t, "live1", "a", "ice", here), at(t, "feed", "b", "hazard", east(9))}, []string{"a[b]"}},
		{"two of one parent", []hit{at(t, "live1", "a", "ice", here), at(t, "feed", "b", "fog", east(9))}, []string{"a", "b"}},
		{"cameras", []hit{at(t, "live1", "a", "camera-speed", here), at(t, "feed", "b", "camera-speed", east(1))}, []string{"a", "b"}},
		{"chargers", []hit{at(t, "live1", "a", "charger-fast", here), at(t, "feed", "b", "charger-fast", east(1))}, []string{"a", "b"}},
		{"three sources", []hit{
			at(t, "live1", "a", "police", here), at(t, "feed", "b", "police", east(9)), at(t, "live2", "c", "police", east(20)),
		}, []string{"a[c][b]"}},
		{"a chain over three sources", []hit{
			at(t, "live1", "a", "police", here), at(t, "live2", "b", "police", east(100)), at(t, "feed", "c", "police", east(200)),
		}, []string{"a[b][c]"}},
		{"the nearest of one source joins", []hit{
			at(t, "live1", "a", "police", here), at(t, "feed", "b", "police", east(50)), at(t, "feed", "c", "police", east(40)),
		}, []string{"a[c]", "b"}},
		{"nearest pairs first, not each one's nearest", []hit{
			at(t, "live1", "a", "police", here), at(t, "feed", "b", "police", east(60)), at(t, "live1", "c", "police", east(100)),
		}, []string{"a", "c[b]"}},
		{"a chain that would hold one source twice", []hit{
			at(t, "live1", "a", "police", here), at(t, "feed", "b", "police", east(50)),
			at(t, "live2", "c", "police", east(110)), at(t, "live1", "d", "police", east(150)),
		}, []string{"a[b]", "c[d]"}},
		{"equally near: by name", []hit{
			at(t, "live1", "a", "police", here), at(t, "feed", "b", "police", here), at(t, "feed", "c", "police", here),
		}, []string{"c", "a[b]"}},
		{"across the antimeridian", []hit{
			at(t, "live1", "a", "police", geo.Point{Lat: 10, Lng: 179.9996}), at(t, "feed", "b", "police", geo.Point{Lat: 10, Lng: -179.9996}),
		}, []string{"a[b]"}},
		{"across a pole", []hit{
			at(t, "live1", "a", "police", pole(50, 10)), at(t, "feed", "b", "police", pole(60, -170)),
			at(t, "live1", "c", "accident", pole(65, 100)), at(t, "feed", "d", "accident", pole(65, -80)),
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
				if diff := cmp.Diff(tt.want, told(r.Resolve(hits, start, false))); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

// TestShown holds which of several is shown, step by step, and what it says of all (D10.3).
func TestShown(t *testing.T) {
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
			a, b := at(t, "live1", "0", "police", here), at(t, "live2", "1", "police", here)
			a.ChangedAt, b.ChangedAt = 7, 5
			tt.edit(&a, &b)
			want := b
			want.Confirms, want.Disputes, want.ChangedAt = a.Confirms+b.Confirms, a.Disputes+b.Disputes, 7
			want.Merged = []mapdata.MergedID{{Source: a.Source, ExternalID: a.ExternalID}}
			var r consensus.Resolver
			for _, hits := range [][]mapdata.Hit{{a, b}, {b, a}} {
				if diff := cmp.Diff([]mapdata.Hit{want}, r.Resolve(hits, start, false)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

// TestSuppression holds that what votes hide is gone before anything is merged (D9.5, D10.1).
func TestSuppression(t *testing.T) {
	here := geo.Point{Lat: 52, Lng: 4}
	live, feed := at(t, "live1", "a", "police", here), at(t, "feed", "b", "police", moved(here, 0, 9))
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
			if diff := cmp.Diff(tt.want, told(got)); diff != "" {
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

// TestTwins holds that what two upstreams say under one id is one incident, whose votes count once.
func TestTwins(t *testing.T) {
	here := geo.Point{Lat: 52, Lng: 4}
	for name, edit := range map[string]func(a, b *mapdata.Hit){
		"rank":       func(a, b *mapdata.Hit) { b.Rank = 0; a.Prior = 0.9 },
		"confidence": func(a, b *mapdata.Hit) { b.Prior = 0.9; a.LastSeenAt++ },
		"last seen":  func(_, b *mapdata.Hit) { b.LastSeenAt++ },
		"upstream":   func(_, b *mapdata.Hit) { b.Upstream = "live0" },
	} {
		a, b := at(t, "live1", "x", "police", here), at(t, "live2", "x", "police", moved(here, 0, 5000))
		a.Confirms, b.Confirms = 2, 2
		edit(&a, &b)
		feed := at(t, "feed", "x", "accident", here) // the same id of another source is another entity
		var r consensus.Resolver
		for _, hits := range [][]mapdata.Hit{{a, b, feed}, {feed, b, a}} {
			if diff := cmp.Diff([]mapdata.Hit{feed, b}, r.Resolve(hits, start, false)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
		}
	}
}

// TestNothing holds that there may be nothing to resolve.
func TestNothing(t *testing.T) {
	var r consensus.Resolver
	if got := r.Resolve(nil, start, false); len(got) != 0 {
		t.Errorf("%d hits of none", len(got))
	}
}

// TestResolveDoesNotAllocate holds that a Resolver's memory is used again.
func TestResolveDoesNotAllocate(t *testing.T) {
	input := crowded(t, 300)
	hits := make([]mapdata.Hit, len(input))
	var r consensus.Resolver
	if n := testing.AllocsPerRun(20, func() { copy(hits, input); r.Resolve(hits, start, false) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
