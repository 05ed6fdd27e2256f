package index_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/index"
	"wayside/internal/ground/mapdata"
)

// TestEntitiesExpireAtTheirEnds checks by a load and by changes that the earlier of lifetime and end counts, and that
// an entity of a persistent kind expires at its end (D17.3).
func TestEntitiesExpireAtTheirEnds(t *testing.T) {
	f := feed(1, mapdata.Approved)
	ends, first, persists, stays := alert(t, "ends"), alert(t, "first"), entity(1, "persists", 52, 4), entity(1, "stays", 52, 4)
	ends.EndsAt, first.EndsAt, persists.EndsAt = start.Add(10*time.Minute), start.Add(10*time.Minute), start.Add(20*time.Minute)
	first.Lifetime = time.Minute
	ended := entity(1, "ended long ago", 52, 4)
	ended.EndsAt = time.Unix(-5, 0)
	far := entity(1, "far", 52, 4)
	far.EndsAt = mapdata.LatestEnd()
	all := []mapdata.Entity{ends, first, persists, stays, ended, far}
	loaded := index.New(encode)
	loader := loaded.Load([]*mapdata.Feed{f}, 1)
	for i := range all {
		loader.Part(0).Add(&all[i])
	}
	loader.Finish(nil)
	changed := index.New(encode)
	changed.Apply(change(f, all...))
	moved := index.New(encode) // by a change that alters only ends
	without := slices.Clone(all)
	for i := range without {
		without[i].EndsAt = time.Time{}
	}
	moved.Apply(change(f, without...))
	moved.Apply(change(f, all...))
	for name, ix := range map[string]*index.Index{"loaded": loaded, "changed": changed, "moved": moved} {
		at := func(after time.Duration) (found []string) {
			s := around(52, 4, 100)
			s.Now = start.Add(after)
			found = ids(ix, s)
			slices.Sort(found)
			return found
		}
		for _, step := range []struct {
			after time.Duration
			want  []string
			swept []string
		}{
			{0, []string{"ends", "far", "first", "persists", "stays"}, []string{"ended long ago"}},
			{time.Minute - time.Millisecond, []string{"ends", "far", "first", "persists", "stays"}, nil},
			{time.Minute, []string{"ends", "far", "persists", "stays"}, []string{"first"}},
			{10*time.Minute - time.Millisecond, []string{"ends", "far", "persists", "stays"}, nil},
			{10 * time.Minute, []string{"far", "persists", "stays"}, []string{"ends"}},
			{20*time.Minute - time.Millisecond, []string{"far", "persists", "stays"}, nil},
			{20 * time.Minute, []string{"far", "stays"}, []string{"persists"}},
			{mapdata.LatestEnd().Sub(start), []string{"stays"}, []string{"far"}},
		} {
			if diff := cmp.Diff(step.want, at(step.after)); diff != "" {
				t.Errorf("%s, after %v (-want +got):\n%s", name, step.after, diff)
			}
			var swept []string
			for _, e := range ix.Sweep(start.Add(step.after)) {
				swept = append(swept, e.ExternalIDs...)
			}
			if diff := cmp.Diff(step.swept, swept); diff != "" {
				t.Errorf("%s, swept after %v (-want +got):\n%s", name, step.after, diff)
			}
		}
	}
}

// TestConfirmKeepsNoEntityBeyondItsEnd checks that a confirm keeps no entity beyond its end, also when the end moved
// after the confirm.
func TestConfirmKeepsNoEntityBeyondItsEnd(t *testing.T) {
	f, e := feed(1, mapdata.Approved), alert(t, "a")
	e.Lifetime = time.Minute
	tally := tallyOf(&e, 1, 0)
	tally.KeptUntil = start.Add(30 * time.Minute)
	ix := index.New(encode)
	ix.Apply(change(f, e))
	ix.Apply(votes(f, tally))
	e.EndsAt = start.Add(20 * time.Minute)
	ix.Apply(change(f, e))
	at := func(after time.Duration) *mapdata.Hit {
		return singleHit(t, ix, func(s *mapdata.Search) { s.Now = start.Add(after) })
	}
	if h := at(20*time.Minute - time.Millisecond); h == nil || h.ExpiresAt != e.EndsAt.UnixMilli() {
		t.Errorf("not kept until its end: %+v", h)
	}
	if swept := ix.Sweep(start.Add(20*time.Minute - time.Millisecond)); len(swept) != 0 {
		t.Errorf("swept before its end: %v", swept)
	}
	if at(20*time.Minute) != nil {
		t.Error("kept beyond its end")
	}
	if swept := ix.Sweep(start.Add(20 * time.Minute)); len(swept) != 1 {
		t.Errorf("not swept: %v", swept)
	}
	lasting := entity(1, "a", 52, 4)
	lasting.EndsAt = e.EndsAt
	ix.Apply(change(f, lasting))
	if h := at(time.Minute); h == nil || h.ExpiresAt != e.EndsAt.UnixMilli() {
		t.Errorf("a persistent entity that a confirm is on: %+v", h)
	}
	if at(20*time.Minute) != nil {
		t.Error("a confirm keeps a persistent entity beyond its end")
	}
}
