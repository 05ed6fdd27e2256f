package main

import (
	"bytes"
	"testing"

	"wayside/internal/roads/basemap/sprite"
)

// TestPicturesAreCurrent checks that the embedded pictures are those of today's icons: go generate ./internal/roads/basemap/sprite
func TestPicturesAreCurrent(t *testing.T) {
	for _, ratio := range []int{1, 2} {
		picture, err := draw(ratio)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(picture, sprite.Picture(ratio == 2)) {
			t.Errorf("the picture with %d pixels for a CSS pixel is of other icons", ratio)
		}
	}
}
