package scenarios

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/geo"
)

// outcome is the result of one row of a table.
type outcome struct {
	File     string
	Line     int
	Scenario string
	Skip     string   // why it cannot be compared; empty: it was
	Differs  []string // columns that differ, with the wanted and the actual value
	// Roads reports whether everything except guidance agrees: the names of the roads in their order, lengths, times and
	// weights.
	Roads bool
}

// runScenarios draws scenarios into one extract for each vehicle and runs all their rows.
func runScenarios(ctx context.Context, scenarios []scenario) ([]outcome, error) {
	layouts, askers := map[string]*layout{}, map[string]*asker{}
	var worlds []*world
	for i := range scenarios {
		w, err := newWorld(&scenarios[i])
		if err == nil && w.skip == "" {
			if layouts[w.vehicle] == nil {
				layouts[w.vehicle] = newLayout()
			}
			err = layouts[w.vehicle].draw(w)
		}
		if err != nil {
			return nil, err
		}
		worlds = append(worlds, w)
	}
	for vehicle, l := range layouts {
		service, err := l.network(ctx, vehicle)
		if err != nil {
			return nil, err
		}
		askers[vehicle] = &asker{service: service, letters: l.letters}
	}
	var all []outcome
	for _, w := range worlds {
		for i := range w.tables {
			outcomes, err := askers[w.vehicle].table(ctx, w, &w.tables[i])
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", w.File, w.tables[i].Line, err)
			}
			all = append(all, outcomes...)
		}
	}
	return all, nil
}

// asking runs the rows of one kind of table.
type asking func(ctx context.Context, w *world, row map[string]string, i int, to *outcome) error

// table runs the rows of a table.
func (k *asker) table(ctx context.Context, w *world, s *stepRead) ([]outcome, error) {
	if len(s.Table) == 0 {
		return nil, nil // nothing to run
	}
	var ask asking
	switch s.Text {
	case "I route I should get", "I route 2 times I should get":
		ask = k.routeRow
	case "routability should be":
		ask = k.accessRow
	case "I match I should get":
		ask = k.matchRow
	case "I request nearest I should get":
		ask = k.nearestRow
	case "I request a travel time matrix with these waypoints I should get the response code":
		ask = k.matrixCodeRow
	case "I request a travel time matrix I should get":
		ask = k.matrixRow(s, "duration")
	case "I request a travel time matrix I should get estimates for":
		ask = k.matrixRow(s, "estimates")
	case "I request a travel distance matrix I should get":
		ask = k.matrixRow(s, "distance")
	}
	var all []outcome
	for i, row := range hashes(s.Table) {
		o := outcome{File: w.File, Line: s.Lines[i+1], Scenario: w.Name, Skip: w.skip, Roads: true}
		if ask == nil && o.Skip == "" {
			o.Skip = "a service that is not asked: " + s.Text
		}
		if o.Skip == "" {
			if err := ask(ctx, w, row, i, &o); err != nil {
				return nil, err
			}
		}
		all = append(all, o)
	}
	return all, nil
}

// differ records a column that differs. Columns of guidance do not affect Roads.
func (o *outcome) differ(column, got, want string, guidance bool) {
	o.Differs = append(o.Differs, fmt.Sprintf("%s: got %q, want %q", column, got, want))
	o.Roads = o.Roads && guidance
}

// quantities are columns of numbers with a tolerance.
var quantities = []string{"time", "times", "weight", "weights", "speed", "distance", "distances", "duration", "a:duration", "a:weight", "a:speed", "a:distance"}

func (w *world) placesOf(names string) (places []geo.Point, err error) {
	for name := range strings.SplitSeq(names, ",") {
		at, ok := w.places[strings.TrimSpace(name)]
		if !ok {
			return nil, fmt.Errorf("%q is not on the map", name)
		}
		places = append(places, w.frame.place(at))
	}
	return places, nil
}

func (w *world) optionsOf(row map[string]string, defaults options) options {
	o := options{}
	maps.Copy(o, defaults)
	maps.Copy(o, w.options)
	for key, value := range row {
		if name, ok := strings.CutPrefix(key, "param:"); ok && value != "" && value != "(nil)" {
			o[name] = value
		}
	}
	if list := strings.Fields(row["bearings"]); len(list) > 0 {
		for i, b := range list {
			if b == "*" {
				list[i] = ""
			} else if strings.Count(b, ",") != 1 {
				list[i] = b + ",10"
			}
		}
		o["bearings"] = strings.Join(list, ";")
	}
	if list := strings.Fields(row["approaches"]); len(list) > 0 {
		o["approaches"] = strings.Join(list, ";")
	}
	return o
}

// routeRow requests a route.
func (k *asker) routeRow(ctx context.Context, w *world, row map[string]string, _ int, o *outcome) error {
	names := row["waypoints"]
	if row["from"] != "" && row["to"] != "" {
		names = row["from"] + "," + row["to"]
	}
	if names == "" {
		return k.urlRow(ctx, w, row, o)
	}
	places, err := w.placesOf(names)
	if err != nil {
		return err
	}
	a, err := k.ask(ctx, osrm.Route, places, w.optionsOf(row, options{"steps": "true", "alternatives": "false"}))
	if err != nil {
		return err
	}
	for _, column := range slices.Sorted(mapKeys(row)) {
		k.routeCell(w, a, column, row[column], o)
	}
	return nil
}

// urlRow sends a URL unchanged. Only the HTTP server reads the part before the coordinates.
func (k *asker) urlRow(ctx context.Context, w *world, row map[string]string, o *outcome) error {
	const head = "route/v1/driving/"
	text, ok := strings.CutPrefix(row["request"], head)
	if !ok || text == "" {
		o.Skip = "a URL without coordinates"
		return nil
	}
	var a answer
	q, err := osrm.ParseURL(osrm.Route, text, len(head)+1)
	if err == nil {
		for i, p := range q.Places.Coordinates {
			if p.Valid() {
				q.Places.Coordinates[i] = w.frame.place(p)
			}
		}
		_, err = k.body(ctx, osrm.Route, q)
	}
	a.Code = "Ok"
	if refused := new(nav.Error); errors.As(err, &refused) {
		a.Code, a.Message = refused.Code, refused.Message
	} else if err != nil {
		return err
	}
	for column, want := range row {
		if column != "request" {
			k.routeCell(w, &a, column, want, o)
		}
	}
	return nil
}

// routeCell compares one cell of a route.
func (k *asker) routeCell(w *world, a *answer, column, want string, o *outcome) {
	var got string
	found := a.Code == "Ok" && len(a.Routes) > 0
	var r route
	if found {
		r = a.Routes[0]
	}
	of, listed := perStep[column]
	guidance := listed && column != "route"
	switch {
	case column == "data_version", column == "from", column == "to", column == "waypoints", column == "bearings", column == "approaches", column == "#", strings.HasPrefix(column, "param:"):
		return
	case column == "status":
		got = map[bool]string{true: "200", false: "400"}[a.Code == "Ok"]
	case column == "code":
		got = a.Code
	case column == "message":
		got = a.Message
	case !found:
	case listed:
		got = strings.TrimSpace(r.list(of))
	case column == "summary":
		got, guidance = strings.TrimSpace(r.summaries()), true
	case column == "locations":
		got, guidance = w.locations(&r), true
	case column == "intersections":
		got, guidance = r.intersections(), true
	case column == "alternative":
		if len(a.Routes) > 1 {
			got = a.Routes[1].names()
		}
	case want == "":
		return // lengths and the like are requested where they stand
	case column == "time":
		got = decimal(r.Duration) + "s"
	case column == "distance":
		got = decimal(r.Distance) + "m"
	case column == "weight":
		got = decimal(r.Weight)
	case column == "speed":
		speed := 3.6 * r.Distance / r.Duration
		if got = decimal(math.Round(speed)) + " km/h"; agrees(got, want) {
			return
		}
		got = decimal(speed) + " km/h"
	case column == "weight_name":
		got = r.WeightName
	case column == "waypoints_count":
		got = strconv.Itoa(len(a.Waypoints))
	case column == "geometry":
		line, same := w.samePlaces(r.Geometry, want)
		if !same {
			o.differ(column, line, want, false)
		}
		return
	case strings.HasPrefix(column, "a:"):
		got = k.annotation(&r, column[2:])
	default:
		o.Skip = "a column that is not read: " + column
		return
	}
	if same := agrees(got, want) || slices.Contains(quantities, column) && agreesInQuantity(got, want); !same {
		o.differ(column, got, want, guidance || column == "route" && found && r.sameRoads(want))
	}
}

// sameRoads compares the names of roads in their order. Guidance decides where a driver must be told to go on, and
// whether a route begins at the very end of a road.
func (r *route) sameRoads(want string) bool {
	const least = 1 // metre
	var driven []string
	for i := range r.Legs {
		for k := range r.Legs[i].Steps {
			if s := &r.Legs[i].Steps[k]; s.Distance >= least {
				driven = append(driven, s.Name)
			}
		}
	}
	return slices.Equal(slices.Compact(driven), slices.Compact(strings.Split(want, ",")))
}

var directions = []string{"forw", "backw", "bothw"}

// drive is the result of driving along the way of a row in one direction.
type drive struct {
	open        bool
	mode        string
	time, speed float64
	rate        float64
}

// accessRow checks whether and how fast cars may use a way in each direction.
func (k *asker) accessRow(ctx context.Context, w *world, row map[string]string, i int, o *outcome) error {
	f := w.rows[i]
	a, b := f.place(w.offset(1, 0)), f.place(w.offset(3, 0))
	var drives [2]drive
	for d, places := range [][]geo.Point{{a, b}, {b, a}} {
		opts := w.optionsOf(nil, options{"steps": "true", "alternatives": "false"})
		got, err := k.ask(ctx, osrm.Route, places, opts)
		if err != nil {
			return err
		}
		if got.Code != "Ok" || !strings.HasPrefix(got.Routes[0].names()+",", "w"+strconv.Itoa(i)+",") {
			continue
		}
		r := &got.Routes[0]
		drives[d] = drive{open: true, time: r.Duration, speed: 3.6 * r.Distance / r.Duration, rate: math.Round(10*r.Distance/r.Weight) / 10}
		if steps := r.Legs[0].Steps; len(steps) > 0 {
			drives[d].mode = steps[0].Mode
		}
	}
	for d, direction := range directions {
		for _, suffix := range [...]string{"", "_rate"} {
			want, asked := row[direction+suffix]
			if !asked {
				continue
			}
			of := drives[min(d, 1)]
			got, same := of.cell(want, suffix == "_rate")
			if d == 2 { // both
				of = drives[0]
				other, also := drives[1].cell(want, suffix == "_rate")
				got, same = of.cell(want, suffix == "_rate")
				if other != got {
					got, same = got+" / "+other, same && also
				}
			}
			if !same {
				o.differ(direction+suffix, got, want, false)
			}
		}
	}
	return nil
}

// cell returns the result for a direction in the form of a cell, and whether it agrees.
func (d *drive) cell(want string, rate bool) (got string, same bool) {
	switch {
	case !d.open:
	case rate && want != "":
		got = decimal(d.rate)
		return got, agreesInQuantity(got, want)
	case want == "x":
		got = "x"
	case strings.Contains(want, " s"):
		got = decimal(d.time) + " s"
		return got, agreesInQuantity(got, want)
	case strings.Contains(want, " km/h"):
		got = decimal(math.Trunc(d.speed)) + " km/h"
		return got, agrees(got, want) || agreesInQuantity(decimal(d.speed)+" km/h", want)
	default:
		got = d.mode
	}
	return got, agrees(got, want)
}
