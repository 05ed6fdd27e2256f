// Command makesprite draws the icons of package sprite into its pictures: go generate ./internal/roads/basemap/sprite
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"strings"

	"github.com/fyne-io/oksvg"
	"github.com/srwiley/rasterx"

	"wayside/internal/roads/basemap/sprite"
)

func main() {
	for name, ratio := range map[string]int{"sprite.png": 1, "sprite@2x.png": 2} {
		picture, err := draw(ratio)
		if err == nil {
			err = os.WriteFile(name, picture, 0o644) //nolint:gosec // a source file, which everybody reads
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "makesprite:", err)
			os.Exit(1)
		}
	}
}

// draw returns all icons as one PNG with so many pixels for a CSS pixel.
func draw(ratio int) ([]byte, error) {
	width, height := sprite.Size()
	picture := image.NewRGBA(image.Rect(0, 0, width*ratio, height*ratio))
	for i, icon := range sprite.Icons() {
		svg := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect x="0.75" y="0.75" width="22.5" height="22.5" rx="6" ry="6" fill="%s" stroke="#ffffff" stroke-width="1.5"/>`+
			`<path d="%s" fill="none" stroke="#ffffff" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"/></svg>`, icon.Ground, icon.Lines)
		drawing, err := oksvg.ReadIconStream(strings.NewReader(svg), oksvg.StrictErrorMode)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", icon.Kind, err)
		}
		x, y := sprite.At(i)
		side := sprite.Side * ratio
		drawing.SetTarget(float64(x*ratio), float64(y*ratio), float64(side), float64(side))
		bounds := picture.Bounds()
		drawing.Draw(rasterx.NewDasher(bounds.Dx(), bounds.Dy(), rasterx.NewScannerGV(bounds.Dx(), bounds.Dy(), picture, bounds)), 1)
	}
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, picture)
	return out.Bytes(), err
}
