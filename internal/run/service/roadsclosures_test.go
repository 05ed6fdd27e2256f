//go:build !race

package service

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// A hundred thousand closures at once (ten thousand, unless WAYSIDE_TEST_FULL is set) are matched and customised in bounded time and memory, and expire in the same instant.
func TestManyClosuresAtOnce(t *testing.T) {
	closures := 10_000
	if os.Getenv("WAYSIDE_TEST_FULL") != "" {
		closures = 100_000
	}
	day(t, func(d *badDay) {
		all := make([]mapdata.Entity, closures)
		for i := range all {
			// On the western half, so that routes are left.
			all[i] = closure(fmt.Sprint(i), geo.Point{Lat: townBlock * townStreets * d.random.Float64(), Lng: townBlock * townStreets / 2 * d.random.Float64()}, `{}`)
		}
		want := d.closedBy(all)
		memory, processor := heapInUse(), processorTime()
		d.push(all)
		took, grown := processorTime()-processor, heapInUse()-memory
		t.Logf("%d closures on %d of %d arcs: %s of a processor, %d bytes a closure", closures, len(want), len(d.graph.Arcs), took.Round(time.Millisecond), grown/int64(closures))
		if took > time.Minute || grown > int64(closures)*4000 {
			t.Errorf("%s of a processor, %d MB", took, grown>>20)
		}
		d.exact(want)
		// One more among them counts by itself.
		processor = processorTime()
		last := closure("last", geo.Point{Lat: townBlock * 5, Lng: townBlock * (townStreets - 4.5)}, `{}`)
		d.push([]mapdata.Entity{last})
		for arc := range d.closedBy([]mapdata.Entity{last}) {
			want[arc] = true
		}
		if took := processorTime() - processor; took > time.Second {
			t.Errorf("one closure more took %s", took)
		}
		d.exact(want)
		version, processor := d.follow.State().Version, processorTime()
		time.Sleep(time.Hour)
		synctest.Wait()
		d.settle()
		t.Logf("all ended within %s of a processor, in %d versions", (processorTime() - processor).Round(time.Millisecond), d.follow.State().Version-version)
		if took := processorTime() - processor; took > time.Minute || d.follow.State().Version-version > 3 || !d.follow.State().Empty() {
			t.Errorf("all ended: %s of a processor, in %d versions; empty: %t", took, d.follow.State().Version-version, d.follow.State().Empty())
		}
		d.exact(nil)
	})
}
