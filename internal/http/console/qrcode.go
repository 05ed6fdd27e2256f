package console

import (
	"fmt"
	"strconv"

	"rsc.io/qr"
)

// quietZone is the margin that scanners of QR codes need, in modules.
const quietZone = 4

// QRCode draws a text as an SVG: black on white by night too, since scanners expect it.
func QRCode(text string) ([]byte, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, fmt.Errorf("make QR code: %w", err)
	}
	size := strconv.Itoa(code.Size + 2*quietZone)
	out := []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ` + size + ` ` + size + `" shape-rendering="crispEdges">` +
		`<path fill="#fff" d="M0 0h` + size + `v` + size + `H0z"/><path d="`)
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for code.Black(x, y) {
				x++
			}
			if x > from {
				out = fmt.Appendf(out, "M%d %dh%dv1h-%dz", from+quietZone, y+quietZone, x-from, x-from)
			}
		}
	}
	return append(out, `"/></svg>`...), nil
}
