package service

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/entities/nearby"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/roads/cch"
	"wayside/internal/roads/match"
	"wayside/internal/roads/region"
)

// TestReadyWithConditions checks that a region is served, and the service ready, only once all conditions have been read, and that
// the metric_version grows with each change and with each region (D15.17).
func TestReadyWithConditions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newBadDay(t)
		gate := make(chan struct{})
		near := d.near
		r := &roads{
			moved: signal.NewMoved(), now: time.Now, log: slog.New(slog.DiscardHandler), next: make(chan *region.Region, 1), ready: make(chan struct{}),
			closed: func([]uint32) {},
			reader: func() *nearby.Reader { <-gate; return near },
		}
		shut := d.everyRoad(townCenter, 60)
		d.push(shut)
		topology, err := cch.Prepare(t.Context(), d.graph, cch.PrepareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		serve := func(id string) {
			bounds := [4]float64{0, 0, townBlock * townStreets, townBlock * townStreets}
			to := &region.Region{About: region.About{ID: id, Bounds: bounds}}
			to.Graph, to.Index, to.Topology = d.graph, match.NewIndex(d.graph), topology
			r.change(to)
			synctest.Wait()
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.run(ctx) }()
		serve("first")
		select {
		case <-r.ready:
			t.Error("ready before the conditions were read")
		default:
		}
		if r.network() != nil {
			t.Error("a network is served before its conditions were read")
		}
		close(gate)
		synctest.Wait()
		<-r.ready
		version := uint64(0)
		grows := func(what string, closed bool) {
			t.Helper()
			n := r.network()
			defer n.Release()
			if n.Conditions == nil || n.Conditions.None() == closed || n.Version() <= version {
				t.Fatalf("%s: version %d after %d, conditions %v", what, n.Version(), version, n.Conditions)
			}
			version = n.Version()
		}
		grows("the first network", true)
		for i := range 5 {
			gone := d.index.Apply([]mapdata.FeedChange{{Feed: d.feed, FeedID: d.feed.ID, Gone: ids(shut)}})
			r.moved.Notify(gone)
			time.Sleep(time.Second)
			synctest.Wait()
			grows("opened", false)
			if i == 2 {
				serve("second")
				time.Sleep(time.Second)
				synctest.Wait()
				grows("another region", false)
			}
			r.moved.Notify(d.index.Apply([]mapdata.FeedChange{{Feed: d.feed, FeedID: d.feed.ID, Entities: shut}}))
			time.Sleep(time.Second)
			synctest.Wait()
			grows("closed", true)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
