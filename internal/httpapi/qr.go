package httpapi

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"rsc.io/qr"

	"wayside/internal/account"
)

// quiet is the margin that readers of QR codes need, in modules.
const quiet = 4

// getPairQR answers GET /v2/auth/pair/qr?code=…: the address of the page of pairing with the code in it, as a drawing. It
// draws any code that could be one, and so tells nobody which there are.
func (a *api) getPairQR(w http.ResponseWriter, r *http.Request, _ *caller) error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	p := params{values: values}
	text, _ := p.single("code")
	code, ok := account.ParseUserCode(text)
	if err != nil || !ok {
		p.bad("code", "invalid_code", "code must be the eight letters of a user_code.")
	}
	if p.wrong != nil {
		return p.wrong
	}
	drawing, err := drawQR(a.BaseURL + pairTarget(code))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	writeBody(w, r, http.StatusOK, "image/svg+xml", drawing)
	return nil
}

// drawQR makes an SVG of a text: black on white by night too, since readers want it so.
func drawQR(text string) ([]byte, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, fmt.Errorf("make QR code: %w", err)
	}
	size := strconv.Itoa(code.Size + 2*quiet)
	out := []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ` + size + ` ` + size + `" shape-rendering="crispEdges">` +
		`<path fill="#fff" d="M0 0h` + size + `v` + size + `H0z"/><path d="`)
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for code.Black(x, y) {
				x++
			}
			if x > from {
				out = fmt.Appendf(out, "M%d %dh%dv1h-%dz", from+quiet, y+quiet, x-from, x-from)
			}
		}
	}
	return append(out, `"/></svg>`...), nil
}
