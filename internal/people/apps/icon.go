package apps

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
)

// Bounds of an icon (D16.1).
const (
	maxIcon     = 64 << 10 // bytes, as uploaded and as served
	maxIconSide = 512      // pixels of a PNG
	maxElements = 500      // of an SVG
	maxDepth    = 30
)

// IconPath returns the path of an icon.
func IconPath(app mapdata.AppID, name string) string {
	return "/v2/apps/" + app.String() + "/icons/" + name
}

// Icon returns the icon of an app of the catalogue, or fails with mapdata.ErrNotFound. It reads only memory.
func (s *Service) Icon(app mapdata.AppID, name string) (*mapdata.AppIcon, error) {
	if e := s.catalogue.Load().entries[app]; e != nil && e.icon != nil && e.icon.Name == name {
		return e.icon, nil
	}
	return nil, mapdata.ErrNotFound
}

// OtherIcon returns an icon of a version that is not served, for the app's owner and for curators. It reads the store. For other
// callers, and for a missing icon, it fails with mapdata.ErrNotFound.
func (s *Service) OtherIcon(ctx context.Context, by mapdata.Actor, app mapdata.AppID, name string) (*mapdata.AppIcon, error) {
	if !iconName.MatchString(name) {
		return nil, mapdata.ErrNotFound
	}
	if _, err := s.Versions(ctx, by, app); err != nil {
		return nil, err
	}
	icon, err := s.Store.AppIcon(ctx, app, name)
	if err != nil {
		return nil, fmt.Errorf("read icon: %w", err)
	}
	return icon, nil
}

// parseIcon parses the member icon of a submission: an image as a data URL, or the icon_url of an icon that the app has. It returns
// the image, or the name of the icon that stays.
func parseIcon(members map[string]jsontext.Value, bad *mapdata.FieldErrors) (made *mapdata.AppIcon, kept string) {
	r := reader{members: members, errors: bad}
	text := r.text("icon", false)
	if text == "" {
		return nil, ""
	}
	media, encoded, found := strings.Cut(strings.TrimPrefix(text, "data:"), ";base64,")
	if !strings.HasPrefix(text, "data:") {
		if _, name, ok := strings.Cut(text, "/icons/"); ok && iconName.MatchString(name) {
			return nil, name
		}
		found = false
	}
	if !found {
		bad.Add("icon", "invalid", "must be data:image/png;base64,… or data:image/svg+xml;base64,…, or the icon_url of this app's icon")
		return nil, ""
	}
	if base64.StdEncoding.DecodedLen(len(encoded)) > maxIcon+2 {
		bad.Add("icon", "too_long", tooLargeIcon)
		return nil, ""
	}
	image, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		bad.Add("icon", "invalid", "must be base64")
		return nil, ""
	}
	var (
		clean  []byte
		reason string
	)
	switch media {
	case "image/png":
		clean, reason = cleanPNG(image)
	case "image/svg+xml":
		if clean, reason = cleanSVG(image); reason == "" {
			clean, reason = drawSVG(clean)
		}
	default:
		reason = "must be a PNG or an SVG"
	}
	switch {
	case reason != "":
		bad.Add("icon", "invalid", reason)
		return nil, ""
	case len(clean) > maxIcon:
		bad.Add("icon", "too_long", tooLargeIcon)
		return nil, ""
	}
	sum := sha256.Sum256(clean)
	return &mapdata.AppIcon{Name: hex.EncodeToString(sum[:16]) + ".png", Image: clean}, ""
}

var (
	tooLargeIcon = "must take at most " + strconv.Itoa(maxIcon>>10) + " KiB"
	iconName     = regexp.MustCompile(`^[0-9a-f]{32}\.(png|svg)$`)
)

// cleanPNG encodes a PNG again, which drops everything but the image. It checks the size before it reads the pixels.
func cleanPNG(image []byte) (clean []byte, reason string) {
	header, err := png.DecodeConfig(bytes.NewReader(image))
	if err != nil {
		return nil, "is not a PNG"
	}
	if header.Width > maxIconSide || header.Height > maxIconSide {
		return nil, fmt.Sprintf("must be at most %d × %d pixels", maxIconSide, maxIconSide)
	}
	decoded, err := png.Decode(bytes.NewReader(image))
	if err != nil {
		return nil, "is not a PNG"
	}
	var out bytes.Buffer
	if err := png.Encode(&out, decoded); err != nil {
		return nil, "is not a PNG"
	}
	return out.Bytes(), ""
}

// The elements and attributes that an SVG keeps: shapes and gradients. Scripts, styles, links, other images, text, filters, clips,
// animations and elements that repeat others are dropped.
var (
	svgElements = []string{
		"svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "defs", "linearGradient", "radialGradient", "stop",
	}
	svgAttributes = []string{
		"viewBox", "width", "height", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "fx", "fy", "d", "points", "id", "offset",
		"fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-opacity",
		"stroke-miterlimit", "opacity", "color", "stop-color", "stop-opacity", "transform", "gradientUnits", "gradientTransform", "spreadMethod",
		"preserveAspectRatio",
	}
	// svgValue matches a value without anything that loads or runs; a reference within the image is the only form of url() that it
	// allows.
	svgValue     = regexp.MustCompile(`^[-+#%.,\w\s()]*$`)
	svgReference = regexp.MustCompile(`^url\(#[\w-]+\)$`)
)

const svgNamespace = "http://www.w3.org/2000/svg"

// cleanSVG writes the allowed parts of an SVG again, for drawSVG: its result is not served. The decoder refuses XML that declares
// entities.
func cleanSVG(image []byte) (clean []byte, reason string) {
	const unreadable = "is not an SVG"
	dec := xml.NewDecoder(bytes.NewReader(image))
	dec.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errors.New("UTF-8 only") }
	var (
		out      bytes.Buffer
		elements int
		depth    int
	)
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, unreadable
		}
		switch t := token.(type) {
		case xml.StartElement:
			if elements == 0 && (t.Name.Local != "svg" || t.Name.Space != svgNamespace) {
				return nil, unreadable
			}
			if t.Name.Space != svgNamespace || !slices.Contains(svgElements, t.Name.Local) {
				if dec.Skip() != nil {
					return nil, unreadable
				}
				continue
			}
			if elements > 0 && depth == 0 {
				return nil, "must have one element svg that holds all others"
			}
			elements++
			if depth++; elements > maxElements || depth > maxDepth {
				return nil, fmt.Sprintf("must have at most %d elements, %d deep", maxElements, maxDepth)
			}
			writeSVGElement(&out, &t)
		case xml.EndElement:
			depth--
			out.WriteString("</" + t.Name.Local + ">")
		}
	}
	if elements == 0 || depth != 0 {
		return nil, unreadable
	}
	return out.Bytes(), ""
}

// writeSVGElement writes the beginning of an element with the attributes that it may keep.
func writeSVGElement(out *bytes.Buffer, t *xml.StartElement) {
	out.WriteString("<" + t.Name.Local)
	if t.Name.Local == "svg" {
		out.WriteString(` xmlns="` + svgNamespace + `"`)
	}
	for _, a := range t.Attr {
		value := strings.TrimSpace(a.Value)
		harmless := svgValue.MatchString(value) && !strings.Contains(strings.ToLower(value), "url(") || svgReference.MatchString(value)
		if a.Name.Space == "" && slices.Contains(svgAttributes, a.Name.Local) && harmless {
			out.WriteString(" " + a.Name.Local + `="` + value + `"`)
		}
	}
	out.WriteString(">")
}
