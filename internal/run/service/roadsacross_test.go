//go:build !race || nightly

package service

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/traffic"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestClosuresAroundAStartAndEverywhere checks routes while all roads around a place are closed, then all of the town, and after
// they open again.
func TestClosuresAroundAStartAndEverywhere(t *testing.T) {
	day(t, func(d *badDay) {
		for _, metres := range []float64{130, 400, 1e6} {
			all := d.everyRoad(townCenter, metres)
			d.push(all)
			d.exact(d.closedBy(all))
			for _, begins := range []geo.Point{townCenter, {Lat: townCenter.Lat, Lng: townCenter.Lng + townBlock/2}} {
				d.leaves(begins, metres > 130)
			}
			d.push(nil, ids(all)...)
			d.exact(nil)
		}
		if !d.follow.State().Empty() {
			t.Error("conditions are left")
		}
	})
}

// leaves asks for a route from a place to the edge of the town. A route may leave the closed road on which it begins, but must use
// no other closed road.
func (d *badDay) leaves(begins geo.Point, shut bool) {
	d.t.Helper()
	var a nav.RouteAnswer
	err := nav.New(d.live.Network).Route(d.t.Context(), &nav.RouteRequest{Places: nav.Places{Coordinates: []geo.Point{begins, {}}}}, &a)
	if shut != (err != nil) {
		d.t.Errorf("a route from %v: %v", begins, err)
	}
}

// Lines of 500 positions across the town, as many as a batch has: a closure behind them counts before they are all matched.
func TestLinesAcrossTheTown(t *testing.T) {
	const lines = 30
	day(t, func(d *badDay) {
		var all []mapdata.Entity
		want := map[uint32]bool{}
		for i := range lines {
			var line []geo.Point
			var text []string
			for k := range 500 {
				p := geo.Point{Lat: townBlock * float64(k%townStreets), Lng: townBlock * float64((k/townStreets*7+i)%townStreets)}
				line, text = append(line, p), append(text, fmt.Sprintf("[%.6f,%.6f]", p.Lng, p.Lat))
			}
			for _, arc := range d.places.Along(line) {
				want[arc] = true
			}
			all = append(all, closure(fmt.Sprint(i), line[0], `{"line":[`+strings.Join(text, ",")+`]}`))
		}
		last := closure("last", geo.Point{Lat: townBlock * 0.5, Lng: townBlock * (townStreets - 1)}, `{"description":"behind"}`)
		last.Feed = d.feed.ID
		for arc := range d.closedBy([]mapdata.Entity{last}) {
			want[arc] = true
		}
		// The last closure is pushed when the first of the lines is applied.
		behind := d.places.At(last.Point, "", 0, false)[0]
		states, before := 0, 0
		d.updated = func(s *traffic.State) {
			if states++; states == 1 {
				d.moved.Notify(d.index.Apply([]mapdata.FeedChange{{Feed: d.feed, FeedID: d.feed.ID, Entities: []mapdata.Entity{last}}}))
			}
			on := slices.Collect(s.Conditions(behind).All())
			if before == 0 && slices.ContainsFunc(on, func(c *traffic.Condition) bool { return c.Description == "behind" }) {
				before = states
			}
		}
		processor := processorTime()
		d.push(all)
		t.Logf("%d lines on %d arcs: %s of a processor; the closure behind them was in state %d of %d", lines, len(want), (processorTime() - processor).Round(time.Millisecond), before, states)
		if before == 0 || before > 4 || states < lines/4 {
			t.Errorf("the closure behind the lines was in state %d of %d", before, states)
		}
		d.exact(want)
		d.push(nil, append(ids(all), "last")...)
		d.exact(nil)
	})
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}

func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
