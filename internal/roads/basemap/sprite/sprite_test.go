package sprite

import (
	"bytes"
	"encoding/json"
	"image/png"
	"testing"
)

// TestIndex checks that each icon lies within the picture, on a place of its own, and that none is empty.
func TestIndex(t *testing.T) {
	for _, double := range []bool{false, true} {
		picture, err := png.Decode(bytes.NewReader(Picture(double)))
		if err != nil {
			t.Fatal(err)
		}
		var index map[string]struct{ X, Y, Width, Height, PixelRatio int }
		if err := json.Unmarshal(Index(double), &index); err != nil {
			t.Fatal(err)
		}
		if len(index) != len(Icons()) {
			t.Errorf("the index has %d icons, want %d", len(index), len(Icons()))
		}
		taken := make(map[[2]int]string)
		for kind, at := range index {
			if other := taken[[2]int{at.X, at.Y}]; other != "" {
				t.Errorf("%s lies where %s does", kind, other)
			}
			taken[[2]int{at.X, at.Y}] = kind
			if at.X+at.Width > picture.Bounds().Dx() || at.Y+at.Height > picture.Bounds().Dy() || at.Width != Side*at.PixelRatio {
				t.Errorf("%s lies at %+v of a picture of %v", kind, at, picture.Bounds())
			}
			if _, _, _, alpha := picture.At(at.X+at.Width/2, at.Y+at.Height/3).RGBA(); alpha == 0 {
				t.Errorf("%s is empty", kind)
			}
		}
	}
}
