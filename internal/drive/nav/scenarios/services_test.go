package scenarios

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
)

// matrixRow compares a row of a table of durations, distances or estimates, which is requested as a whole.
func (k *asker) matrixRow(s *stepRead, annotation string) asking {
	var matrix [][]*float64
	var cells [][2]int
	estimates := annotation == "estimates"
	if estimates {
		annotation = "duration"
	}
	return func(ctx context.Context, w *world, row map[string]string, i int, o *outcome) error {
		columns := s.Table[0][1:]
		if i == 0 {
			var rows, indexes, others []string
			for n, cells := range s.Table[1:] {
				rows, others = append(rows, cells[0]), append(others, strconv.Itoa(len(columns)+n))
			}
			all := columns
			opts := w.optionsOf(nil, options{"annotations": annotation})
			if !slices.Equal(rows, columns) {
				for n := range columns {
					indexes = append(indexes, strconv.Itoa(n))
				}
				all = slices.Concat(columns, rows)
				opts["destinations"], opts["sources"] = strings.Join(indexes, ";"), strings.Join(others, ";")
			}
			places, err := w.placesOf(strings.Join(all, ","))
			if err != nil {
				return err
			}
			a, err := k.ask(ctx, osrm.Table, places, opts)
			if err != nil {
				return err
			}
			if matrix = a.Durations; annotation == "distance" {
				matrix = a.Distances
			}
			cells = a.Estimated
		}
		for n, column := range columns {
			got := ""
			if estimates {
				if slices.Contains(cells, [2]int{i, n}) {
					got = "Y"
				}
			} else if i < len(matrix) && n < len(matrix[i]) && matrix[i][n] != nil {
				got = decimal(*matrix[i][n])
			}
			if want := row[column]; !agrees(got, want) && !agreesInQuantity(got, want) {
				o.differ(column, got, want, false)
			}
		}
		return nil
	}
}

// matrixCodeRow requests a table and compares only the code.
func (k *asker) matrixCodeRow(ctx context.Context, w *world, row map[string]string, _ int, o *outcome) error {
	places, err := w.placesOf(row["waypoints"])
	if err != nil {
		return err
	}
	a, err := k.ask(ctx, osrm.Table, places, w.optionsOf(row, options{"annotations": "duration"}))
	if err != nil {
		return err
	}
	if a.Code != row["code"] {
		o.differ("code", a.Code, row["code"], false)
	}
	return nil
}

// near is the maximum distance of a place from its expected node, in degrees.
const near = 2.5e-5

// isAt reports whether a place of an answer is at a letter of the scenario.
func (w *world) isAt(location [2]float64, name string) bool {
	at, known := w.places[name]
	got := w.frame.back(geo.Point{Lng: location[0], Lat: location[1]})
	return known && math.Abs(got.Lng-at.Lng) <= near && math.Abs(got.Lat-at.Lat) <= near
}

// letter returns the letter or digit at a place, or a question mark if there is none.
func (w *world) letter(location [2]float64) string {
	for _, name := range w.names {
		if w.isAt(location, name) {
			return name
		}
	}
	return "?"
}

// nearestRow requests the nearest roads.
func (k *asker) nearestRow(ctx context.Context, w *world, row map[string]string, _ int, o *outcome) error {
	places, err := w.placesOf(row["in"])
	if err != nil {
		return err
	}
	a, err := k.ask(ctx, osrm.Nearest, places, w.optionsOf(row, nil))
	if err != nil {
		return err
	}
	var first waypoint
	if len(a.Waypoints) > 0 {
		first = a.Waypoints[0]
	}
	for column, want := range row {
		got := ""
		switch {
		case column == "in", column == "#", column == "data_version", strings.HasPrefix(column, "param:"):
			continue
		case column == "code":
			got = a.Code
		case len(a.Waypoints) == 0:
		case column == "out":
			if got = w.letter(first.Location); w.isAt(first.Location, want) {
				got = want
			}
		case column == "name":
			got = first.Name
		case column == "result_count":
			got = strconv.Itoa(len(a.Waypoints))
		case column == "snapping_distance":
			got = strconv.FormatFloat(first.Distance, 'f', 1, 64)
		case column == "nodes":
			got = k.letters[first.Nodes[0]] + "," + k.letters[first.Nodes[1]]
		default:
			o.Skip = "a column that is not read: " + column
			return nil
		}
		if !agrees(got, want) && !(column == "snapping_distance" && agreesInQuantity(got, want)) {
			o.differ(column, got, want, false)
		}
	}
	return nil
}

// matchings returns the letters at which the places of a trace are matched, with commas between parts. A place at the
// position of its wanted letter is that letter.
func (w *world) matchings(a *answer, want string) string {
	wanted := strings.ReplaceAll(want, ",", "")
	var text strings.Builder
	previous, at := -1, 0
	for _, p := range a.Tracepoints {
		if p == nil {
			continue
		}
		if p.MatchingsIndex != previous && previous >= 0 {
			text.WriteByte(',')
		}
		previous = p.MatchingsIndex
		if at < len(wanted) && w.isAt(p.Location, wanted[at:at+1]) {
			text.WriteByte(wanted[at])
		} else {
			text.WriteString(w.letter(p.Location))
		}
		at++
	}
	return text.String()
}

// perTracepoint joins a value of each place of a trace.
func (a *answer) perTracepoint(of func(p *waypoint) string) string {
	var texts []string
	for _, p := range a.Tracepoints {
		if p == nil {
			texts = append(texts, "")
		} else {
			texts = append(texts, of(p))
		}
	}
	return strings.Join(texts, ",")
}

// matchRow matches a trace.
func (k *asker) matchRow(ctx context.Context, w *world, row map[string]string, _ int, o *outcome) error {
	places, err := w.placesOf(strings.Join(strings.Split(row["trace"], ""), ","))
	if err != nil {
		return err
	}
	opts := w.optionsOf(row, nil)
	if stamps := strings.Fields(row["timestamps"]); len(stamps) > 0 {
		opts["timestamps"] = strings.Join(stamps, ";")
	}
	a, err := k.ask(ctx, osrm.Match, places, opts)
	if err != nil {
		return err
	}
	one := &route{}
	if len(a.Matchings) == 1 {
		one = &a.Matchings[0]
	}
	for column, want := range row {
		got := ""
		switch {
		case column == "trace", column == "timestamps", column == "#", strings.HasPrefix(column, "param:"):
			continue
		case column == "geometry":
			if line, same := w.samePlaces(one.Geometry, want); !same {
				o.differ(column, line, want, false)
			}
			continue
		case column == "code":
			got = a.Code
		case column == "matchings":
			got = w.matchings(a, want)
			if len(got) > len(want) && strings.Count(got, ",") == strings.Count(want, ",") {
				got = got[:len(want)] // places that a row does not name may be anywhere
			}
		case column == "alternatives":
			got = a.perTracepoint(func(p *waypoint) string { return strconv.Itoa(p.Alternatives) })
		case column == "matchings_index":
			got = a.perTracepoint(func(p *waypoint) string { return strconv.Itoa(p.MatchingsIndex) })
		case column == "waypoints":
			for _, p := range a.Tracepoints {
				if p != nil && p.WaypointIndex != nil {
					if n := len(got); n < len(want) && w.isAt(p.Location, want[n:n+1]) {
						got += want[n : n+1]
					} else {
						got += w.letter(p.Location)
					}
				}
			}
		case column == "confidence":
			got = decimal(one.Confidence)
		case column == "duration":
			got = decimal(one.Duration)
		case column == "route" || column == "turns":
			got = one.list(perStep[column])
		case column == "a:nodes" && strings.Contains(want, ":"):
			continue // ids, which differ here
		case strings.HasPrefix(column, "a:"):
			got = k.annotation(one, column[2:])
		default:
			o.Skip = "a column that is not read: " + column
			return nil
		}
		if !agrees(got, want) && !(slices.Contains(quantities, column) && agreesInQuantity(got, want)) {
			o.differ(column, got, want, false)
		}
	}
	return nil
}
