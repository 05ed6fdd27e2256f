package car_test

import (
	"math"
	"strings"
	"testing"

	"wayside/internal/roads/car"
)

// profile returns the profile with the built-in figures.
func profile(t testing.TB) *car.Profile {
	t.Helper()
	p, err := car.New()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// tags parses tags written as "highway=primary, maxspeed=50 mph".
func tags(text string) car.Tags {
	var all car.Tags
	for one := range strings.SplitSeq(text, ", ") {
		if key, value, ok := strings.Cut(one, "="); ok {
			all = append(all, car.Tag{Key: key, Value: value})
		}
	}
	return all
}

// arrows draws the open directions: > forward, < backward, and ) or ( for local access.
func arrows(w car.Way) string {
	return [...]string{"", "(", "<"}[w.Backward.Access] + [...]string{"", ")", ">"}[w.Forward.Access]
}

// Results of arrows.
const (
	both   = "<>"
	closed = ""
	local  = "()"
)

// opens checks that ways are open as the table says.
func opens(t *testing.T, table [][2]string) {
	t.Helper()
	p := profile(t)
	for _, row := range table {
		w, ok := p.Way(tags(row[0]))
		if got := arrows(w); got != row[1] || ok != (got != "") {
			t.Errorf("%s: open %q (%v), want %q", row[0], got, ok, row[1])
		}
	}
}

// figure is the speed or rate that follows from the tags of a way, forward and backward.
type figure struct {
	tags              string
	forward, backward float64
}

// speeds checks the speeds in a table, in km/h.
func speeds(t *testing.T, table []figure) {
	t.Helper()
	p := profile(t)
	for _, row := range table {
		w, _ := p.Way(tags(row.tags))
		if !near(w.Forward.Speed, row.forward) || !near(w.Backward.Speed, row.backward) {
			t.Errorf("%s: %v and %v km/h, want %v and %v", row.tags, w.Forward.Speed, w.Backward.Speed, row.forward, row.backward)
		}
	}
}

// factors checks the rates in a table, as shares of the speed.
func factors(t *testing.T, table []figure) {
	t.Helper()
	p := profile(t)
	for _, row := range table {
		w, _ := p.Way(tags(row.tags))
		if !near(w.Forward.Rate, row.forward*w.Forward.Speed) || !near(w.Backward.Rate, row.backward*w.Backward.Speed) {
			t.Errorf("%s: rates %v and %v at %v and %v km/h, want the shares %v and %v", row.tags,
				w.Forward.Rate, w.Backward.Rate, w.Forward.Speed, w.Backward.Speed, row.forward, row.backward)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9*(1+math.Abs(b)) }
