package traffic

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestParseProperties checks the members that conditions read (D15.14, D15.15), and that what is not of their form is as if it were not
// there.
func TestParseProperties(t *testing.T) {
	line := func(positions int) string {
		return `{"line":[` + strings.TrimSuffix(strings.Repeat("[4,52],", positions), ",") + `]}`
	}
	for text, want := range map[string]string{
		line(1):                                "0 positions",
		line(2):                                "2 positions",
		line(500):                              "500 positions",
		line(501):                              "0 positions",
		`{"line":[[4,52],[4,91]]}`:             "0 positions",
		`{"both_directions":true}`:             "0 positions both",
		`{"both_directions":1}`:                "0 positions",
		`{"closed":true}`:                      "0 positions closed",
		`{"closed":"true"}`:                    "0 positions",
		`{"speed_kmh":0}`:                      "0 positions at 0",
		`{"speed_kmh":-1}`:                     "0 positions",
		`{"bearing":360}`:                      "0 positions to 360",
		`{"bearing":361}`:                      "0 positions",
		`{"ends_at":"2026-11-21T08:00:00Z"}`:   "0 positions until 08:00",
		`{"ends_at":"2026-11-21t08:00:00z"}`:   "0 positions until 08:00",
		`{"ends_at":"2026-11-21T8:00:00Z"}`:    "0 positions",
		`{"ends_at":"2026-11-21 08:00:00Z"}`:   "0 positions",
		`{"starts_at":"2026-11-21T08:00:00Z"}`: "0 positions from 08:00",
		`{"starts_at":1763712000}`:             "0 positions",
		`[]`:                                   "0 positions",
	} {
		p := parseProperties([]byte(text))
		got := fmt.Sprint(len(p.line), " positions")
		add := func(is bool, format string, values ...any) {
			if is {
				got += fmt.Sprintf(" "+format, values...)
			}
		}
		add(p.bothDirections, "both")
		add(p.closed, "closed")
		add(p.hasSpeed, "at %v", p.speed)
		add(p.hasBearing, "to %v", p.bearing)
		add(!p.starts.IsZero(), "from %s", p.starts.Format("15:04"))
		add(!p.ends.IsZero(), "until %s", p.ends.In(time.UTC).Format("15:04"))
		if got != want {
			t.Errorf("%.60s: %s, want %s", text, got, want)
		}
	}
}
