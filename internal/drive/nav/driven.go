package nav

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
	"wayside/internal/roads/match"
)

// Driven describes the roads with conditions that a way uses. The way may come from another program: then it is a line,
// which is matched to the network near those roads.
type Driven struct {
	Closures     []Closure // closed roads that are driven from one end to the other, in the order of the way
	EndsOnClosed bool      // the way begins or ends on a closed road, which is allowed (D15.16)
	Conditions   []string  // entities on the way
	Delay        uint64    // ms that conditions on the way cost, not counting closures
	Partial      bool      // the way was too long, so a part of it was not checked
}

// Closure is a closed arc that a way drives from one end to the other.
type Closure struct {
	Arc        uint32
	Line       []graph.Position // in the direction of the arc
	Street     string           // name or reference; may be empty
	EntityIDs  []string         // of the closing entities
	Since      time.Time        // zero: unknown
	Leg        int
	Begin, End float64 // metres from the beginning of the leg
}

// Parameters of matching a line to the arcs with conditions.
const (
	maxDrivenMetres = 20_000_000.0 // of a line
	maxWindows      = 40           // number of stretches of a line that are matched
	windowPositions = MaxTrace     // in a stretch that is matched in one part
	usualStep       = 25.0         // metres between positions
	windowMargin    = 150.0        // metres before and after a window
	longestPiece    = 50.0         // metres of a line that are compared with arcs in one step
	besideMetres    = 20.0         // maximum metres between a line and an arc of the same road
	besideAngle     = 60.0         // maximum degrees between their directions
	endMetres       = 1.0          // of an arc that may be missing when it counts as driven from one end to the other
)

// Driven returns the conditions on the legs of a way. Each leg is a line in the direction of travel.
func (n *Network) Driven(ctx context.Context, legs [][]graph.Position) (*Driven, error) {
	d := &driven{Network: n}
	if n.Conditions == nil || n.Conditions.None() {
		return &d.found, nil
	}
	cells := n.middlesNow()
	for i, line := range legs {
		if err := d.leg(ctx, i, line, cells); err != nil {
			return nil, err
		}
	}
	d.found.Conditions = d.on.ids
	return &d.found, nil
}

type driven struct {
	*Network
	found   Driven
	on      idSet
	windows int
	seen    map[uint32]struct{} // arcs of the leg that were added already
}

// middle is the middle of an arc with conditions: a car that drives the whole arc passes it.
type middle struct {
	arc     uint32
	at      geo.Point
	bearing float64
	metres  float64 // length of the arc
}

var middleGrid = geo.Grid{Height: 0.002}

// middles are the middles for one version of the conditions.
type middles struct {
	version uint64
	cells   map[geo.Cell][]middle
}

// middlesNow returns the middles of all arcs with conditions, by the cells of a grid. It keeps them for later requests,
// because a country has too many jams for each request to compute them.
func (n *Network) middlesNow() map[geo.Cell][]middle {
	if kept := n.middles.Load(); kept != nil && kept.version == n.Version() {
		return kept.cells
	}
	cells := make(map[geo.Cell][]middle)
	for arc := range n.Conditions.Arcs() {
		if n.Graph.Arcs[arc].CopyOf != arc {
			continue
		}
		m := n.middle(arc)
		cell := middleGrid.Cell(m.at)
		cells[cell] = append(cells[cell], m)
	}
	n.middles.Store(&middles{n.Version(), cells})
	return cells
}

func (n *Network) middle(arc uint32) middle {
	line := n.lineOf(arc)
	m := middle{arc: arc, metres: float64(n.lengthOf(arc)) / 1000}
	left := lengthOfLine(line) / 2
	for k := 1; k < len(line); k++ {
		a, b := line[k-1].Point(), line[k].Point()
		length := geo.Distance(a, b)
		if left <= length || k == len(line)-1 {
			share := 0.0
			if length > 0 {
				share = min(1, left/length)
			}
			m.at, m.bearing = geo.Between(a, b, share), geo.Bearing(a, b)
			break
		}
		left -= length
	}
	return m
}

// lineOf returns the line of an arc in its direction.
func (n *Network) lineOf(arc uint32) []graph.Position {
	line := n.Graph.PieceLine(n.Graph.Arcs[arc].Piece)
	if n.Graph.Arcs[arc].Flags&graph.Backward != 0 {
		line = slices.Clone(line)
		slices.Reverse(line)
	}
	return line
}

func lengthOfLine(line []graph.Position) (metres float64) {
	for k := 1; k < len(line); k++ {
		metres += geo.Distance(line[k-1].Point(), line[k].Point())
	}
	return metres
}

// window is a stretch of a leg on which an arc with conditions may lie, in metres from the leg's beginning.
type window struct {
	begin, end float64
	longest    float64 // length of the longest of the arcs
}

// leg checks one leg.
func (d *driven) leg(ctx context.Context, number int, line []graph.Position, cells map[geo.Cell][]middle) error {
	if len(line) < 2 {
		return nil
	}
	length := lengthOfLine(line)
	d.seen = make(map[uint32]struct{})
	if length > maxDrivenMetres {
		d.found.Partial = true
		return nil
	}
	for _, w := range joinWindows(append(windowsOf(line, cells), d.endWindows(line, length)...)) {
		if d.windows++; d.windows > maxWindows {
			d.found.Partial = true
			return nil
		}
		if err := d.matchWindow(ctx, number, line, length, w); err != nil {
			return err
		}
	}
	return nil
}

// windowsOf returns the stretches of a line beside the middles of arcs with conditions.
func windowsOf(line []graph.Position, cells map[geo.Cell][]middle) []window {
	var found []window
	along := 0.0
	for k := 1; k < len(line); k++ {
		a, b := line[k-1].Point(), line[k].Point()
		length, bearing := geo.Distance(a, b), geo.Bearing(a, b)
		pieces := max(1, math.Ceil(length/longestPiece))
		for i := range int(pieces) {
			from, to := geo.Between(a, b, float64(i)/pieces), geo.Between(a, b, float64(i+1)/pieces)
			at := along + length*float64(i)/pieces
			around := geo.Circle{Center: from, Radius: longestPiece + besideMetres}
			for cell := range middleGrid.Cells(around.Box()) {
				for _, m := range cells[cell] {
					if geo.AngleBetween(m.bearing, bearing) <= besideAngle && geo.Distance(m.at, geo.NearestOnSegment(m.at, from, to)) <= besideMetres {
						found = append(found, window{max(0, at-m.metres-windowMargin), at + m.metres + windowMargin, m.metres})
					}
				}
			}
		}
		along += length
	}
	return found
}

// endWindows returns the stretches at the ends of a line that begins or ends on an arc with conditions, because the line
// may not pass the arc's middle.
func (n *Network) endWindows(line []graph.Position, length float64) (found []window) {
	for _, end := range [...]struct {
		at    geo.Point
		along float64
	}{{line[0].Point(), 0}, {line[len(line)-1].Point(), length}} {
		for _, place := range n.Index.Nearest(nil, end.at, match.Nearest{Within: besideMetres, Count: usualCandidates}) {
			p := &n.Graph.Pieces[place.Piece]
			for _, arc := range [...]uint32{p.Forward, p.Backward} {
				if arc == graph.None {
					continue
				}
				if _, ok := n.condition(arc); ok {
					metres := float64(p.Length) / 1000
					found = append(found, window{max(0, end.along-metres-windowMargin), end.along + metres + windowMargin, metres})
				}
			}
		}
	}
	return found
}

// joinWindows sorts windows and joins those that overlap.
func joinWindows(found []window) []window {
	slices.SortFunc(found, func(a, b window) int { return cmp.Compare(a.begin, b.begin) })
	var apart []window
	for _, w := range found {
		if last := len(apart) - 1; last >= 0 && w.begin <= apart[last].end {
			apart[last].end, apart[last].longest = max(apart[last].end, w.end), max(apart[last].longest, w.longest)
		} else {
			apart = append(apart, w)
		}
	}
	return apart
}

// matchWindow matches a stretch of a line to the network, and adds the driven arcs with conditions. It matches a long
// stretch in parts, which overlap by the longest arc, so that each arc is whole in one of them.
func (d *driven) matchWindow(ctx context.Context, leg int, line []graph.Position, length float64, w window) error {
	w.end = min(w.end, length)
	seam := w.longest + 2*windowMargin
	whole := min(w.end-w.begin, max(usualStep*windowPositions, 4*seam))
	step := max(usualStep, whole/(windowPositions-2))
	for begin := w.begin; ; begin += whole - seam {
		end := min(w.end, begin+whole)
		parts, err := d.partsAlong(ctx, line, begin, end, step)
		if err != nil {
			return err
		}
		d.add(leg, parts, begin, begin == 0, end >= length-endMetres)
		if end >= w.end {
			return nil
		}
	}
}

// drivenPart is the driven part of an arc, as shares of its length.
type drivenPart struct {
	arc        uint32
	from, to   float64
	begin, end float64 // metres from the beginning of the first part
}

// partsAlong returns the arcs that a stretch of a line drives, by matching it as a trace. It returns none if the line
// lies on no roads of the network.
func (n *Network) partsAlong(ctx context.Context, line []graph.Position, begin, end, step float64) ([]drivenPart, error) {
	free := *n
	free.Conditions = nil
	q := &TraceRequest{Places: Places{Coordinates: cutLine(line, begin, end, step)}}
	if len(q.Coordinates) < 2 {
		return nil, nil
	}
	a := &TraceAnswer{Tracepoints: make([]Tracepoint, len(q.Coordinates))}
	t := &trace{Network: &free, q: q, median: 1}
	local := n.local()
	err := local.search(ctx, func(tree *tree) error {
		t.tree, t.weights = tree, local.metric(0, true)
		return t.match(ctx, a)
	})
	if refused := new(Error); errors.As(err, &refused) {
		return nil, nil // the stretch is on no road of the region
	}
	if err != nil {
		return nil, err
	}
	var parts []drivenPart
	for i := range a.Matchings {
		parts = n.appendParts(parts, &a.Matchings[i].Route)
	}
	return parts, nil
}

// appendParts appends the arcs of a route, joining the parts of an arc on which legs meet.
func (n *Network) appendParts(parts []drivenPart, r *Route) []drivenPart {
	at := 0.0
	if len(parts) > 0 {
		at = parts[len(parts)-1].end
	}
	first := len(parts)
	for i := range r.Legs {
		for k := range r.Legs[i].Parts {
			p := &r.Legs[i].Parts[k]
			metres := n.Length(p)
			base := n.Graph.Arcs[p.Arc].CopyOf
			if last := len(parts) - 1; last >= first && parts[last].arc == base && p.From >= parts[last].to-1e-9 {
				parts[last].to, parts[last].end = p.To, parts[last].end+metres
			} else {
				parts = append(parts, drivenPart{base, p.From, p.To, at, at + metres})
			}
			at += metres
		}
	}
	return parts
}

// cutLine returns the part of a line between two distances from its beginning, with positions at most step apart.
func cutLine(line []graph.Position, begin, end, step float64) []geo.Point {
	var cut []geo.Point
	next, along := begin, 0.0
	for k := 1; k < len(line) && next <= end; k++ {
		a, b := line[k-1].Point(), line[k].Point()
		length := geo.Distance(a, b)
		for ; length > 0 && next <= end && next <= along+length; next += step {
			cut = append(cut, geo.Between(a, b, (next-along)/length))
		}
		along += length
	}
	if last := min(end, along); len(cut) > 0 && last > next-step+endMetres {
		cut = append(cut, pointAlong(line, last))
	}
	return cut
}

// pointAlong returns the place at the given distance along a line.
func pointAlong(line []graph.Position, metres float64) geo.Point {
	for k := 1; k < len(line); k++ {
		a, b := line[k-1].Point(), line[k].Point()
		length := geo.Distance(a, b)
		if metres <= length && length > 0 {
			return geo.Between(a, b, max(0, metres/length))
		}
		metres -= length
	}
	return line[len(line)-1].Point()
}

// add adds the conditions on parts of a leg. offset is the distance at which the parts begin on the leg; first and last
// report whether they include its ends.
func (d *driven) add(leg int, parts []drivenPart, offset float64, first, last bool) {
	for i, p := range parts {
		c, ok := d.condition(p.arc)
		if !ok {
			continue
		}
		if _, known := d.seen[p.arc]; known {
			continue
		}
		metres := float64(d.lengthOf(p.arc)) / 1000
		isEnd := first && i == 0 || last && i == len(parts)-1
		isWhole := p.from*metres <= endMetres && (1-p.to)*metres <= endMetres
		switch {
		case !isEnd && !isWhole: // an end of the matched stretch
			continue
		case c.Closed && isEnd:
			d.found.EndsOnClosed = true
		case c.Closed:
			closure := d.closure(p.arc)
			closure.Leg, closure.Begin, closure.End = leg, offset+p.begin, offset+p.end
			d.found.Closures = append(d.found.Closures, closure)
		}
		d.seen[p.arc] = struct{}{}
		if usual := d.Graph.Arcs[p.arc].Duration; !c.Closed && c.Duration > usual {
			d.found.Delay += uint64(part(p.to-p.from, c.Duration-usual))
		}
		d.Conditions.Events(p.arc, func(e Event) { d.on.add(e.EntityID) })
	}
}

// closure describes a closed arc.
func (n *Network) closure(arc uint32) Closure {
	way := n.way(arc)
	c := Closure{Arc: arc, Line: n.lineOf(arc), Street: cmp.Or(n.Graph.Text(way.Name), n.Graph.Text(way.Ref))}
	n.Conditions.Events(arc, func(e Event) {
		if !e.Closed {
			return
		}
		c.EntityIDs = append(c.EntityIDs, e.EntityID)
		since := e.Starts
		if since.IsZero() {
			since = e.Created
		}
		if c.Since.IsZero() || !since.IsZero() && since.Before(c.Since) {
			c.Since = since
		}
	})
	return c
}

// Warnings returns the warnings that drivers need about a way.
func (d *Driven) Warnings() (texts []string) {
	for i := range d.Closures {
		text := closedRoad(&d.Closures[i])
		if !slices.Contains(texts, text) && len(texts) < maxClosedWarnings {
			texts = append(texts, text)
		}
	}
	if d.EndsOnClosed {
		texts = append(texts, endsOnClosed)
	}
	if d.Partial {
		texts = append(texts, "So many conditions are along the way that not all of them were checked.")
	}
	return texts
}

const (
	// maxClosedWarnings bounds how many closed roads a route names.
	maxClosedWarnings = 5
	endsOnClosed      = "The route begins or ends on a road that is closed."
)

// closedRoad returns the warning about a closed road on a way.
func closedRoad(c *Closure) string {
	text := "The route drives a road that is closed: "
	if c.Street == "" {
		text += "one without a name"
	} else {
		text += c.Street
	}
	if !c.Since.IsZero() {
		text += ", since " + c.Since.UTC().Format("2006-01-02 15:04") + " UTC"
	}
	return text + "."
}
