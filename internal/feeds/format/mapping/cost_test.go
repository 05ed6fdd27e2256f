package mapping

import (
	"strings"
	"testing"

	"wayside/internal/feeds/format"
	"wayside/internal/feeds/format/geometry"
)

// TestJoinedTexts checks that a mapping stops joining once the text has 64 KiB, and exceeds that by one part at most.
func TestJoinedTexts(t *testing.T) {
	const paths = 1000
	join := `{"join":["x"` + strings.Repeat(`,"x"`, paths-1) + `]}`
	m, wrong := Parse([]byte(`{"id":`+join+`,"kind":{"value":"alert.hazard"},"properties":{"description":`+join+`}}`), false)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	for size, want := range map[int]int{1: 1000, 100: 66 * 1000, 10_000: 70_000, 1 << 20: 1 << 20} {
		text := strings.Repeat("x", size)
		get := func(*Path) Scalar { return Scalar{'"', text} }
		id, ok := m.whole(m.id, get)
		joined := m.joined(m.properties[0].value, get)
		if !ok || len(id) > max(want, 1000) || len(joined.Text) != len(id) || len(id) < min(size*paths, 64<<10) {
			t.Errorf("%d parts of %d bytes: an id of %d and a text of %d", paths, size, len(id), len(joined.Text))
		}
	}
	if _, ok := m.whole(m.id, func(*Path) Scalar { return Scalar{} }); ok {
		t.Error("an id without parts")
	}
}

// TestMappingIsCounted checks that a spent budget ends an item.
func TestMappingIsCounted(t *testing.T) {
	m, wrong := Parse([]byte(`{"id":"x","kind":{"value":"alert.hazard"},"properties":{"description":"x"}}`), false)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	b := format.NewBudget(t.Context(), format.MaxWork)
	c := Converter{Mapping: m, Options: &format.Options{Budget: b}}
	get := func(*Path) Scalar { return c.Counted(Scalar{'"', "word"}) }
	before, _ := b.Spent()
	if item := c.Item(get, func(bool) geometry.Place { return geometry.Place{} }); item.Skip != "" {
		t.Fatal(item.Skip)
	}
	if after, _ := b.Spent(); after-before < 3*50 {
		t.Errorf("%d of work", after-before)
	}
	for b.Spend(1_000_000_000) {
	}
	if s := c.Counted(Scalar{'"', "word"}); s.Kind != 0 {
		t.Error("a value is found")
	}
}
