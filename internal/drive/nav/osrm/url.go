package osrm

import (
	"math"
	"strconv"
	"strings"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
)

// ParseURL parses a request from the part of its URL after the profile, decoded: coordinates, and options after a
// question mark. before is the number of characters of the URL before it, for error messages.
func ParseURL(s Service, text string, before int) (*Request, error) {
	r := newRequest(s)
	c := &cursor{text: text}
	if err := c.request(r); err != nil {
		return nil, err
	}
	if c.failed || c.at < len(text) {
		return nil, &nav.Error{Code: nav.InvalidQuery, Message: "Query string malformed close to position " + strconv.Itoa(before+c.at)}
	}
	return r, r.Check()
}

// cursor reads a text from its beginning to its end, or until it is malformed.
type cursor struct {
	text   string
	at     int
	failed bool
}

func (c *cursor) rest() string { return c.text[c.at:] }

func (c *cursor) fail() { c.failed = true }

// take takes a text, if it follows.
func (c *cursor) take(text string) bool {
	if strings.HasPrefix(c.rest(), text) {
		c.at += len(text)
		return true
	}
	return false
}

// span takes the bytes that are in a set.
func (c *cursor) span(in func(b byte) bool) string {
	from := c.at
	for c.at < len(c.text) && in(c.text[c.at]) {
		c.at++
	}
	return c.text[from:c.at]
}

func (c *cursor) word() string {
	return c.span(func(b byte) bool { return isDigit(b) || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' })
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// number takes a decimal number. If there is none, ok is false, and nothing is taken.
func (c *cursor) number() (v float64, ok bool) {
	from := c.at
	if c.at < len(c.text) && (c.text[c.at] == '-' || c.text[c.at] == '+') {
		c.at++
	}
	digits := len(c.span(isDigit))
	if rest := c.rest(); strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, ".json") && !strings.HasPrefix(rest, ".flatbuffers") {
		c.at++
		digits += len(c.span(isDigit))
	}
	if digits == 0 {
		c.at = from
		return 0, false
	}
	if end := c.at; c.take("e") || c.take("E") {
		if !c.take("-") {
			c.take("+")
		}
		if c.span(isDigit) == "" {
			c.at = end
		}
	}
	v, err := strconv.ParseFloat(strings.TrimPrefix(c.text[from:c.at], "+"), 64)
	if err != nil || math.IsInf(v, 0) {
		c.at = from
		return 0, false
	}
	return v, true
}

// whole takes a whole number up to a limit.
func (c *cursor) whole(limit int64) (v int64, ok bool) {
	from := c.at
	v, err := strconv.ParseInt(c.span(isDigit), 10, 64)
	if err != nil || v > limit {
		c.at = from
		return 0, false
	}
	return v, true
}

// list takes elements with a separator between them. An element that takes nothing and does not fail ends the list
// before the separator.
func (c *cursor) list(separator string, element func() bool) {
	for first := true; !c.failed; first = false {
		before := c.at
		if !first && !c.take(separator) {
			return
		}
		if !element() {
			if !c.failed {
				c.at = before
				c.failed = first
			}
			return
		}
	}
}

// request takes coordinates, a format, and options.
func (c *cursor) request(r *Request) error {
	c.coordinates(r)
	if c.failed {
		return nil
	}
	if c.take(".flatbuffers") {
		return invalidOptions("The format flatbuffers is not offered; use json.")
	}
	c.take(".json")
	if c.at == len(c.text) || !c.take("?") {
		return nil
	}
	var wrong error
	c.list("&", func() bool {
		from := c.at
		name := c.word()
		option := urlOptions(r, name)
		if option == nil || !c.take("=") {
			c.at = from
			return false
		}
		if err := option(c); err != nil && wrong == nil {
			wrong = err
		}
		return !c.failed
	})
	if c.failed || c.at < len(c.text) {
		return nil
	}
	return wrong
}

// coordinates takes pairs of numbers, or a polyline.
func (c *cursor) coordinates(r *Request) {
	for _, p := range []struct {
		name      string
		precision Precision
	}{{"polyline(", Precision5}, {"polyline6(", Precision6}} {
		from := c.at
		if !c.take(p.name) {
			continue
		}
		points, err := ParsePolyline(c.span(func(b byte) bool { return b >= 63 && b <= 126 }), p.precision)
		if err != nil || len(points) == 0 {
			c.at = from + len(p.name)
			c.fail()
		} else if r.Places.Coordinates = points; !c.take(")") {
			c.fail()
		}
		return
	}
	c.list(";", func() bool {
		from := c.at
		lng, ok := c.number()
		if !ok {
			return false
		}
		if !c.take(",") {
			c.fail()
			return false
		}
		lat, ok := c.number()
		if !ok {
			c.fail()
			return false
		}
		if !inRange(lng) || !inRange(lat) {
			c.at = from
			return false
		}
		r.Places.Coordinates = append(r.Places.Coordinates, geo.Point{Lat: lat, Lng: lng})
		return true
	})
}
