package osrm

import (
	"math"

	"wayside/internal/drive/nav"
)

// option reads the value of one option. It fails the cursor if the value is malformed, and returns an error if the value
// is not allowed.
type option func(c *cursor) error

// urlOptions returns the option of a service with a name, or nil if the service has none.
func urlOptions(r *Request, name string) option {
	if o := commonOption(r, name); o != nil {
		return o
	}
	switch r.Service {
	case Route:
		switch name {
		case "alternatives":
			return r.readAlternatives
		case "continue_straight":
			return r.readStraight
		}
		return routeOption(r, name)
	case Match:
		switch name {
		case "timestamps":
			return r.readTimestamps
		case "gaps":
			return words(&r.IgnoreGaps, []string{"split", "ignore"}, false, true)
		case "tidy":
			return boolean(&r.Tidy)
		}
		return routeOption(r, name)
	case Nearest:
		if name == "number" {
			return r.readNumber
		}
	case Table:
		return tableOption(r, name)
	}
	return nil
}

func commonOption(r *Request, name string) option {
	switch name {
	case "bearings":
		return each(&r.Places.Bearings, readBearing)
	case "radiuses":
		return each(&r.Places.Radiuses, readRadius)
	case "approaches":
		return each(&r.Places.Approaches, readApproach)
	case "hints":
		return r.readHints
	case "exclude":
		return r.readExclude
	case "generate_hints":
		return boolean(&r.Hints)
	case "skip_waypoints":
		return boolean(&r.SkipWaypoints)
	case "snapping":
		return words(&r.Places.AnyRoad, []string{"default", "any"}, false, true)
	}
	return nil
}

// routeOption returns the option of routes and matchings with a name, including those of Mapbox's form (D15.18).
func routeOption(r *Request, name string) option {
	switch name {
	case "waypoints":
		return indexes(&r.Waypoints)
	case "steps":
		return boolean(&r.Steps)
	case "geometries":
		return parsed(&r.Geometries, geometriesOf)
	case "overview":
		return parsed(&r.Overview, overviewOf)
	case "annotations":
		return r.readAnnotations
	case "banner_instructions":
		return boolean(&r.Banners)
	case "voice_instructions":
		return boolean(&r.Voice)
	case "roundabout_exits":
		return words(&r.JoinExits, []string{"true", "false"}, false, true)
	case "voice_units":
		return words(&r.Imperial, []string{"metric", "imperial"}, false, true)
	case "language":
		return r.readLanguage
	}
	return nil
}

func tableOption(r *Request, name string) option {
	switch name {
	case "sources":
		return orAll(&r.Sources)
	case "destinations":
		return orAll(&r.Destinations)
	case "annotations":
		return r.readAnnotations
	case "fallback_speed":
		return positive(&r.FallbackSpeed)
	case "scale_factor":
		return positive(&r.Scale)
	case "fallback_coordinate":
		return words(&r.FallbackSnapped, []string{"input", "snapped"}, false, true)
	}
	return nil
}

func boolean(to *bool) option { return words(to, []string{"true", "false"}, true, false) }

func words[T any](to *T, names []string, values ...T) option {
	return parsed(to, func(word string) (T, bool) { return find(word, names, values...) })
}

// parsed reads one word.
func parsed[T any](to *T, parse func(word string) (T, bool)) option {
	return func(c *cursor) error {
		from := c.at
		v, ok := parse(c.word())
		if !ok {
			c.at = from
			c.fail()
			return nil
		}
		*to = v
		return nil
	}
}

// each reads a list with a value for each coordinate, which may be empty.
func each[T any](to *[]T, read func(c *cursor) T) option {
	return func(c *cursor) error {
		*to = nil
		c.list(";", func() bool {
			v := read(c)
			if !c.failed {
				*to = append(*to, v)
			}
			return !c.failed
		})
		return nil
	}
}

// atEnd reports whether an element of a list is empty.
func (c *cursor) atEnd() bool {
	return c.at == len(c.text) || c.text[c.at] == ';' || c.text[c.at] == '&'
}

func readBearing(c *cursor) nav.Bearing {
	if c.atEnd() {
		return nav.Bearing{}
	}
	from := c.at
	negative := c.take("-")
	value, ok := c.whole(math.MaxInt16)
	if !ok || !c.take(",") {
		c.at = max(c.at, from)
		c.fail()
		return nav.Bearing{}
	}
	reach, ok := c.whole(math.MaxInt16)
	if !ok {
		c.fail()
	}
	if negative {
		value = -value
	}
	return nav.Bearing{Given: true, Value: float64(value), Range: float64(reach)}
}

func readRadius(c *cursor) float64 {
	if c.atEnd() || c.take("unlimited") {
		return nav.Unlimited
	}
	v, ok := c.number()
	if !ok {
		c.fail()
	}
	if v < 0 {
		v = math.Inf(-1) // not a valid radius, and not Unlimited either
	}
	return v
}

func readApproach(c *cursor) (a nav.Approach) {
	if !c.atEnd() {
		_ = parsed(&a, approachOf)(c)
	}
	return a
}

// readHints reads hints. They are accepted and ignored, because places are found as fast without them.
func (r *Request) readHints(c *cursor) error {
	r.hints = 0
	c.list(";", func() bool {
		c.span(func(b byte) bool {
			return isDigit(b) || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '-' || b == '_' || b == '='
		})
		r.hints++
		return true
	})
	return nil
}

func (r *Request) readExclude(c *cursor) (err error) {
	r.Places.Exclude = 0
	c.list(",", func() bool {
		name := c.word()
		if name == "" {
			return false
		}
		if wrong := r.exclude(name); wrong != nil && err == nil {
			err = wrong
		}
		return true
	})
	return err
}

func (r *Request) readAlternatives(c *cursor) error {
	if v, ok := c.whole(math.MaxInt32); ok {
		r.Alternatives = int(v)
		return nil
	}
	return words(&r.Alternatives, []string{"true", "false"}, 1, 0)(c)
}

func (r *Request) readStraight(c *cursor) error {
	return words(&r.Straight, []string{"default", "true", "false"}, nav.StraightByDefault, nav.AlwaysStraight, nav.TurnsAllowed)(c)
}

func (r *Request) readAnnotations(c *cursor) error {
	if r.Service != Table {
		if c.take("true") {
			r.Annotations |= allOfRoutes
			return nil
		}
		if c.take("false") {
			return nil
		}
	}
	var all Annotations
	c.list(",", func() bool {
		var one Annotations
		_ = parsed(&one, r.annotationOf)(c)
		all |= one
		return !c.failed
	})
	if r.Service == Table {
		r.Annotations = all
	} else {
		r.Annotations |= all
	}
	return nil
}

func indexes(to *[]int) option {
	return func(c *cursor) error {
		*to = nil
		c.list(";", func() bool {
			v, ok := c.whole(math.MaxInt32)
			if ok {
				*to = append(*to, int(v))
			}
			return ok
		})
		return nil
	}
}

func orAll(to *[]int) option {
	return func(c *cursor) error {
		if c.take("all") {
			*to = nil
			return nil
		}
		return indexes(to)(c)
	}
}

// positive reads a number that must exceed 0; Check refuses other numbers.
func positive(to *float64) option {
	return func(c *cursor) error {
		v, ok := c.number()
		if !ok {
			c.fail()
		}
		*to = v
		if ok && v <= 0 {
			*to = -1
		}
		return nil
	}
}

func (r *Request) readTimestamps(c *cursor) error {
	r.Timestamps = nil
	c.list(";", func() bool {
		v, ok := c.whole(math.MaxUint32)
		if ok {
			r.Timestamps = append(r.Timestamps, v)
		}
		return ok
	})
	return nil
}

func (r *Request) readNumber(c *cursor) error {
	v, ok := c.whole(math.MaxInt32)
	if !ok {
		c.fail()
	}
	r.Number = int(v)
	return nil
}

// readLanguage reads a language tag. The sentences are in English if there are none in that language.
func (r *Request) readLanguage(c *cursor) error {
	if r.Language = c.span(func(b byte) bool {
		return isDigit(b) || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '-' || b == '_'
	}); r.Language == "" {
		c.fail()
	}
	return nil
}
