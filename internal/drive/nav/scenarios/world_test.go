package scenarios

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/osmpbf"
)

// world is the result of the steps of a scenario: roads with their letters, options, and the tables to run. Positions
// are the scenario's own; a frame moves them to where they are drawn.
type world struct {
	*scenario
	grid    float64 // metres
	origin  geo.Point
	options map[string]string

	names     []string // of nodes, in order
	places    map[string]geo.Point
	nodes     map[string]*osmpbf.Node // by letter
	ways      []wayDrawn
	relations []relationDrawn
	removed   map[string]bool // nodes that ways refer to and that are missing from the extract

	left      bool // traffic drives on the left, unless a way is tagged otherwise
	leftAreas bool // traffic drives on the left within two degrees of the origin's corner

	tables []stepRead // with rows to run
	rows   []frame
	frame  frame
	skip   string // why the scenario cannot be compared

	vehicle string
}

// wayDrawn is a way by the letters of its nodes.
type wayDrawn struct {
	nodes string
	id    int64
	tags  [][2]string
}

// relationDrawn is a relation whose members are letters.
type relationDrawn struct {
	members []memberDrawn
	tags    [][2]string
	id      int64
	name    string
}

type memberDrawn struct {
	kind       osmpbf.Types
	name, role string
}

// The defaults of a scenario.
const (
	defaultGrid = 100 // metres
	wayNodes    = 5   // of a way in a table that checks whether cars may use it
)

func newWorld(s *scenario) (*world, error) {
	w := &world{
		scenario: s, grid: defaultGrid, origin: geo.Point{Lng: 1, Lat: 1}, options: map[string]string{},
		places: map[string]geo.Point{}, nodes: map[string]*osmpbf.Node{}, removed: map[string]bool{},
	}
	if slices.Contains(s.Tags, "@todo") {
		w.skip = "its own project does not run it"
	}
	profile := "bicycle" // that project's default
	for i := range s.Steps {
		step := &s.Steps[i]
		if name, ok := strings.CutPrefix(step.Text, `the profile "`); ok {
			profile = strings.TrimSuffix(name, `"`)
			continue
		}
		if rest, ok := strings.CutPrefix(step.Text, `the profile file "`); ok {
			profile, _, _ = strings.Cut(rest, `"`)
			w.profileFile(step.Doc)
			continue
		}
		if err := w.step(step); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", s.File, step.Line, err)
		}
	}
	if w.vehicle = profile; vehicles[profile] == nil && w.skip == "" {
		w.skip = "another vehicle: " + profile
	}
	return w, nil
}

var number = regexp.MustCompile(`[-+]?[0-9]*\.?[0-9]+`)

// step processes one step.
func (w *world) step(s *stepRead) (err error) {
	switch text := s.Text; {
	case strings.HasPrefix(text, "a grid size of"):
		w.grid, err = strconv.ParseFloat(number.FindString(text), 64)
	case strings.HasPrefix(text, "the origin"):
		both := number.FindAllString(text, 2)
		w.origin.Lng, err = strconv.ParseFloat(both[0], 64)
		if err == nil {
			w.origin.Lat, err = strconv.ParseFloat(both[1], 64)
		}
	case text == "the node map":
		w.nodeMap(s.Doc)
	case text == "the node locations":
		err = w.nodeLocations(s)
	case text == "the nodes":
		err = w.nodeTags(s)
	case text == "the ways" || text == "the ways with locations":
		err = w.addWays(s)
	case text == "the relations":
		err = w.addRelations(s)
	case text == "the query options":
		for _, row := range s.Table {
			w.options[row[0]] = row[1]
		}
	case strings.HasSuffix(text, "is removed from OSM data"):
		w.removed[strings.Split(text, `"`)[1]] = true
	case text == "skip waypoints":
		w.options["skip_waypoints"] = "true"
	case strings.HasPrefix(text, "data is loaded"): // always done
	case strings.HasPrefix(text, "I ") || strings.HasPrefix(text, "routability should be"):
		w.tables = append(w.tables, *s)
	case strings.Contains(text, "extra arguments"):
		w.arguments(text)
	case text == "the speed file", text == "the turn penalty file":
		w.skip = "a file of speeds or turn penalties"
	default:
		w.skip = "a step that is not read: " + text
	}
	return err
}

// arguments reads the arguments of the programs that prepare the data.
func (w *world) arguments(text string) {
	switch {
	case strings.Contains(text, "parse-conditional"):
		w.skip = "restrictions that count at times alone (D15.9)"
	case strings.Contains(text, "location-dependent-data"):
		w.leftAreas = true
	case strings.Contains(text, "speed-file") || strings.Contains(text, "penalty-file"):
		w.skip = "a file of speeds or turn penalties"
	}
}

// profileFile checks a scenario's changes of a profile. A scenario can be compared if the changes state the properties
// of our car, or its driving side.
func (w *world) profileFile(lua string) {
	for line := range strings.SplitSeq(lua, "\n") {
		switch line = strings.Join(strings.Fields(line), " "); line {
		case "", "profile.vehicle_max_speed = nil", "profile.cardinal_directions = false", "profile.turn_bias = 1.075":
		case "profile.properties.left_hand_driving = true", "profile.left_hand_driving = true":
			w.left = true
		default:
			w.skip = "a profile that is not our car's"
		}
	}
}

// nodeMap reads a drawing: a character is half a cell wide and a cell high.
func (w *world) nodeMap(drawing string) {
	for row, line := range strings.Split(drawing, "\n") {
		for column, letter := range []rune(line) {
			if letter >= 'a' && letter <= 'z' || letter >= '0' && letter <= '9' {
				w.place(string(letter), w.offset(float64(column)/2, -float64(row)))
			}
		}
	}
}

// place adds a letter, which is a node, or a digit, which is not.
func (w *world) place(name string, at geo.Point) {
	if _, twice := w.places[name]; !twice {
		w.names = append(w.names, name)
	}
	w.places[name] = at
	if name[0] >= 'a' {
		w.nodes[name] = &osmpbf.Node{Tags: osmpbf.Tags{{Key: "name", Value: name}}}
	}
}

// offset returns the place x cells east and y cells north of the origin.
func (w *world) offset(x, y float64) geo.Point {
	east, north := metresOfDegrees(w.origin.Lat)
	return geo.Point{Lng: w.origin.Lng + x*w.grid/east, Lat: w.origin.Lat + y*w.grid/north}
}

// metresOfDegrees returns the length of a degree east and of a degree north at a latitude, on the ellipsoid.
func metresOfDegrees(lat float64) (east, north float64) {
	const radius, flattening = 6378137, 1 / 298.257223563
	const e2 = flattening * (2 - flattening)
	cos := math.Cos(lat * math.Pi / 180)
	w2 := 1 / (1 - e2*(1-cos*cos))
	w := math.Sqrt(w2)
	const m = radius * math.Pi / 180
	return m * w * cos, m * w * w2 * (1 - e2)
}

func (w *world) nodeLocations(s *stepRead) error {
	for _, row := range hashes(s.Table) {
		lat, badLat := strconv.ParseFloat(row["lat"], 64)
		lng, badLng := strconv.ParseFloat(row["lon"], 64)
		if badLat != nil || badLng != nil {
			return fmt.Errorf("node %q has no position", row["node"])
		}
		w.place(row["node"], geo.Point{Lat: lat, Lng: lng})
	}
	return nil
}

func (w *world) nodeTags(s *stepRead) error {
	for _, cells := range s.Table[1:] {
		node := w.nodes[cells[0]]
		if node == nil {
			return fmt.Errorf("node %q is not on the map", cells[0])
		}
		for i, key := range s.Table[0] {
			if key != "node" && key != "id" && i < len(cells) {
				node.Tags = append(node.Tags, osmpbf.Tag{Key: key, Value: cells[i]})
			}
		}
	}
	return nil
}

func (w *world) addWays(s *stepRead) error {
	for _, row := range hashes(s.Table) {
		nodes := row["nodes"]
		for _, letter := range nodes {
			if w.nodes[string(letter)] == nil {
				return fmt.Errorf("way %q: node %q is not on the map", nodes, letter)
			}
		}
		way := wayDrawn{nodes: nodes}
		if _, given := row["highway"]; !given {
			way.tags = append(way.tags, [2]string{"highway", "primary"})
		}
		if _, given := row["name"]; !given {
			way.tags = append(way.tags, [2]string{"name", nodes})
		}
		for _, key := range s.Table[0] {
			value := row[key]
			switch {
			case key == "nodes", key == "highway" && value == "(nil)", key == "name" && (value == "(nil)" || value == "" || value == `""` || value == "''"):
			default:
				way.tags = append(way.tags, [2]string{key, value})
			}
		}
		w.ways = append(w.ways, way)
	}
	return nil
}

// drivesLeft reports whether traffic drives on the left on a way. Where areas decide, the way's last node counts.
func (w *world) drivesLeft(nodes string) bool {
	if !w.leftAreas || nodes == "" {
		return w.left
	}
	last := w.places[nodes[len(nodes)-1:]]
	return last.Lng >= 0 && last.Lng <= 2 && last.Lat >= 0 && last.Lat <= 2
}

// addRelations reads relations: columns are members, by type and role, or tags.
func (w *world) addRelations(s *stepRead) error {
	for _, cells := range s.Table[1:] {
		var r relationDrawn
		for i, value := range cells {
			key := s.Table[0][i]
			kind, role, _ := strings.Cut(key, ":")
			types := map[string]osmpbf.Types{"node": osmpbf.Nodes, "way": osmpbf.Ways, "relation": osmpbf.Relations}[kind]
			if types == 0 {
				r.tags = append(r.tags, [2]string{key, value})
				if strings.Contains(key, "name") {
					r.name = value
				}
				continue
			}
			for name := range strings.SplitSeq(value, ",") {
				r.members = append(r.members, memberDrawn{types, strings.TrimSpace(name), role})
			}
		}
		w.relations = append(w.relations, r)
	}
	return nil
}
