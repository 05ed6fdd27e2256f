package region

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/roads/osmpbf"
)

// Sections of the rows for the built-in sources of a region (D15.24).
const (
	camerasSection  = "cameras"
	chargersSection = "chargers"
)

// Rows are the rows of a built-in source: a JSON array of v1 rows, one for each line, sorted by type and id of their
// objects.
type Rows struct{ json []byte }

// JSON returns the array. It lies in the mapped file, so the caller must keep the Region while reading it.
func (r *Rows) JSON() []byte { return r.json }

// Len returns the number of rows.
func (r *Rows) Len() int { return max(bytes.Count(r.json, []byte{'\n'})-rowsFrame, 0) }

// rowsFrame is the number of lines of an array without rows.
const rowsFrame = 2

// newRows returns the rows of a section, or nil if the region has none.
func newRows(m *mapping, section string) *Rows {
	if m.table.find(section) == nil {
		return nil
	}
	return &Rows{m.section(section)}
}

// objectID is the id of an object of OpenStreetMap.
type objectID struct {
	kind osmpbf.Types
	id   int64
}

func (o objectID) String() string {
	name := map[osmpbf.Types]string{osmpbf.Nodes: "node", osmpbf.Ways: "way", osmpbf.Relations: "relation"}[o.kind]
	return name + "/" + strconv.FormatInt(o.id, 10)
}

// row is a v1 row.
type row struct {
	object     objectID
	kind       mapdata.Kind
	at         geo.Point
	properties map[string]any
}

// rowJSON is a row as it is stored.
type rowJSON struct {
	ExternalID string         `json:"external_id"`
	Kind       string         `json:"kind"`
	Lat        float64        `json:"lat"`
	Lng        float64        `json:"lng"`
	Properties map[string]any `json:"properties"`
}

// encodeRows encodes rows as a section, sorted by their objects.
func encodeRows(rows []row) ([]byte, error) {
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.object.kind, b.object.kind), cmp.Compare(a.object.id, b.object.id))
	})
	var out bytes.Buffer
	out.WriteByte('[')
	for i, r := range rows {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		text, err := json.Marshal(&rowJSON{r.object.String(), r.kind.ID(), r.at.Lat, r.at.Lng, r.properties})
		if err != nil {
			return nil, err
		}
		out.Write(text)
	}
	out.WriteString("\n]\n")
	return out.Bytes(), nil
}

// maxRowText is the maximum number of characters of a text in a row, as in rows of bridges (D17.8).
const maxRowText = 200

// plain returns the text of a tag in the form that rows use: without control and format characters, with single spaces,
// cut at maxRowText. It returns "" if nothing usable is left.
func plain(text string) string {
	if text == "" || len(text) > maxTagText || !utf8.ValidString(text) {
		return ""
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) { // such as marks that reverse the direction of writing
			return -1
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > maxRowText {
		text = strings.TrimSpace(string(runes[:maxRowText]))
	}
	return text
}

// maxTagText is the maximum length of a tag's value in bytes. OpenStreetMap allows 255 characters.
const maxTagText = 4 * 255

// texts copies texts of tags into properties: property, key, property, key …; the first key of a property that has a
// text counts.
func (s *source) texts(properties map[string]any, tags osmpbf.Tags, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		value, _ := tags.Get(pairs[i+1])
		if _, known := properties[pairs[i]]; known || value == "" {
			continue
		}
		if text := plain(value); text != "" {
			properties[pairs[i]] = text
		} else {
			s.leave("row_texts", 1)
		}
	}
}

// quantity parses a number at the start of a text, and returns the text after it: "50 mph", "22kW", "7,4 kW". ok is
// false if there is no number.
func quantity(text string) (number float64, unit string, ok bool) {
	text = strings.TrimSpace(text)
	end := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' })
	if end < 0 {
		end = len(text)
	}
	number, err := strconv.ParseFloat(strings.ReplaceAll(text[:end], ",", "."), 64)
	return number, strings.ToLower(strings.TrimSpace(text[end:])), err == nil
}
