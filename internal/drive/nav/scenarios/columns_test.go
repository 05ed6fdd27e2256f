package scenarios

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
)

func mapKeys(m map[string]string) func(yield func(string) bool) { return maps.Keys(m) }

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// list joins a value of each step of a route.
func (r *route) list(of func(s *step) string) string {
	var texts []string
	for i := range r.Legs {
		for k := range r.Legs[i].Steps {
			texts = append(texts, of(&r.Legs[i].Steps[k]))
		}
	}
	return strings.Join(texts, ",")
}

func (r *route) summaries() string {
	var texts []string
	for i := range r.Legs {
		texts = append(texts, r.Legs[i].Summary)
	}
	return strings.Join(texts, ";")
}

// names returns the names of the steps of a route.
func (r *route) names() string { return r.list(func(s *step) string { return s.Name }) }

// perStep are the columns that list a value of each step.
var perStep = map[string]func(s *step) string{
	"route":          func(s *step) string { return s.Name },
	"ref":            func(s *step) string { return s.Ref },
	"pronunciations": func(s *step) string { return s.Pronunciation },
	"destinations":   func(s *step) string { return s.Destinations },
	"exits":          func(s *step) string { return s.Exits },
	"modes":          func(s *step) string { return s.Mode },
	"driving_side":   func(s *step) string { return s.Side },
	"times":          func(s *step) string { return decimal(s.Duration) + "s" },
	"distances":      func(s *step) string { return decimal(s.Distance) + "m" },
	"weights":        func(s *step) string { return decimal(s.Weight) },
	"turns":          turnOf,
	"bearing":        bearingOf,
	"lanes":          lanesOf,
	"classes":        classesOf,
	"approach":       func(*step) string { return "" },
}

func turnOf(s *step) string {
	m := &s.Maneuver
	exit := "undefined"
	if m.Exit != nil {
		exit = strconv.Itoa(*m.Exit)
	}
	modifier := m.Modifier
	if modifier == "" {
		modifier = "undefined"
	}
	switch m.Type {
	case "depart", "arrive":
		return m.Type
	case "roundabout":
		return "roundabout-exit-" + exit
	case "rotary":
		if s.Rotary != nil {
			return *s.Rotary + "-exit-" + exit
		}
		return "rotary-exit-" + exit
	case "roundabout turn":
		return "roundabout turn " + modifier + " exit-" + exit
	}
	return m.Type + " " + modifier
}

func bearingOf(s *step) string {
	if len(s.Intersections) == 0 {
		return ""
	}
	i := &s.Intersections[0]
	in, out := 0, 0
	if i.In != nil {
		in = i.Bearings[*i.In]
		if in >= 180 {
			in -= 180
		} else {
			in += 180
		}
	}
	if i.Out != nil {
		out = i.Bearings[*i.Out]
	}
	return fmt.Sprintf("%d->%d", in, out)
}

func lanesOf(s *step) string {
	var texts []string
	for i := range s.Intersections {
		var lanes []string
		for _, l := range s.Intersections[i].Lanes {
			lanes = append(lanes, strings.Join(l.Indications, ";")+":"+strconv.FormatBool(l.Valid))
		}
		texts = append(texts, strings.Join(lanes, " "))
	}
	return strings.Join(texts, ";")
}

func classesOf(s *step) string {
	var texts []string
	for i := range s.Intersections {
		texts = append(texts, "("+strings.Join(s.Intersections[i].Classes, ",")+")")
	}
	return "[" + strings.Join(texts, ",") + "]"
}

func (r *route) intersections() string {
	var steps []string
	for i := range r.Legs {
		for k := range r.Legs[i].Steps {
			var texts []string
			for _, at := range r.Legs[i].Steps[k].Intersections {
				var roads []string
				for n := range at.Bearings {
					roads = append(roads, fmt.Sprintf("%t:%d", at.Entry[n], at.Bearings[n]))
				}
				texts = append(texts, strings.Join(roads, " "))
			}
			steps = append(steps, strings.Join(texts, ","))
		}
	}
	return strings.Join(steps, ";")
}

// letterAt returns the node of a scenario at a place, or an underscore if there is none.
func (w *world) letterAt(at geo.Point) string {
	within := w.grid * 0.8990679362704610899694577444566908445396483347536032203503e-5 / 4
	for _, name := range w.names {
		p := w.places[name]
		if w.nodes[name] != nil && math.Abs(p.Lat-at.Lat) <= within && math.Abs(p.Lng-at.Lng) <= within {
			return name
		}
	}
	return "_"
}

func (w *world) locations(r *route) string {
	return r.list(func(s *step) string {
		return w.letterAt(w.frame.back(geo.Point{Lng: s.Maneuver.Location[0], Lat: s.Maneuver.Location[1]}))
	})
}

// annotation joins one annotation of all legs.
func (k *asker) annotation(r *route, name string) string {
	var legs []string
	for i := range r.Legs {
		var values []float64
		if err := json.Unmarshal(r.Legs[i].Annotation[name], &values); err != nil {
			return ""
		}
		var texts []string
		for _, v := range values {
			text := decimal(v)
			if name == "nodes" {
				text = k.letters[int64(v)]
			}
			texts = append(texts, text)
		}
		legs = append(legs, strings.Join(texts, map[bool]string{true: "", false: ":"}[name == "nodes"]))
	}
	return strings.Join(legs, ",")
}

// line returns the geometry of a route in the scenario's own positions.
func (w *world) line(raw json.RawMessage) []geo.Point {
	var form struct {
		Coordinates [][2]float64 `json:"coordinates"`
	}
	var line []geo.Point
	if json.Unmarshal(raw, &form) == nil {
		for _, c := range form.Coordinates {
			line = append(line, w.frame.back(geo.Point{Lng: c[0], Lat: c[1]}))
		}
		return line
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return nil
	}
	for _, p := range decodeLine(text) {
		line = append(line, w.frame.back(p))
	}
	return line
}

func decodeLine(text string) []geo.Point {
	q, err := osrm.ParseURL(osrm.Match, "polyline("+text+")", 0)
	if err != nil {
		return nil
	}
	return q.Places.Coordinates
}

// samePlaces compares a line with a cell that contains one, encoded or as numbers.
func (w *world) samePlaces(raw json.RawMessage, want string) (string, bool) {
	got := w.line(raw)
	var expected []geo.Point
	if numbers := strings.Split(want, ","); len(numbers)%2 == 0 && !math.IsNaN(leading(want)) {
		for pair := range slices.Chunk(numbers, 2) {
			expected = append(expected, geo.Point{Lng: leading(pair[0]), Lat: leading(pair[1])})
		}
	} else {
		expected = decodeLine(want)
	}
	const within = 1.5e-5 // error of encoding to five digits twice
	same := len(got) == len(expected)
	for i := 0; same && i < len(got); i++ {
		same = math.Abs(got[i].Lat-expected[i].Lat) <= within && math.Abs(got[i].Lng-expected[i].Lng) <= within
	}
	return fmt.Sprintf("%.6f", got), same
}
