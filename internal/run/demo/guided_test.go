//go:build !race || nightly

package demo

import (
	"slices"
	"testing"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/geo"
	"wayside/internal/roads/match"
)

// routesOf returns the search for routes on the town's roads.
func routesOf(t *testing.T) *nav.Service {
	t.Helper()
	g, _ := buildRoads(t)
	n := &nav.Network{Roads: nav.NewRoads(g, match.NewIndex(g), "town"), Search: nav.NewPlain(g, nil, nil)}
	return nav.New(func() *nav.Network { return n })
}

func pointOf(c [2]float64) geo.Point { return geo.Point{Lng: c[0], Lat: c[1]} }

// TestGuidedDriveFollowsItsRoutes checks that the drive follows the service's route up to its wrong turn, and the route from there
// up to the bridge, at car speeds and without jumps, and checks its duration.
func TestGuidedDriveFollowsItsRoutes(t *testing.T) {
	routes, g := routesOf(t), guided()
	nearest := func(line []geo.Point, at geo.Point) float64 {
		least := 1e9
		for i := 1; i < len(line); i++ {
			a, b := spotOf(line[i-1].Lat, line[i-1].Lng), spotOf(line[i].Lat, line[i].Lng)
			if s := spotOf(at.Lat, at.Lng); a != b {
				least = min(least, a.to(b, nearestShare(a, b, s)).distance(s))
			}
		}
		return least
	}
	route := func(from geo.Point, bearing float64) []geo.Point {
		t.Helper()
		var a nav.RouteAnswer
		q := nav.RouteRequest{Places: nav.Places{Coordinates: []geo.Point{from, pointOf(g.To)}, Bearings: []nav.Bearing{{Given: true, Value: bearing, Range: 45}, {}}}}
		if err := routes.Route(t.Context(), &q, &a); err != nil {
			t.Fatal(err)
		}
		var line []geo.Point
		for _, at := range a.Routes[0].Overview(false) {
			line = append(line, at.Point())
		}
		return line
	}
	const off, left = 15, 65 // metres: the corners are rounded; from where the page asks for another route
	line, wrong := route(pointOf(g.Coordinates[0]), 180), false
	var seconds, fastest float64
	for i, c := range g.Coordinates {
		at := spotOf(c[1], c[0])
		fastest = max(fastest, g.Speeds[i])
		if i > 0 {
			before := spotOf(g.Coordinates[i-1][1], g.Coordinates[i-1][0])
			step, took := before.distance(at), before.distance(at)/((g.Speeds[i]+g.Speeds[i-1])/2)
			if seconds += took; step > 20 || step == 0 {
				t.Errorf("place %d at %v: %.1f m on", i, at, step)
			}
		}
		if !wrong && nearest(line, pointOf(c)) > left {
			t.Logf("the wrong turn is after %.0f s", seconds)
			if at.distance(crossing(visitorsAvenue, wrongStreet)) > 90 {
				t.Fatalf("it leaves the route at %v", at)
			}
			line, wrong = route(pointOf(c), 90), true
		}
		if d := nearest(line, pointOf(c)); wrong && at.y < 11*blockMetres && d > off {
			t.Errorf("place %d at %v is %.0f m off the route behind the wrong turn", i, at, d)
		}
		if wrong && at.distance(crossing(visitorsAvenue, 8)) < 10 {
			t.Logf("four blocks before the bridge's detour after %.0f s", seconds)
		}
		if at.distance(crossing(visitorsAvenue, 12)) < 10 {
			t.Logf("at the detour after %.0f s", seconds)
		}
	}
	t.Logf("%.0f s, at most %.0f m/s, tunnels %v", seconds, fastest, g.Tunnels)
	if !wrong || seconds < 6*60 || seconds > 11*60 || fastest < 25 {
		t.Errorf("wrong turn %v, %.0f s, at most %.0f m/s", wrong, seconds, fastest)
	}
	if len(g.Tunnels) != 1 || g.Tunnels[0][1]-g.Tunnels[0][0] < 20 {
		t.Errorf("tunnels: %v", g.Tunnels)
	}
}

// TestDrawbridge checks that the visitor's bridge closes once on a guided drive, sooner on a faster one, and opens again.
func TestDrawbridge(t *testing.T) {
	town, began := NewTown(), time.Unix(1_800_000_000, 0)
	if rows := town.drawbridge(began); len(rows) > 0 {
		t.Fatalf("without a drive: %+v", rows)
	}
	const speedUp = 4
	town.Guide(began, speedUp)
	var changes []time.Duration
	for at := time.Duration(0); at < 10*time.Minute; at += stepEvery {
		for _, r := range town.drawbridge(began.Add(at)) {
			if closes := r.TTLSeconds != retireTTL; closes != (len(changes) == 0) {
				t.Errorf("after %v: %+v", at, r)
			}
			changes = append(changes, at)
		}
	}
	want := []time.Duration{94 * time.Second, 128 * time.Second}
	if !slices.Equal(changes, want) {
		t.Errorf("it changes after %v, want %v", changes, want)
	}
}
