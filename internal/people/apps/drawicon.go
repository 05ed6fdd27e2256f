package apps

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"

	"github.com/fyne-io/oksvg"
	"github.com/srwiley/rasterx"
	"golang.org/x/image/math/fixed"
)

// Bounds of drawing an SVG.
const (
	svgSide = 192 // pixels of the PNG that is made of it: twice what the pages show
	// maxSVGLines is how many lines an SVG may draw, in which curves and the joins of strokes are divided. One line costs at most what
	// svgSide rows of pixels do: some 0.2 s in all (measured: 64 KiB of wide strokes with round joins are 800 000 lines and 1.2 s).
	maxSVGLines = 100_000
)

// errTooManyLines ends the drawing of an SVG.
var errTooManyLines = errors.New("too many lines")

// boundedScanner draws as its Scanner does, up to a maximum number of lines.
type boundedScanner struct {
	rasterx.Scanner
	left int
}

// Line counts a line and draws it. Beyond the bound it panics, because the library has no other way to end a drawing; drawSVG
// recovers.
func (s *boundedScanner) Line(to fixed.Point26_6) {
	if s.left--; s.left < 0 {
		panic(errTooManyLines)
	}
	s.Scanner.Line(to)
}

// drawSVG draws an SVG that cleanSVG wrote as a PNG.
func drawSVG(clean []byte) (drawn []byte, reason string) {
	const unreadable = "is not an SVG that can be drawn"
	defer func() {
		switch r := recover(); r {
		case nil:
		case errTooManyLines:
			drawn, reason = nil, "draws too much. Use fewer points, or thinner strokes"
		default: // a fault of the library must not end the process
			drawn, reason = nil, unreadable
		}
	}()
	icon, err := oksvg.ReadIconStream(bytes.NewReader(clean), oksvg.IgnoreErrorMode)
	if err != nil {
		return nil, unreadable
	}
	if icon.ViewBox.W == 0 && icon.ViewBox.H == 0 {
		icon.ViewBox.W, icon.ViewBox.H = 300, 150 // as browsers take an image without a size (CSS 2, 10.3.2)
	}
	if !isLength(icon.ViewBox.W) || !isLength(icon.ViewBox.H) {
		return nil, unreadable + ": its viewBox, or width and height, must be above 0"
	}
	scale := svgSide / max(icon.ViewBox.W, icon.ViewBox.H)
	w, h := icon.ViewBox.W*scale, icon.ViewBox.H*scale
	icon.SetTarget((svgSide-w)/2, (svgSide-h)/2, w, h)
	pixels := image.NewRGBA(image.Rect(0, 0, svgSide, svgSide))
	scanner := &boundedScanner{rasterx.NewScannerGV(svgSide, svgSide, pixels, pixels.Bounds()), maxSVGLines}
	icon.Draw(rasterx.NewDasher(svgSide, svgSide, scanner), 1)
	var out bytes.Buffer
	if err := png.Encode(&out, pixels); err != nil {
		return nil, fmt.Sprint(unreadable, ": ", err)
	}
	return out.Bytes(), ""
}

// isLength reports whether a number is a length that can be divided by.
func isLength(x float64) bool { return x > 1e-6 && x < 1e6 }
