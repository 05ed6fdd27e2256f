package format

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestMayBe checks that mayBe excludes no layout that would parse a text, with times in every layout, most of them
// damaged.
func TestMayBe(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const signs = "0123456789TZ :+-.,z"
	read := 0
	for range 200_000 {
		from := layouts[random.IntN(len(layouts))]
		at := time.Unix(random.Int64N(4e9), random.Int64N(3)*1e8).In(time.FixedZone("", 900*(random.IntN(100)-50)))
		layout := from.layout
		if random.IntN(3) == 0 && len(layout) > 18 {
			layout = layout[:19] + ".000" + layout[19:]
		}
		text := []byte(at.Format(layout))
		for range random.IntN(4) {
			i := random.IntN(len(text))
			switch random.IntN(3) {
			case 0:
				text[i] = signs[random.IntN(len(signs))]
			case 1:
				text = append(text[:i], text[i+1:]...)
			default:
				text = append(text[:i], append([]byte{signs[random.IntN(len(signs))]}, text[i:]...)...)
			}
		}
		if len(text) < len("2006-01-02") {
			continue
		}
		for _, l := range layouts {
			_, err := time.ParseInLocation(l.layout, string(text), time.UTC)
			if err == nil && !mayBe(string(text), l.layout, l.zoned) {
				t.Fatalf("%q is a time by %q", text, l.layout)
			}
			if err == nil {
				read++
			}
		}
	}
	if read < 50_000 {
		t.Error(read, "times were read")
	}
}
