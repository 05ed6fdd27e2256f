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

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// Item is one alert or jam, as a v1 row with what such a row cannot say.
type Item struct {
	Row   []byte      // a JSON object in v1 form, not yet judged
	Line  []geo.Point // of a jam; nil: none (fewer than two good points)
	Prior float64     // reliability / 10, cut to [0, 1] (D9.4); mapdata.DefaultPrior when it has none
}

// What makes a whole answer unacceptable. Neither error repeats any of its text.
var (
	errText  = fmt.Errorf("%w: not one JSON object in UTF-8, nested at most %d deep", mapdata.ErrMalformed, maxDepth)
	errShape = fmt.Errorf("%w: neither alerts nor jams, or one that is no array or stands twice", mapdata.ErrMalformed)
)

// maxDepth is how many levels of objects and arrays an answer may have, as a text of rows may (D3.11).
const maxDepth = 1000

// Decode turns an answer, { alerts, jams, users, fetched_at_utc }, into v1 rows, which the one row decoder is to judge
// (D3.13). unknown is called for each item that is dropped, with a short label of plain words: an item that the
// vocabulary does not know, that has no kind of ours, or that is no object. fetchedAt is zero when the answer does not
// say it in RFC 3339. Nothing of users is kept (D13).
//
// It fails with mapdata.ErrMalformed when the answer is not one JSON object with arrays, or null, as alerts or jams. What
// is wrong with one item harms that item alone.
func Decode(body []byte, unknown func(label string)) (items []Item, fetchedAt time.Time, err error) {
	body = bytes.TrimPrefix(body, []byte("\uFEFF"))
	if !utf8.Valid(body) || deeper(body, maxDepth) {
		return nil, time.Time{}, errText
	}
	r := reader{
		body:    body,
		unknown: unknown,
		// Items judge their own duplicate members; UTF-8 is looked at above, and halves of surrogate pairs by the row
		// decoder (D3.12).
		dec: jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
	}
	switch err := r.answer(); {
	case errors.Is(err, errShape):
		return nil, time.Time{}, errShape
	case err != nil:
		return nil, time.Time{}, errText // what the parser says quotes the text
	}
	return r.items, r.fetchedAt, nil
}

// deeper says whether a JSON text has more than so many levels. It need not be well formed.
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

// reader goes through an answer once. Values that it gives are parts of body.
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

// list reads alerts or jams. null is an empty list, as some encoders write it.
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

// members reads an object; read is to read the value of each member.
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

// elements reads an array; read is to read each element.
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

// textOf is the text of a JSON string, and of another value its bytes.
func textOf(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return value
	}
	if bytes.IndexByte(value, '\\') < 0 {
		return value[1 : len(value)-1]
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return value // half a surrogate pair: no word of anybody's
	}
	return text
}

// coordinates are a place as an answer gives it: nil where one is absent or null.
type coordinates struct {
	x, y         []byte // longitude, latitude
	seenX, seenY bool
	twice        bool // one of them stands twice
}

// point is the place when it can be one.
func (c *coordinates) point() (geo.Point, bool) {
	lat, goodLat := number(c.y)
	lng, goodLng := number(c.x)
	p := geo.Point{Lat: lat, Lng: lng}
	return p, goodLat && goodLng && !c.twice && p.Valid()
}

// coordinates reads { x, y }; another value has neither.
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

// line reads the good points of [{ x, y }, …]; another value has none.
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

// number reads a JSON number that a float64 holds.
func number(value []byte) (float64, bool) {
	if len(value) == 0 || value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(value), 64)
	return v + 0, err == nil
}
