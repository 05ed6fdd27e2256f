package waze

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Item is one alert or jam, as a v1 row with the parts that such a row cannot express.
type Item struct {
	Row   []byte      // a JSON object in v1 form, not yet judged
	Line  []geo.Point // of a jam; nil: none (fewer than two good points)
	Prior float64     // reliability / 10, cut to [0, 1] (D9.4); mapdata.DefaultPrior when it has none
}

// Errors that make a whole answer unacceptable. Neither repeats any of its text.
var (
	errText  = fmt.Errorf("%w: not one JSON object in UTF-8, nested at most %d deep", mapdata.ErrMalformed, maxDepth)
	errShape = fmt.Errorf("%w: neither alerts nor jams, or one that is no array or stands twice", mapdata.ErrMalformed)
)

// maxDepth is the largest number of levels of objects and arrays, the same as in a text of rows (D3.11).
const maxDepth = 1000

// Decode converts an answer, { alerts, jams, users, fetched_at_utc }, to v1 rows, which the one row decoder must then
// judge (D3.13). It calls unknown, with a short label of plain words, for each item that it drops: an item that the
// vocabulary does not contain, that has no kind here, or that is not an object. fetchedAt is zero when the answer does
// not state it in RFC 3339. Decode keeps nothing of users (D13).
//
// Decode fails with mapdata.ErrMalformed when the answer is not one JSON object with arrays, or null, as alerts or
// jams. An error in one item concerns that item alone.
func Decode(body []byte, unknown func(label string)) (items []Item, fetchedAt time.Time, err error) {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	if !utf8.Valid(body) || deeper(body, maxDepth) {
		return nil, time.Time{}, errText
	}
	r := reader{
		body:    body,
		unknown: unknown,
		// item checks duplicate members itself; UTF-8 is checked above, and unpaired surrogates by the row decoder
		// (D3.12).
		dec: jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
	}
	switch err := r.answer(); {
	case errors.Is(err, errShape):
		return nil, time.Time{}, errShape
	case err != nil:
		return nil, time.Time{}, errText // the parser's own error quotes the text
	}
	return r.items, r.fetchedAt, nil
}

// deeper reports whether a JSON text has more than the given number of levels. The text need not be well formed.
func deeper(text []byte, levels int) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if depth++; depth > levels {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// reader reads an answer once. The values that it returns are parts of body.
type reader struct {
	body      []byte
	dec       *jsontext.Decoder
	unknown   func(label string)
	items     []Item
	fetchedAt time.Time
}

func (r *reader) answer() error {
	if r.dec.PeekKind() != '{' {
		return errText
	}
	seen := make(map[string]bool, 2)
	err := r.members(func(name []byte) error {
		switch string(name) {
		case "alerts":
			return r.list(listAlert, seen)
		case "jams":
			return r.list(listJam, seen)
		case "fetched_at_utc":
			value, err := r.value()
			if at, bad := time.Parse(time.RFC3339, string(textOf(value))); bad == nil {
				r.fetchedAt = at.UTC().Truncate(time.Millisecond)
			}
			return err
		}
		return r.dec.SkipValue()
	})
	if err != nil {
		return err
	}
	if len(seen) == 0 {
		return errShape
	}
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errText
	}
	return nil
}

// list reads alerts or jams. null counts as an empty list, because some encoders write it.
func (r *reader) list(list string, seen map[string]bool) error {
	if seen[list] {
		return errShape
	}
	seen[list] = true
	switch r.dec.PeekKind() {
	case 'n':
		return r.dec.SkipValue()
	case '[':
		return r.elements(func() error { return r.item(list) })
	case 0:
		return errText
	}
	return errShape
}

// value reads the next value.
func (r *reader) value() ([]byte, error) {
	v, err := r.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(r.dec.InputOffset())
	return r.body[end-len(v) : end], nil
}

// members reads an object, and calls read to read the value of each member.
func (r *reader) members(read func(name []byte) error) error {
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for r.dec.PeekKind() != '}' {
		name, err := r.value()
		if err != nil {
			return err
		}
		if err := read(textOf(name)); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// elements reads an array, and calls read to read each element.
func (r *reader) elements(read func() error) error {
	if _, err := r.dec.ReadToken(); err != nil {
		return err
	}
	for r.dec.PeekKind() != ']' {
		if err := read(); err != nil {
			return err
		}
	}
	_, err := r.dec.ReadToken()
	return err
}

// textOf returns the text of a JSON string, and the bytes of any other value.
func textOf(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return value
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return value // an unpaired surrogate: no term has one
	}
	return text
}

// coordinates is a position as an answer states it: nil where a member is absent or null.
type coordinates struct {
	x, y         []byte // longitude, latitude
	seenX, seenY bool
	twice        bool // one of the members occurs twice
}

// point returns the position, and whether it is valid.
func (c *coordinates) point() (geo.Point, bool) {
	lat, goodLat := number(c.y)
	lng, goodLng := number(c.x)
	p := geo.Point{Lat: lat, Lng: lng}
	return p, goodLat && goodLng && !c.twice && p.Valid()
}

// coordinates reads { x, y }; it returns empty coordinates for any other value.
func (r *reader) coordinates() (c coordinates, err error) {
	if r.dec.PeekKind() != '{' {
		return c, r.dec.SkipValue()
	}
	err = r.members(func(name []byte) error {
		value, err := r.value()
		if err != nil {
			return err
		}
		at, seen := &c.x, &c.seenX
		switch string(name) {
		case "x":
		case "y":
			at, seen = &c.y, &c.seenY
		default:
			return nil
		}
		c.twice = c.twice || *seen
		*seen = true
		if string(value) != "null" {
			*at = value
		}
		return nil
	})
	return c, err
}

// line reads the valid points of [{ x, y }, …]; it returns none for any other value.
func (r *reader) line() (line []geo.Point, err error) {
	if r.dec.PeekKind() != '[' {
		return nil, r.dec.SkipValue()
	}
	err = r.elements(func() error {
		c, err := r.coordinates()
		if p, ok := c.point(); ok && err == nil {
			line = append(line, p)
		}
		return err
	})
	return line, err
}

// number parses a JSON number that a float64 holds.
func number(value []byte) (float64, bool) {
	if len(value) == 0 || value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(value), 64)
	return v + 0, err == nil
}
