package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// Bounds of the used parts of an answer. The client bounds the bytes of the whole.
const (
	maxText   = 500       // bytes of one text
	maxWord   = 40        // bytes of a type, a modifier and the like
	maxNumber = 1e11      // seconds, metres and the like
	maxSteps  = 20_000    // in a route
	maxLine   = 1_000_000 // positions in a route
)

// answer is the answer of an engine, in OSRM's form. The same types are used for reading and writing.
type answer struct {
	Code        word       `json:"code"`
	Message     text       `json:"message,omitempty"`
	Routes      []route    `json:"routes,omitempty"`
	Matchings   []route    `json:"matchings,omitempty"`
	Waypoints   []waypoint `json:"waypoints,omitempty"`
	Tracepoints []*trace   `json:"tracepoints,omitempty"`

	Durations    [][]*number `json:"durations,omitempty"`
	Distances    [][]*number `json:"distances,omitempty"`
	Sources      []waypoint  `json:"sources,omitempty"`
	Destinations []waypoint  `json:"destinations,omitempty"`
	Fallback     [][2]int    `json:"fallback_speed_cells,omitempty"`

	DataVersion text `json:"data_version,omitempty"`
}

type route struct {
	Geometry    *line   `json:"geometry,omitempty"`
	Legs        []leg   `json:"legs"`
	VoiceLocale word    `json:"voiceLocale,omitempty"`
	Distance    number  `json:"distance"`
	Duration    number  `json:"duration"`
	Weight      number  `json:"weight"`
	WeightName  word    `json:"weight_name"`
	Confidence  *number `json:"confidence,omitempty"`
	Wayside     *about  `json:"wayside,omitempty"`

	driven *nav.Driven
}

// about is this service's own data about a route (D15.18).
type about struct {
	Engine        string   `json:"engine"`
	WeightMS      uint64   `json:"weight_ms"`
	DurationMS    uint64   `json:"duration_ms"`
	FreeFlowMS    uint64   `json:"free_flow_ms"`
	MetricVersion uint64   `json:"metric_version"`
	Conditions    []string `json:"conditions"`
	Avoided       []string `json:"avoided"`
	Warnings      []string `json:"warnings"`
}

type leg struct {
	Steps      []step      `json:"steps"`
	Distance   number      `json:"distance"`
	Duration   number      `json:"duration"`
	Summary    text        `json:"summary"`
	Weight     number      `json:"weight"`
	Geometry   *line       `json:"geometry,omitempty"`
	Annotation *annotation `json:"annotation,omitempty"`

	line []graph.Position
}

type annotation struct {
	Distance    []number  `json:"distance,omitempty"`
	Duration    []number  `json:"duration,omitempty"`
	Weight      []number  `json:"weight,omitempty"`
	Speed       []number  `json:"speed,omitempty"`
	Datasources []int     `json:"datasources,omitempty"`
	Nodes       []int64   `json:"nodes,omitempty"`
	Metadata    *metadata `json:"metadata,omitempty"`
}

type metadata struct {
	Names []text `json:"datasource_names"`
}

type step struct {
	Geometry            *line          `json:"geometry,omitempty"`
	Maneuver            maneuver       `json:"maneuver"`
	Mode                word           `json:"mode"`
	DrivingSide         word           `json:"driving_side"`
	Name                text           `json:"name"`
	Ref                 text           `json:"ref,omitempty"`
	Destinations        text           `json:"destinations,omitempty"`
	Exits               text           `json:"exits,omitempty"`
	Pronunciation       text           `json:"pronunciation,omitempty"`
	RotaryName          text           `json:"rotary_name,omitempty"`
	RotaryPronunciation text           `json:"rotary_pronunciation,omitempty"`
	Intersections       []intersection `json:"intersections"`
	Weight              number         `json:"weight"`
	Duration            number         `json:"duration"`
	Distance            number         `json:"distance"`
	Voice               []announcement `json:"voiceInstructions,omitempty"`
	Banners             []banner       `json:"bannerInstructions,omitempty"`
}

type maneuver struct {
	BearingAfter  number   `json:"bearing_after"`
	BearingBefore number   `json:"bearing_before"`
	Exit          int      `json:"exit,omitempty"`
	Location      position `json:"location"`
	Modifier      word     `json:"modifier,omitempty"`
	Type          word     `json:"type"`
	Instruction   text     `json:"instruction,omitempty"`
}

type intersection struct {
	Out      *int     `json:"out,omitempty"`
	In       *int     `json:"in,omitempty"`
	Entry    []bool   `json:"entry"`
	Bearings []number `json:"bearings"`
	Location position `json:"location"`
	Lanes    []lane   `json:"lanes,omitempty"`
	Classes  []word   `json:"classes,omitempty"`
}

type lane struct {
	Valid           bool   `json:"valid"`
	ValidIndication word   `json:"valid_indication,omitempty"`
	Indications     []word `json:"indications"`
}

type announcement struct {
	At   number `json:"distanceAlongGeometry"`
	Text text   `json:"announcement"`
	SSML text   `json:"ssmlAnnouncement,omitempty"`
}

type banner struct {
	At        number `json:"distanceAlongGeometry"`
	Primary   *shown `json:"primary"`
	Secondary *shown `json:"secondary"`
	Sub       *shown `json:"sub,omitempty"`
}

type shown struct {
	Text        text        `json:"text"`
	Type        word        `json:"type,omitempty"`
	Modifier    word        `json:"modifier,omitempty"`
	Degrees     *number     `json:"degrees,omitempty"`
	DrivingSide word        `json:"driving_side,omitempty"`
	Components  []component `json:"components"`
}

type component struct {
	Text       text   `json:"text"`
	Type       word   `json:"type"`
	Directions []word `json:"directions,omitempty"`
	Active     *bool  `json:"active,omitempty"`
	Direction  word   `json:"active_direction,omitempty"`
}

type waypoint struct {
	Location position `json:"location"`
	Name     text     `json:"name"`
	Distance number   `json:"distance"`
	Nodes    []int64  `json:"nodes,omitempty"`
}

type trace struct {
	waypoint
	Matching     int  `json:"matchings_index"`
	Waypoint     *int `json:"waypoint_index"`
	Alternatives int  `json:"alternatives_count"`
}

// text is a text for display: valid, of one line, of bounded length, and without control characters.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return errUnreadable
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "")
	}
	*t = text(s)
	return nil
}

// word is a name defined by a format, such as that of a maneuver. An impossible name is left out.
type word string

func (w *word) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return errUnreadable
	}
	if *w = ""; len(s) <= maxWord && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _-") == "" {
		*w = word(s)
	}
	return nil
}

// number is a measure, neither negative nor unreasonably large.
type number float64

func (n *number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil || !(math.Abs(v) <= maxNumber) {
		return errUnreadable
	}
	*n = number(max(0, v))
	return nil
}

// MarshalJSON writes at most three decimals.
func (n number) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, math.Round(float64(n)*1000)/1000, 'f', -1, 64), nil
}

func (n number) milliseconds() uint64 { return uint64(math.Round(float64(n) * 1000)) }

// position is a place as [longitude, latitude].
type position graph.Position

func (p *position) UnmarshalJSON(b []byte) error {
	var pair []float64
	if err := json.Unmarshal(b, &pair); err != nil || len(pair) < 2 || len(pair) > 3 { // a height may follow
		return errUnreadable
	}
	at := geo.Point{Lng: pair[0], Lat: pair[1]}
	if !at.Valid() {
		return errUnreadable
	}
	*p = position(nav.PositionOf(at))
	return nil
}

// MarshalJSON writes at most six decimals of a degree.
func (p position) MarshalJSON() ([]byte, error) {
	b := append([]byte(nil), '[')
	b = strconv.AppendFloat(b, math.Round(float64(p.Lng)/10)/1e6, 'f', -1, 64)
	b = strconv.AppendFloat(append(b, ','), math.Round(float64(p.Lat)/10)/1e6, 'f', -1, 64)
	return append(b, ']'), nil
}

// line is the geometry of a route. It is read as a polyline of six digits or as GeoJSON, and written in the form that is
// set.
type line struct {
	positions []graph.Position
	form      osrm.Geometries
}

func (l *line) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '{' {
		var object struct {
			Type        string     `json:"type"`
			Coordinates []position `json:"coordinates"`
		}
		if err := json.Unmarshal(b, &object); err != nil || object.Type != "LineString" {
			return errUnreadable
		}
		l.positions = make([]graph.Position, len(object.Coordinates))
		for i, p := range object.Coordinates {
			l.positions[i] = graph.Position(p)
		}
		return nil
	}
	var encoded string
	if err := json.Unmarshal(b, &encoded); err != nil {
		return errUnreadable
	}
	points, err := osrm.ParsePolyline(encoded, osrm.Precision6)
	if err != nil {
		return errUnreadable
	}
	l.positions = make([]graph.Position, len(points))
	for i, at := range points {
		if !at.Valid() {
			return errUnreadable
		}
		l.positions[i] = nav.PositionOf(at)
	}
	return nil
}

// MarshalJSON writes the line in its form.
func (l *line) MarshalJSON() ([]byte, error) {
	positions := l.positions
	if len(positions) == 1 { // a line has two positions
		positions = []graph.Position{positions[0], positions[0]}
	}
	return osrm.AppendGeometry(nil, l.form, positions), nil
}

// errUnreadable is the error for an answer that does not conform to the engine's documentation.
var errUnreadable = errors.New("the engine's answer cannot be read")

// decode decodes an answer in OSRM's form.
func decode(body []byte) (*answer, error) {
	a := new(answer)
	if err := json.Unmarshal(body, a); err != nil {
		return nil, errUnreadable
	}
	return a, nil
}

// checkRoutes refuses routes that do not match the request, and sets the line of each leg.
func checkRoutes(routes []route, legs int) error {
	for i := range routes {
		r := &routes[i]
		if legs > 0 && len(r.Legs) != legs || len(r.Legs) == 0 || r.Geometry == nil || len(r.Geometry.positions) == 0 {
			return fmt.Errorf("%w: a route does not have the legs that were asked for", errUnreadable)
		}
		steps, positions := 0, len(r.Geometry.positions)
		for k := range r.Legs {
			l := &r.Legs[k]
			steps += len(l.Steps)
			l.line = l.line[:0]
			for s := range l.Steps {
				if g := l.Steps[s].Geometry; g != nil {
					l.line = append(l.line, g.positions...)
				}
			}
			positions += len(l.line)
		}
		if steps > maxSteps || positions > 2*maxLine {
			return fmt.Errorf("%w: a route is too large", errUnreadable)
		}
		if len(r.Legs) == 1 {
			r.Legs[0].line = r.Geometry.positions
		}
	}
	return nil
}
