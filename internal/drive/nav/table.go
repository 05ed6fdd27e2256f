package nav

import (
	"context"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/roads/graph"
)

// TableRequest asks for the times and distances between coordinates.
type TableRequest struct {
	Places
	Sources, Destinations []int   // indexes of coordinates; nil: all
	FallbackSpeed         float64 // m/s, for pairs without a route; 0: none
	FallbackSnapped       bool    // the fallback measures between places on roads, and not between coordinates
	Scale                 float64 // of durations
}

// TableAnswer is a table, row by row, with a row for each source.
type TableAnswer struct {
	Network               *Network
	Spots                 []Spot // of all coordinates
	Sources, Destinations []int
	Entries               []Entry
}

// Entry is one pair of a table.
type Entry struct {
	Found     bool
	Estimated bool    // by the fallback speed
	Duration  float64 // ms, scaled
	Distance  float64 // metres
}

// Check refuses requests beyond the bounds, before any work.
func (q *TableRequest) Check() error {
	rows, columns := len(indexesOr(q.Sources, len(q.Coordinates))), len(indexesOr(q.Destinations, len(q.Coordinates)))
	if rows*columns > MaxPairs || len(q.Coordinates) > MaxPairs+1 {
		return &Error{TooBig, "Too many table coordinates"}
	}
	return q.Places.check()
}

// Table finds the best routes between all pairs.
func (s *Service) Table(ctx context.Context, q *TableRequest, a *TableAnswer) error {
	if err := q.Check(); err != nil {
		return err
	}
	a.Sources, a.Destinations = indexesOr(q.Sources, len(q.Coordinates)), indexesOr(q.Destinations, len(q.Coordinates))
	n, err := s.Current()
	if err != nil {
		return err
	}
	defer n.Release()
	a.Network = n
	if a.Spots, err = n.snap(&q.Places); err != nil {
		return err
	}
	if a.Entries, err = n.entries(ctx, q, a, a.Spots); err != nil {
		return err
	}
	if err := n.addJoined(ctx, q, a); err != nil {
		return err
	}
	for row, i := range a.Sources {
		for column, j := range a.Destinations {
			a.Entries[row*len(a.Destinations)+column].finish(q, &a.Spots[i], &a.Spots[j])
		}
	}
	return nil
}

// addJoined finds routes for pairs without one between the nearest roads of one island.
func (n *Network) addJoined(ctx context.Context, q *TableRequest, a *TableAnswer) error {
	if !slices.ContainsFunc(a.Entries, func(e Entry) bool { return !e.Found }) {
		return nil
	}
	moved := n.join(&q.Places, a.Spots)
	if moved == nil {
		return nil
	}
	joined, err := n.entries(ctx, q, a, moved)
	for i := range joined {
		if !a.Entries[i].Found {
			a.Entries[i] = joined[i]
		}
	}
	return err
}

// entries returns the best routes between spots.
func (n *Network) entries(ctx context.Context, q *TableRequest, a *TableAnswer, spots []Spot) ([]Entry, error) {
	t := TableQuery{Exclude: q.Exclude, Cells: make([]Cell, len(a.Sources)*len(a.Destinations))}
	for _, i := range a.Sources {
		t.From = append(t.From, n.beginnings(&spots[i]))
	}
	owners := make([][]int, len(a.Destinations)) // the candidate of each end
	for column, j := range a.Destinations {
		var ends []graph.End
		for c := range spots[j].Candidates {
			ends = n.appendEnds(ends, &spots[j].Candidates[c])
			for len(owners[column]) < len(ends) {
				owners[column] = append(owners[column], c)
			}
		}
		t.To = append(t.To, ends)
	}
	if err := n.Search.Table(ctx, &t); err != nil {
		return nil, err
	}
	entries := make([]Entry, len(t.Cells))
	for row, i := range a.Sources {
		for column, j := range a.Destinations {
			at := row*len(a.Destinations) + column
			entries[at] = n.entry(&t.Cells[at], &spots[i], &spots[j], owners[column])
		}
	}
	return entries, nil
}

func indexesOr(indexes []int, count int) []int {
	if indexes != nil {
		return indexes
	}
	all := make([]int, min(count, MaxPairs+1))
	for i := range all {
		all[i] = i
	}
	return all
}

func (n *Network) beginnings(s *Spot) []graph.End {
	ends := make([]graph.End, len(s.Candidates))
	for i := range s.Candidates {
		ends[i] = n.begin(&s.Candidates[i])
	}
	return ends
}

// entry returns the better of a path and the ways on one arc.
func (n *Network) entry(c *Cell, from, to *Spot, owners []int) Entry {
	best, e := c.Weight, Entry{}
	if c.Weight != NoPath {
		first, last := &from.Candidates[c.From], &to.Candidates[owners[c.To]]
		e = Entry{Found: true, Duration: float64(c.Duration), Distance: float64(c.Length) / 1000}
		e.add(n, first.Arc, 1-first.Share)
		e.add(n, last.Arc, last.Share)
	}
	for i := range from.Candidates {
		for j := range to.Candidates {
			first, last := &from.Candidates[i], &to.Candidates[j]
			if weight, ok := n.direct(first, last); ok && weight < best {
				best, e = weight, Entry{Found: true}
				e.add(n, first.Arc, last.Share-first.Share)
			}
		}
	}
	return e
}

// add adds a share of an arc.
func (e *Entry) add(n *Network, arc uint32, share float64) {
	now, _ := n.condition(arc)
	e.Duration += float64(part(share, now.Duration))
	e.Distance += share * float64(n.Graph.Pieces[n.Graph.Arcs[arc].Piece].Length) / 1000
}

// finish estimates an entry without a route, if requested, and scales its duration.
func (e *Entry) finish(q *TableRequest, from, to *Spot) {
	if !e.Found && q.FallbackSpeed > 0 {
		a, b := from.Input, to.Input
		if q.FallbackSnapped {
			a, b = from.Places[0].Point, to.Places[0].Point
		}
		*e = Entry{Found: true, Estimated: true, Distance: geo.Distance(a, b)}
		e.Duration = e.Distance / q.FallbackSpeed * 1000
	}
	e.Duration *= q.Scale
}
