package overpass_test

import (
	"io"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/overpass"
)

// TestSections checks that 200 000 positions of a relation's sections are read, and 2 000 of one way, however often the
// relation names it.
func TestSections(t *testing.T) {
	const section = `{"type":"way","ref":1,"role":"section"}`
	for _, tt := range []struct {
		named, positions int
		least, most      int64 // work of joining, in nanoseconds: 20 a position
	}{
		{100, 2000, 4_000_000, 4_100_000},
		{1000, 2000, 4_000_000, 4_100_000},
		{1, 2000, 40_000, 41_000},
		{1, 20_000, 40_000, 41_000},
	} {
		convert := func(role string) int64 {
			text := `{"elements":[{"type":"relation","id":1,"tags":{"type":"enforcement","enforcement":"average_speed"},"members":[` +
				strings.Repeat(strings.Replace(section, "section", role, 1)+",", tt.named-1) + strings.Replace(section, "section", role, 1) + `]},{"type":"way","id":1,"geometry":[` +
				strings.Repeat(`{"lat":52,"lon":5},{"lat":52.1,"lon":5.1},`, tt.positions/2-1) + `{"lat":52,"lon":5},{"lat":52.1,"lon":5.1}]}]}`
			o := format.Options{Now: time.Now(), Budget: format.NewBudget(t.Context(), format.MaxWork)}
			rows := 0
			d := format.Document{Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
			if _, err := overpass.Convert(d, &o, func(item format.Item) error {
				if item.Skip == "" {
					rows++
				}
				return nil
			}); err != nil || rows != 1 {
				t.Fatal(rows, err)
			}
			work, _ := o.Budget.Spent()
			return work
		}
		// The same document, in which the role of the way is not section.
		if joining := convert("section") - convert("nothing"); joining < tt.least || joining > tt.most {
			t.Errorf("a way of %d positions named %d times: %d of work, want %d to %d", tt.positions, tt.named, joining, tt.least, tt.most)
		}
	}
}
