package scenarios

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/cch"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
	"wayside/internal/roads/osmpbf"
)

// frame is the place where a part of the world of a scenario is drawn. It preserves metres, because that project
// measures on the ellipsoid and we measure on the sphere.
type frame struct {
	from, to        geo.Point // the south-west corner
	east, north     float64   // metres per degree there, in the scenario's measure
	toEast, toNorth float64   // and where it is drawn
}

func (f *frame) place(p geo.Point) geo.Point {
	return geo.Point{Lng: f.to.Lng + (p.Lng-f.from.Lng)*f.east/f.toEast, Lat: f.to.Lat + (p.Lat-f.from.Lat)*f.north/f.toNorth}
}

// back returns a place in the scenario's own positions.
func (f *frame) back(p geo.Point) geo.Point {
	return geo.Point{Lng: f.from.Lng + (p.Lng-f.to.Lng)*f.toEast/f.east, Lat: f.from.Lat + (p.Lat-f.to.Lat)*f.toNorth/f.north}
}

// Scenarios are drawn in the Atlantic, where no area drives on the left, so far apart that no place snaps to the next
// scenario.
const (
	westEnd, eastEnd = -45.0, 8.0
	firstLatitude    = -5.0
	apart            = 0.22 // degrees
	widest           = 10.0 // degrees; a scenario that is wider is drawn where it stands
	sphereDegree     = geo.EarthRadius * math.Pi / 180
)

// layout draws worlds side by side into one extract.
type layout struct {
	next  geo.Point // the south-west corner of the next free place
	tall  float64   // of the row, in degrees
	lastN int64
	lastW int64
	lastR int64

	nodes     []osmpbf.Node
	ways      []osmpbf.Way
	relations []osmpbf.Relation
	letters   map[int64]string // of nodes
}

func newLayout() *layout {
	return &layout{next: geo.Point{Lng: westEnd, Lat: firstLatitude}, letters: map[int64]string{}}
}

// frameFor finds a place for positions.
func (l *layout) frameFor(positions []geo.Point) frame {
	f := frame{from: geo.Point{Lng: 1, Lat: 1}}
	if len(positions) > 0 {
		f.from = positions[0]
	}
	far := f.from
	for _, p := range positions {
		f.from.Lng, f.from.Lat = min(f.from.Lng, p.Lng), min(f.from.Lat, p.Lat)
		far.Lng, far.Lat = max(far.Lng, p.Lng), max(far.Lat, p.Lat)
	}
	if far.Lat-f.from.Lat > widest || far.Lng-f.from.Lng > widest {
		return frame{east: 1, north: 1, toEast: 1, toNorth: 1}
	}
	width, height := far.Lng-f.from.Lng+apart, far.Lat-f.from.Lat+apart
	if l.next.Lng+width > eastEnd {
		l.next = geo.Point{Lng: westEnd, Lat: l.next.Lat + l.tall}
		l.tall = 0
	}
	f.to = l.next
	f.east, f.north = metresOfDegrees((f.from.Lat + far.Lat) / 2)
	f.toEast, f.toNorth = sphereDegree*math.Cos(f.to.Lat*math.Pi/180), sphereDegree
	l.next.Lng += width
	l.tall = max(l.tall, height)
	return f
}

// draw adds a world and, for a table that checks whether cars may use a way, a way for each row.
func (l *layout) draw(w *world) error {
	positions := make([]geo.Point, 0, len(w.places))
	for _, name := range w.names {
		positions = append(positions, w.places[name])
	}
	w.frame = l.frameFor(positions)
	if err := l.drawMap(w); err != nil {
		return fmt.Errorf("%s:%d: %w", w.File, w.Line, err)
	}
	for _, table := range w.tables {
		if strings.HasPrefix(table.Text, "routability should be") {
			for i, row := range hashes(table.Table) {
				w.rows = append(w.rows, l.drawRow(w, i, row))
			}
		}
	}
	return nil
}

func nanodegrees(degrees float64) int64 { return int64(math.Round(degrees*1e7)) * 100 }

// node adds a node.
func (l *layout) node(at geo.Point, letter string, tags osmpbf.Tags) int64 {
	l.lastN++
	l.nodes = append(l.nodes, osmpbf.Node{ID: l.lastN, Lat: nanodegrees(at.Lat), Lng: nanodegrees(at.Lng), Tags: tags})
	l.letters[l.lastN] = letter
	return l.lastN
}

func (l *layout) drawMap(w *world) error {
	ids := map[string]int64{}
	for _, name := range w.names {
		if node := w.nodes[name]; node != nil {
			ids[name] = l.node(w.frame.place(w.places[name]), name, node.Tags)
			if w.removed[name] {
				l.nodes = l.nodes[:len(l.nodes)-1]
			}
		}
	}
	for i := range w.ways {
		drawn := &w.ways[i]
		l.lastW++
		drawn.id = l.lastW
		way := osmpbf.Way{ID: drawn.id}
		for _, letter := range drawn.nodes {
			way.Refs = append(way.Refs, ids[string(letter)])
		}
		for _, tag := range drawn.tags {
			way.Tags = append(way.Tags, osmpbf.Tag{Key: tag[0], Value: tag[1]})
		}
		if !slices.ContainsFunc(way.Tags, func(t osmpbf.Tag) bool { return t.Key == "driving_side" }) && w.drivesLeft(drawn.nodes) {
			way.Tags = append(way.Tags, osmpbf.Tag{Key: "driving_side", Value: "left"})
		}
		l.ways = append(l.ways, way)
	}
	for i := range w.relations {
		if err := l.relation(w, &w.relations[i], ids); err != nil {
			return err
		}
	}
	return nil
}

func (l *layout) relation(w *world, drawn *relationDrawn, ids map[string]int64) error {
	l.lastR++
	drawn.id = l.lastR
	r := osmpbf.Relation{ID: drawn.id}
	for _, tag := range drawn.tags {
		r.Tags = append(r.Tags, osmpbf.Tag{Key: tag[0], Value: tag[1]})
	}
	for _, m := range drawn.members {
		member := osmpbf.Member{Type: m.kind, Role: m.role}
		switch m.kind {
		case osmpbf.Nodes:
			member.Ref = ids[m.name]
		case osmpbf.Ways:
			member.Ref = w.wayNamed(m.name)
		default:
			for _, other := range w.relations {
				if other.name == m.name {
					member.Ref = other.id
				}
			}
		}
		if member.Ref == 0 {
			return fmt.Errorf("there is no %q for a relation", m.name)
		}
		r.Members = append(r.Members, member)
	}
	l.relations = append(l.relations, r)
	return nil
}

// wayNamed returns the last drawn way over these letters, or over their reverse.
func (w *world) wayNamed(name string) int64 {
	letters := []byte(name)
	slices.Reverse(letters)
	for _, wanted := range [...]string{name, string(letters)} {
		for _, way := range slices.Backward(w.ways) {
			if way.nodes == wanted {
				return way.id
			}
		}
	}
	return 0
}

// drawRow draws the way of a row of tags.
func (l *layout) drawRow(w *world, i int, row map[string]string) frame {
	var positions []geo.Point
	for n := range wayNodes {
		positions = append(positions, w.offset(float64(n), 0))
	}
	f := l.frameFor(positions)
	tags := osmpbf.Tags{}
	var nodeTags osmpbf.Tags
	if row["highway"] == "" {
		tags = append(tags, osmpbf.Tag{Key: "highway", Value: "primary"})
	}
	for _, key := range slices.Sorted(mapKeys(row)) {
		value := row[key]
		column, onNode := strings.CutPrefix(key, "node/")
		switch {
		case value == "" || value == "(nil)" || isResult(key):
		case onNode:
			nodeTags = append(nodeTags, osmpbf.Tag{Key: column, Value: value})
		default:
			tags = append(tags, osmpbf.Tag{Key: key, Value: value})
		}
	}
	tags = append(tags, osmpbf.Tag{Key: "name", Value: "w" + strconv.Itoa(i)})
	l.lastW++
	way := osmpbf.Way{ID: l.lastW, Tags: tags}
	for n, at := range positions {
		of := osmpbf.Tags(nil)
		if n == 2 {
			of = nodeTags
		}
		way.Refs = append(way.Refs, l.node(f.place(at), string(rune('a'+n)), of))
	}
	l.ways = append(l.ways, way)
	return f
}

// isResult reports whether a column of such a table is a result.
func isResult(key string) bool {
	for _, direction := range directions {
		if rest, ok := strings.CutPrefix(key, direction); ok && (rest == "" || !isLetter(rest[0])) {
			return true
		}
	}
	return strings.HasPrefix(key, "forw_") || strings.HasPrefix(key, "backw_") || strings.HasPrefix(key, "bothw_")
}

func isLetter(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

// network builds the network of everything that was drawn, as an import and a running service do.
func (l *layout) network(ctx context.Context, vehicle string) (*nav.Service, error) {
	if l.next.Lat+l.tall > 4 {
		return nil, fmt.Errorf("the scenarios reach %.1f degrees north, where there is land", l.next.Lat+l.tall)
	}
	content, err := l.extract()
	if err != nil {
		return nil, err
	}
	file, err := osmpbf.Open(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return nil, err
	}
	profile, err := vehicles[vehicle]()
	if err != nil {
		return nil, err
	}
	g, _, err := graph.Build(ctx, []*osmpbf.File{file}, profile, graph.BuildOptions{})
	if err != nil {
		return nil, err
	}
	topology, err := cch.Prepare(ctx, g, cch.PrepareOptions{})
	if err != nil {
		return nil, err
	}
	live, err := nav.NewLive(ctx, nav.NewRoads(g, match.NewIndex(g), "scenarios"), topology)
	if err != nil {
		return nil, err
	}
	return nav.New(live.Network), nil
}

// extract writes all objects.
func (l *layout) extract() ([]byte, error) {
	var out bytes.Buffer
	w, err := osmpbf.NewWriter(&out, osmpbf.WriterOptions{})
	if err != nil {
		return nil, err
	}
	for i := 0; err == nil && i < len(l.nodes); i++ {
		err = w.Node(l.nodes[i])
	}
	for i := 0; err == nil && i < len(l.ways); i++ {
		err = w.Way(l.ways[i])
	}
	for i := 0; err == nil && i < len(l.relations); i++ {
		err = w.Relation(l.relations[i])
	}
	if err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}
