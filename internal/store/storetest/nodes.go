package storetest

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// nodeStore is the part of a store that a restarted service uses.
type nodeStore interface {
	ReleaseNode(ctx context.Context, prefix string) (int64, error)
}

// releasesNode checks that a start releases the leases of the previous process on the same data directory, and none of
// other nodes, and that the interrupted poll no longer counts.
func releasesNode(w *testStore) {
	nodes, ok := w.store.(nodeStore)
	if !ok {
		w.Fatal("the store gives no leases of nodes back")
	}
	owner := w.account()
	claim := func(node string) mapdata.Feed {
		w.pullFeed(owner)
		claimed, err := w.store.Claim(w.ctx, node, start, at(time.Minute), 1)
		w.must(err)
		if len(claimed) != 1 {
			w.Fatalf("%s claims %d feeds", node, len(claimed))
		}
		return claimed[0]
	}
	mine, others := claim("a.1"), claim("ab.1")
	n, err := nodes.ReleaseNode(w.ctx, "a.")
	w.must(err)
	w.same("leases that are given back", n, int64(1))
	claimed, err := w.store.Claim(w.ctx, "a.2", start, at(time.Minute), 10)
	w.must(err)
	if len(claimed) != 1 || claimed[0].ID != mine.ID || claimed[0].ID == others.ID {
		w.Errorf("after the start %d feeds are due", len(claimed))
	}
	failed := &mapdata.PollFailed{Feed: mine.ID, Lease: mapdata.Lease{Node: "a.1", Generation: mine.Generation}, Active: true}
	w.fails("the poll that was cut off", w.store.PollFailed(w.ctx, failed), mapdata.ErrFenced)
}
