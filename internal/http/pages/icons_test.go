package pages

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"wayside/internal/ground/mapdata"
)

// maxIcon is the largest drawing in bytes.
const maxIcon = 2048

// TestEveryKindHasItsIcon checks, as a browser would read them, that the drawings are well-formed, small, and only drawings.
func TestEveryKindHasItsIcon(t *testing.T) {
	known := map[string]bool{}
	for _, k := range mapdata.Kinds() {
		known[k.Icon+".svg"] = true
		drawing, err := icons.ReadFile("icons/" + k.Icon + ".svg")
		if err != nil {
			t.Errorf("%s: %v", k.ID, err)
		}
		// The first shape is the pin.
		if _, pin, _ := strings.Cut(string(drawing), ` fill="`); !strings.HasPrefix(pin, k.Colour+`"`) {
			t.Errorf("%s: the pin of %s is not %s", k.Icon, k.ID, k.Colour)
		}
	}
	files, err := icons.ReadDir("icons")
	if err != nil {
		t.Fatal(err)
	}
	drawings := map[string]string{}
	for _, f := range files {
		text, err := icons.ReadFile("icons/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if !known[f.Name()] {
			t.Errorf("%s is no kind's icon", f.Name())
		}
		if len(text) >= maxIcon {
			t.Errorf("%s has %d bytes", f.Name(), len(text))
		}
		if other, twice := drawings[string(text)]; twice {
			t.Errorf("%s and %s are the same", f.Name(), other)
		}
		drawings[string(text)] = f.Name()
		if err := pureDrawing(string(text)); err != nil {
			t.Errorf("%s: %v", f.Name(), err)
		}
	}
}

// pureDrawing returns an error if an SVG contains more than shapes.
func pureDrawing(text string) error {
	shapes := []string{"svg", "g", "path", "circle", "ellipse", "rect"}
	if m := regexp.MustCompile(`(?i)href|url\(|<!|<\?|style=|\bon\w+=`).FindString(text); m != "" {
		return errors.New("it holds " + m)
	}
	if !strings.HasPrefix(text, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">`) {
		return errors.New("it is not 64 by 64")
	}
	dec := xml.NewDecoder(strings.NewReader(text))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			if !slices.Contains(shapes, tok.Name.Local) {
				return errors.New("it holds <" + tok.Name.Local + ">")
			}
		case xml.CharData:
			if strings.TrimSpace(string(tok)) != "" {
				return errors.New("it holds text")
			}
		}
	}
}
