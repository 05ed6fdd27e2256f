package demo

import (
	"math"
	"time"

	"wayside/internal/geo"
)

// The avenues whose bridges the demo closes, in blocks: the visitor's is in the middle of the town, and the harbour's opens for ships by
// itself, far from the drive.
const (
	visitorsAvenue = 12
	harbourAvenue  = 0
)

// overRiver is where an avenue crosses the middle of the river.
func overRiver(avenue float64) spot {
	x := avenue * blockMetres
	return spot{x, river(x)}
}

// point is a spot in degrees, rounded to about a metre.
func point(s spot) geo.Point {
	lat, lng := place(s)
	return geo.Point{Lat: rounded(lat), Lng: rounded(lng)}
}

// Trip is a drive that a visitor may ask a route for, over a bridge that can be closed.
type Trip struct {
	From, To geo.Point
	Bridge   geo.Point
	Street   string
}

// TownTrip is from one side of the river to the other.
func TownTrip() Trip {
	return Trip{
		From: point(crossing(visitorsAvenue, 12.5)), To: point(crossing(visitorsAvenue, 15)), Bridge: point(overRiver(visitorsAvenue)),
		Street: ordinal(visitorsAvenue+1) + " Avenue",
	}
}

// quietMetres is how far from the visitor's bridge nothing happens that might make a route avoid it before it is closed.
const quietMetres = 500.0

func isQuiet(s spot) bool {
	bridge := overRiver(visitorsAvenue)
	return math.Abs(s.x-bridge.x) < quietMetres && math.Abs(s.y-bridge.y) < quietMetres
}

// The bridge of the harbour opens for ships once in shipEvery, for shipTakes.
const (
	shipEvery = 4 * time.Minute
	shipTakes = time.Minute
	shipTTL   = 150 // seconds, so that the bridge opens also when the demo is stopped in between
)

// ship returns the row that closes or opens the harbour's bridge, if it does so now.
func (t *Town) ship(now time.Time) []row {
	if t.began.IsZero() {
		t.began = now
	}
	passes := now.Sub(t.began)%shipEvery >= shipEvery-shipTakes
	if passes == t.shipPasses {
		return nil
	}
	t.shipPasses = passes
	r := row{
		ExternalID: "harbour-bridge", Kind: "alert.road_closed", TTLSeconds: retireTTL,
		Properties: map[string]any{"street": ordinal(harbourAvenue+1) + " Avenue", "detour": true, "description": "The bridge is open for a ship."},
	}
	if passes {
		r.TTLSeconds, r.ObservedAt = shipTTL, now.UTC().Format(time.RFC3339)
	}
	at := point(overRiver(harbourAvenue))
	r.Lat, r.Lng = at.Lat, at.Lng
	return []row{r}
}
