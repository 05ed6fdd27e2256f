package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"wayside/internal/roads/graph"
)

// TestAnswersAreBounded holds what is taken of texts, words and numbers of an engine, and how large a route may be.
func TestAnswersAreBounded(t *testing.T) {
	var said text
	if err := json.Unmarshal([]byte(`"`+strings.Repeat("x", 600)+`"`), &said); err != nil || len(said) != 500 {
		t.Errorf("%d bytes of a text, %v", len(said), err)
	}
	for length, want := range map[int]int{40: 40, 41: 0} {
		var name word
		if err := json.Unmarshal([]byte(`"`+strings.Repeat("x", length)+`"`), &name); err != nil || len(name) != want {
			t.Errorf("%d bytes of a word of %d, %v", len(name), length, err)
		}
	}
	for digits, want := range map[string]bool{"1e11": true, "1.1e11": false} {
		if err := json.Unmarshal([]byte(digits), new(number)); (err == nil) != want {
			t.Errorf("%s: %v", digits, err)
		}
	}
	for _, tt := range []struct {
		steps, positions int
		want             bool
	}{{20_000, 2_000_000, true}, {20_001, 1, false}, {1, 2_000_001, false}} {
		var r route
		if err := json.Unmarshal([]byte(`{"geometry":"_p~iF~ps|U_ulLnnqC","legs":[{"steps":[`+strings.TrimSuffix(strings.Repeat("{},", tt.steps), ",")+`]}]}`), &r); err != nil {
			t.Fatal(err)
		}
		positions := r.Geometry.positions
		r.Geometry.positions = append(positions, make([]graph.Position, tt.positions-min(tt.positions, len(positions)))...)
		if err := checkRoutes([]route{r}, 1); (err == nil) != tt.want {
			t.Errorf("%d steps, %d positions: %v", tt.steps, tt.positions, err)
		}
	}
}
