package apps

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
)

// drawPNG draws an image of one colour, or of noise, which does not compress.
func drawPNG(t *testing.T, side int, noise bool) []byte {
	t.Helper()
	drawn := image.NewNRGBA(image.Rect(0, 0, side, side))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range drawn.Pix {
		drawn.Pix[i] = 200
		if noise {
			drawn.Pix[i] = byte(random.Uint32())
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, drawn); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func takeIcon(t *testing.T, text string) (*mapdata.AppIcon, string, []string) {
	t.Helper()
	value, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	var bad mapdata.FieldErrors
	made, kept := parseIcon(map[string]jsontext.Value{"icon": value}, &bad)
	return made, kept, codesOf(bad)
}

func dataURL(media string, image []byte) string {
	return "data:" + media + ";base64," + base64.StdEncoding.EncodeToString(image)
}

func TestD16_1Icons(t *testing.T) {
	const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">%</svg>`
	fill := func(inner string) []byte { return []byte(strings.Replace(svg, "%", inner, 1)) }
	small := drawPNG(t, 64, false)
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"none", "", nil},
		{"a PNG", dataURL("image/png", small), nil},
		{"a PNG with what follows it", dataURL("image/png", append(slices.Clone(small), "<script>alert(1)</script>"...)), nil},
		{"an SVG", dataURL("image/svg+xml", fill(`<path d="M0 0L9,9z" fill="#fff"/>`)), nil},
		{"no image", dataURL("image/png", []byte("GIF89a")), []string{"icon invalid"}},
		{"a broken PNG", dataURL("image/png", small[:len(small)/2]), []string{"icon invalid"}},
		{"a large PNG", dataURL("image/png", drawPNG(t, 513, false)), []string{"icon invalid"}},
		{"too many bytes", dataURL("image/png", drawPNG(t, 200, true)), []string{"icon too_long"}},
		{"another form", dataURL("image/gif", small), []string{"icon invalid"}},
		{"an address", "https://example.org/icon.png", []string{"icon invalid"}},
		{"no base64", "data:image/png;base64,!", []string{"icon invalid"}},
		{"HTML", dataURL("image/svg+xml", []byte(`<html xmlns="http://www.w3.org/1999/xhtml"><script/></html>`)), []string{"icon invalid"}},
		{"entities", dataURL("image/svg+xml", []byte(`<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg"><path d="&a;"/></svg>`)), []string{"icon invalid"}},
		{"unclosed", dataURL("image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><g>`)), []string{"icon invalid"}},
		{"two roots", dataURL("image/svg+xml", append(fill(`<g/>`), fill(`<g/>`)...)), []string{"icon invalid"}},
		{"no size", dataURL("image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0L9 9"/></svg>`)), nil},
		{"no height", dataURL("image/svg+xml", []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 0"><path d="M0 0L9 9"/></svg>`)), []string{"icon invalid"}},
		{"wide strokes with many joins", dataURL("image/svg+xml", fill(`<path stroke="#000" stroke-width="900" stroke-linejoin="round" d="`+strings.Repeat("M0 0L9 9L0 9z", 2000)+`"/>`)), []string{"icon invalid"}},
		{"too deep", dataURL("image/svg+xml", fill(strings.Repeat("<g>", 40)+strings.Repeat("</g>", 40))), []string{"icon invalid"}},
		{"too many elements", dataURL("image/svg+xml", fill(strings.Repeat("<g/>", 501))), []string{"icon invalid"}},
	} {
		if _, _, got := takeIcon(t, tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	made, _, _ := takeIcon(t, dataURL("image/png", append(slices.Clone(small), "<script>"...)))
	if !strings.HasSuffix(made.Name, ".png") || bytes.Contains(made.Image, []byte("<script>")) {
		t.Errorf("%s holds %q", made.Name, made.Image)
	}
	if _, kept, _ := takeIcon(t, "http://x/v2/apps/1/icons/"+made.Name); kept != made.Name {
		t.Errorf("kept %q", kept)
	}
}

// TestSVGIconsKeepShapesAlone checks that nothing stays that loads, runs, links, or repeats.
func TestSVGIconsKeepShapesAlone(t *testing.T) {
	for hostile, want := range map[string]string{
		`<script>alert(1)</script><path d="M0 0"/>`:                                            `<path d="M0 0"></path>`,
		`<path d="M0 0" onload="alert(1)" style="fill:url(//x)" fill="url(#a)"/>`:              `<path d="M0 0" fill="url(#a)"></path>`,
		`<path fill="url(https://x/y)" stroke="url( '//x' )" d="M0 0"/>`:                       `<path d="M0 0"></path>`,
		`<path fill="URL(#a) url(https://x)" stroke="u\72l(//x)"/>`:                            `<path></path>`,
		`<a href="javascript:alert(1)"><path d="M0 0"/></a><g/>`:                               `<g></g>`,
		`<use href="#a"/><image href="https://x/y.png"/><foreignObject><b/></foreignObject>`:   ``,
		`<animate attributeName="href" to="javascript:1"/><set/><style>*{}</style>`:            ``,
		`<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script><g/>`:             `<g></g>`,
		`<g x="1" xmlns:x="http://www.w3.org/1999/xlink" x:href="javascript:1"/>`:              `<g x="1"></g>`,
		`<path d="&quot;&gt;&lt;script&gt;"/>text<!-- c --><?pi x?>`:                           `<path></path>`,
		`<linearGradient id="a"><stop offset="0" stop-color="rgb(1, 2, 3)"/></linearGradient>`: `<linearGradient id="a"><stop offset="0" stop-color="rgb(1, 2, 3)"></stop></linearGradient>`,
		`<g stroke-dasharray="0.0001" filter="url(#f)"/>`:                                      `<g></g>`,
	} {
		clean, reason := cleanSVG([]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">` + hostile + `</svg>`))
		if got := string(clean); reason != "" || got != `<svg xmlns="http://www.w3.org/2000/svg">`+want+`</svg>` {
			t.Errorf("%s\nbecomes %s %s", hostile, got, reason)
		}
	}
}

// TestSVGIconsAreDrawn checks that an SVG becomes pixels, in its own proportions.
func TestSVGIconsAreDrawn(t *testing.T) {
	made, _, codes := takeIcon(t, dataURL("image/svg+xml", []byte(
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 10"><rect width="10" height="10" fill="#f00"/><clipPath><rect width="20" height="10"/></clipPath></svg>`)))
	if len(codes) > 0 {
		t.Fatal(codes)
	}
	drawn, err := png.Decode(bytes.NewReader(made.Image))
	if err != nil || !strings.HasSuffix(made.Name, ".png") {
		t.Fatalf("%s: %v", made.Name, err)
	}
	if got := drawn.Bounds(); got != image.Rect(0, 0, 192, 192) {
		t.Errorf("%v", got)
	}
	for at, want := range map[image.Point]color.NRGBA{{48, 96}: {255, 0, 0, 255}, {144, 96}: {}, {48, 20}: {}, {48, 172}: {}} {
		if got := color.NRGBAModel.Convert(drawn.At(at.X, at.Y)); got != want {
			t.Errorf("at %v: %v, want %v", at, got, want)
		}
	}
}

func FuzzDrawSVG(f *testing.F) {
	f.Add([]byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><linearGradient id="a" gradientTransform="scale(2)"><stop offset="0.5" stop-color="rgb(1,2,3)"/></linearGradient><g fill="url(#a)"><rect x="1" width="5" height="3" rx="1"/><ellipse rx="3" ry="2"/><polygon points="1,2 3,4 5,6"/></g></svg>`))
	f.Add([]byte(`<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><path d="M0 0L9,9C1 2 3 4 5 6A1 1 0 0 1 3 4z" stroke="#000" stroke-width="2" transform="rotate(3)"/></svg>`))
	f.Fuzz(func(t *testing.T, image []byte) {
		clean, reason := cleanSVG(image)
		if reason != "" {
			return
		}
		drawn, reason := drawSVG(clean)
		if reason != "" {
			return
		}
		if _, err := png.Decode(bytes.NewReader(drawn)); err != nil {
			t.Error(err)
		}
	})
}

func FuzzCleanSVG(f *testing.F) {
	f.Add([]byte(`<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0" onload="x"/></svg>`))
	f.Fuzz(func(t *testing.T, image []byte) {
		clean, reason := cleanSVG(image)
		if reason != "" {
			return
		}
		again, reason := cleanSVG(clean)
		if reason != "" || !bytes.Equal(again, clean) {
			t.Errorf("%q becomes %q, and then %q (%s)", image, clean, again, reason)
		}
	})
}
