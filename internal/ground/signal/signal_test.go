package signal_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
)

// received reports whether c delivers now.
func received(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestNotificationsAreMerged(t *testing.T) {
	s := signal.NewSet()
	for name, w := range map[string]interface {
		Notify()
		C() <-chan struct{}
	}{"StoreChanged": s.StoreChanged, "FeedDue": s.FeedDue, "MailQueued": s.MailQueued} {
		if received(w.C()) {
			t.Errorf("%s delivers before it was notified", name)
		}
		w.Notify()
		w.Notify()
		if !received(w.C()) || received(w.C()) {
			t.Errorf("%s: two notifications are not one delivery", name)
		}
	}
}

func TestZeroSignalHasNoConsumer(t *testing.T) {
	var s signal.Set
	s.StoreChanged.Notify()
	s.FeedDue.Notify()
	s.MailQueued.Notify()
	s.Moved.Notify(mapdata.Touched{Everywhere: true})
	if received(s.StoreChanged.C()) {
		t.Error("a zero signal delivers")
	}
}

func TestMovedKeepsWhatIsPending(t *testing.T) {
	area := func(lng float64) geo.Circle { return geo.Circle{Center: geo.Point{Lng: lng}, Radius: 1} }
	returns := []mapdata.Return{{At: time.Unix(1, 0), Area: area(3)}}
	m := signal.NewMoved()
	m.Notify(mapdata.Touched{})
	if received(m.C()) {
		t.Error("nothing moved, and it delivers")
	}
	m.NotifyAreas([]geo.Circle{area(1)})
	m.Notify(mapdata.Touched{Areas: []geo.Circle{area(2)}, Returns: returns, Live: []mapdata.Tally{{ExternalID: "a"}}})
	if !received(m.C()) || received(m.C()) {
		t.Error("two notifications are not one delivery")
	}
	want := mapdata.Touched{Areas: []geo.Circle{area(1), area(2)}, Returns: returns, Live: []mapdata.Tally{{ExternalID: "a"}}}
	if diff := cmp.Diff(want, m.Take()); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(mapdata.Touched{}, m.Take()); diff != "" {
		t.Errorf("taken twice: %s", diff)
	}
	for range 20_000 {
		m.NotifyAreas([]geo.Circle{area(1)})
	}
	m.Notify(mapdata.Touched{Returns: returns})
	if diff := cmp.Diff(mapdata.Touched{Everywhere: true, Returns: returns}, m.Take()); diff != "" {
		t.Errorf("more areas than are kept apart (-want +got):\n%s", diff)
	}
}

// TestNotifiedCounts checks that Take returns what Notified has counted before.
func TestNotifiedCounts(t *testing.T) {
	m := signal.NewMoved()
	for i := range uint64(3) {
		if got := m.Notified(); got != i {
			t.Errorf("%d notifications, want %d", got, i)
		}
		m.NotifyAreas([]geo.Circle{{Radius: 1}})
	}
	m.Notify(mapdata.Touched{}) // nothing moved
	if got, taken := m.Notified(), len(m.Take().Areas); got != 3 || taken != 3 {
		t.Errorf("%d notifications with %d areas, want 3", got, taken)
	}
}
