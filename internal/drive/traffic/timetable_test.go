package traffic

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/graph"
)

// TestTimetableIsAMap checks that entries come due in the order of the times that were set last, whatever was set and
// removed before.
func TestTimetableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var table timetable
		entries := make([]entry, 20)
		want := map[*entry]time.Time{}
		begin := time.Unix(1_000_000, 0)
		for range rapid.IntRange(1, 200).Draw(t, "changes") {
			e := &entries[rapid.IntRange(0, len(entries)-1).Draw(t, "entry")]
			at := begin.Add(time.Duration(rapid.IntRange(0, 50).Draw(t, "at")) * time.Second)
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				table.remove(e)
				delete(want, e)
			case 1:
				table.set(e, mapdata.ForGood(), geo.Circle{})
				delete(want, e)
			default:
				table.set(e, at, geo.Circle{})
				want[e] = at
			}
		}
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		now := begin.Add(25 * time.Second)
		due := 0
		for _, at := range want {
			if !at.After(now) {
				due++
			}
		}
		if table.dueBeyond(limit, now) != (due > limit) {
			t.Fatalf("%d are due, beyond %d: %t", due, limit, table.dueBeyond(limit, now))
		}
		var order []time.Time
		for e := table.due(begin.Add(time.Hour)); e != nil; e = table.due(begin.Add(time.Hour)) {
			if at, there := want[e]; !there || !at.Equal(e.at) {
				t.Fatalf("an entry is due at %v, want %v (%t)", e.at, at, there)
			}
			if table.due(e.at.Add(-time.Nanosecond)) != nil {
				t.Fatal("it is due too early")
			}
			order = append(order, e.at)
			table.remove(e)
			delete(want, e)
		}
		if len(want) > 0 || !slices.IsSortedFunc(order, time.Time.Compare) {
			t.Fatalf("%d are left; order %v", len(want), order)
		}
	})
}

// TestReturnsAreOneForEachEntity checks that a hidden pin that its provider keeps moving has one entry, with the latest
// time.
func TestReturnsAreOneForEachEntity(t *testing.T) {
	var table timetable
	at := time.Unix(1_000_000, 0)
	for i := range 100_000 {
		table.setReturn(mapdata.Return{EntityID: fmt.Sprint("feed:x:", i%10), At: at.Add(time.Duration(i) * time.Second), Area: geo.Circle{Radius: float64(i)}})
	}
	if len(table.entries) != 10 || len(table.returns) != 10 {
		t.Errorf("%d entries and %d returns, want 10", len(table.entries), len(table.returns))
	}
	if e := table.due(at.Add(99_990 * time.Second)); e == nil || e.area.Radius != 99_990 {
		t.Errorf("due: %+v", e)
	} else if table.remove(e); len(table.returns) != 9 {
		t.Errorf("%d returns are left", len(table.returns))
	}
	table.setReturn(mapdata.Return{EntityID: "feed:x:1", At: mapdata.ForGood()})
	if len(table.entries) != 8 || len(table.returns) != 8 {
		t.Errorf("%d entries and %d returns, want 8", len(table.entries), len(table.returns))
	}
}

// TestEndsThatMoveForAWeek checks a virtual week (two hours, unless WAYSIDE_TEST_FULL is set) in which 5 000 roadworks
// move their end each minute: the collection does not grow, and every other closure comes due to the second.
func TestEndsThatMoveForAWeek(t *testing.T) {
	const works, others = 5_000, 500
	minutes := 2 * 60
	if os.Getenv("WAYSIDE_TEST_FULL") != "" {
		minutes = 7 * 24 * 60
	}
	x := newCollection(&Network{graph: &graph.Graph{}, rules: newRules()})
	begin := time.Unix(1_000_000, 0)
	condition := func(id string, until time.Time) *Condition {
		return &Condition{EntityID: id, InForce: true, until: until, pins: []*pin{{id: id}}}
	}
	// The ends of the others are spread over the whole time.
	for i := range others {
		x.put(condition(fmt.Sprint("other", i), begin.Add(time.Duration(i*(minutes*60-61)/others)*time.Second+time.Second)))
	}
	moving := make([]*Condition, works)
	next := &Condition{pins: []*pin{{}}}
	for i := range moving {
		moving[i] = condition(fmt.Sprint("works", i), begin.Add(300*24*time.Hour))
		x.put(moving[i])
	}
	ended, capacity := 0, 0
	for minute := range minutes {
		for i, c := range moving {
			until := begin.Add(300*24*time.Hour + time.Duration(minute*works+i%7)*time.Second)
			if i%10 == 0 { // drivers see this end, so the condition changes
				moving[i] = condition(c.EntityID, until)
				moving[i].Ends = until
				x.put(moving[i])
				continue
			}
			next.until, next.pins[0].id = until, c.EntityID
			x.renew(c, next)
		}
		for second := range 60 {
			now := begin.Add(time.Duration(minute*60+second) * time.Second)
			for e := x.again.due(now); e != nil; e = x.again.due(now) {
				if !e.at.Equal(now) {
					t.Fatalf("%v is due at %v", e.at, now)
				}
				x.again.remove(e)
				ended++
			}
		}
		if minute == 0 {
			capacity = cap(x.again.entries)
		}
	}
	if ended != others || len(x.again.entries) != works || cap(x.again.entries) != capacity || len(x.byID) != works+others {
		t.Errorf("%d of %d others ended; %d entries (room for %d, %d at the beginning)", ended, others, len(x.again.entries), cap(x.again.entries), capacity)
	}
}

// TestUnmatchedIsBounded checks that the queue for matching holds each condition once, in order, however often it
// changes, and drops removed ones.
func TestUnmatchedIsBounded(t *testing.T) {
	var u unmatched
	all := make([]Condition, 100)
	for range 1_000 {
		for i := range all {
			u.add(&all[i])
		}
	}
	if len(u.places) != 100 {
		t.Errorf("100 conditions have %d places", len(u.places))
	}
	for range 10_000 {
		replaced := new(Condition)
		u.add(replaced)
		u.remove(replaced)
	}
	if len(u.places) > 202 {
		t.Errorf("100 conditions have %d places after others left", len(u.places))
	}
	u.remove(&all[0])
	u.add(&all[0]) // it has the last place now
	for i := range all {
		want := &all[(i+1)%len(all)]
		if got := u.first(); got != want {
			t.Fatalf("place %d is not that of its condition", i)
		}
		u.remove(want)
	}
	if u.first() != nil || len(u.places) != 0 {
		t.Errorf("%d places are left", len(u.places))
	}
}
