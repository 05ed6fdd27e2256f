package relay_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/live"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/signal"
)

// TestAnswersNotifyWhereTheyDiffer checks that watchers are notified of the positions where an answer differs from the
// previous one, and not at all when it does not.
func TestAnswersNotifyWhereTheyDiffer(t *testing.T) {
	row := func(id string, lng float64, street string) string {
		return fmt.Sprintf(`{"external_id":%q,"kind":"alert.police","lat":52,"lng":%v,"properties":{"street":%q}}`, id, lng, street)
	}
	p := newProvider(t, nil)
	s := newSource(t, nil, upstream(t, "north", p, 1))
	s.Moved, s.MovedLive = signal.NewMoved(), signal.NewMoved()
	told := func() []geo.Circle {
		moved := s.Moved.Take().Areas
		if diff := cmp.Diff(moved, s.MovedLive.Take().Areas); diff != "" {
			t.Errorf("other nodes are told otherwise (-here +others):\n%s", diff)
		}
		return moved
	}
	at := func(lng float64) geo.Circle { return geo.Circle{Center: geo.Point{Lat: 52, Lng: lng}, Radius: 1} }
	many := []string{}
	for i := range 100 {
		many = append(many, fmt.Sprintf("m%02d", i))
	}
	after := time.Duration(0)
	for _, step := range []struct {
		what string
		says string
		want []geo.Circle
	}{
		{"at first", row("a", 5, "A1"), []geo.Circle{at(5)}},
		{"the same", row("a", 5, "A1"), nil},
		{"another text", row("a", 5, "A2"), []geo.Circle{at(5), at(5)}},
		{"elsewhere", row("a", 5.001, "A2"), []geo.Circle{at(5.001), at(5)}},
		{"outside of what was asked", row("a", 5.001, "A2") + "," + row("far", 6, "A9"), nil},
		{"gone", "", []geo.Circle{at(5.001)}},
	} {
		p.set(text(`{"entities":[` + step.says + `],"fetched_at_utc":null}`))
		after += 31 * time.Second // so that the reader waits for the answer
		s.clock.set(after)
		s.near("somebody")
		if diff := cmp.Diff(step.want, told()); diff != "" {
			t.Errorf("%s: %s", step.what, diff)
		}
	}
	p.set(rows(many...))
	s.clock.set(after + live.Freshness)
	s.near("somebody")
	if moved := told(); len(moved) != 1 || moved[0].Radius < 1000 {
		t.Errorf("many at once: %v", moved)
	}
}
