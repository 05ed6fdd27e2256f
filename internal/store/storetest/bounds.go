package storetest

import (
	"time"

	"wayside/internal/ground/mapdata"
)

// countsHoldings checks the usage of feeds and accounts that the store counts (D5.10).
func countsHoldings(w *testStore) {
	owner := w.account()
	f, other := w.pushFeed(owner), w.pushFeed(owner)
	holds := func(what string, of *mapdata.Feed, want mapdata.Usage, account int64) {
		w.Helper()
		mark, err := w.store.Mark(w.ctx, of.ID)
		w.must(err)
		w.same(what, mark.Holds, want)
		w.same(what+": the account", mark.AccountBytes, account)
		w.same(what+": the feed's row", w.feed(of).Holds, want)
	}
	size := mapdata.RowBytes("a", entity(f, "a", start).Properties, nil)
	w.apply(w.pushed(f, start, entity(f, "a", start), entity(f, "b", start)))
	w.apply(w.pushed(other, start, entity(other, "a", start)))
	holds("two new entities", f, mapdata.Usage{Entities: 2, Bytes: 2 * size}, 3*size)

	smaller := entity(f, "a", start)
	smaller.Properties = []byte(`{}`)
	c := w.pushed(f, at(time.Minute), smaller)
	c.Retired = []string{"b", "unknown"}
	w.apply(c)
	holds("one smaller, one retired", f, mapdata.Usage{Entities: 1, Bytes: 3}, 3+size)

	brief := entity(f, "é", start) // two bytes
	brief.Lifetime = time.Minute
	w.apply(w.pushed(f, start, brief))
	stale := w.pushed(f, at(time.Hour), entity(f, "c", start))
	w.must(w.store.Forget(w.ctx, f.ID, []string{"é", "a"}, at(2*time.Minute)))
	holds("an expired one is removed", f, mapdata.Usage{Entities: 1, Bytes: 3}, 3+size)
	w.fails("a change that was compared before entities were removed", w.store.Apply(w.ctx, stale), mapdata.ErrConflict)

	w.must(w.store.DeleteFeed(w.ctx, f.ID, mapdata.AuditEntry{At: start}))
	holds("the other feed was deleted", other, mapdata.Usage{Entities: 1, Bytes: size}, size)
	w.must(w.store.Prune(w.ctx, at(time.Hour)))
	holds("and its entities", other, mapdata.Usage{Entities: 1, Bytes: size}, size)
}

// sharesAccountBytes checks the bound of an account with feeds that grow at the same time.
func sharesAccountBytes(w *testStore) {
	owner := w.account()
	f, other := w.pushFeed(owner), w.pushFeed(owner)
	size := mapdata.RowBytes("a", entity(f, "a", start).Properties, nil)
	first, second := w.pushed(f, start, entity(f, "a", start)), w.pushed(other, start, entity(other, "a", start))
	for _, c := range []*mapdata.Change{first, second} {
		w.count(c)
		c.AccountLimit = 2*size - 1 // enough for either
	}
	w.must(w.store.Apply(w.ctx, first))
	w.fails("a change for which another feed took the room", w.store.Apply(w.ctx, second), mapdata.ErrConflict)
	w.same("entities of the feed that found no room", len(w.entities(other)), 0)
	second.AccountLimit = 2 * size
	w.must(w.store.Apply(w.ctx, second))
	less := w.pushed(f, at(time.Minute))
	less.Retired, less.AccountLimit = []string{"a"}, 1
	w.count(less)
	w.must(w.store.Apply(w.ctx, less)) // a full account may always shrink
	mark, err := w.store.Mark(w.ctx, f.ID)
	w.must(err)
	w.same("what the account stores", mark.AccountBytes, size)
}

// remembersApproval checks that a feed that was approved at some time keeps its bounds (D5.10).
func remembersApproval(w *testStore) {
	f := w.draft(w.account())
	f.ReviewState = mapdata.Pending
	w.must(w.store.CreateFeed(w.ctx, f, unlimitedFeeds))
	for _, step := range []struct {
		state mapdata.ReviewState
		want  bool
	}{{mapdata.Rejected, false}, {mapdata.Approved, true}, {mapdata.Pending, true}, {mapdata.Rejected, true}} {
		_, err := w.store.UpdateFeed(w.ctx, f.ID, func(f *mapdata.Feed) (mapdata.Side, error) {
			f.ReviewState = step.state
			return mapdata.Side{}, nil
		})
		w.must(err)
		mark, err := w.store.Mark(w.ctx, f.ID)
		w.must(err)
		w.same("approved once, when "+string(step.state), mark.ApprovedOnce, step.want)
		w.same("approved once, in the feed", w.feed(f).ApprovedOnce, step.want)
	}
}
