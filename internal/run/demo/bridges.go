package demo

import (
	"math"
	"time"

	"wayside/internal/ground/geo"
)

// The avenues whose bridges the demo closes, in blocks: the visitor's is in the middle of the town; the harbour's, far from the
// drive, closes to traffic for ships without the visitor's action.
const (
	visitorsAvenue = 12
	harbourAvenue  = 0
)

// overRiver returns the spot where an avenue crosses the middle of the river.
func overRiver(avenue float64) spot {
	x := avenue * blockMetres
	return spot{x, river(x)}
}

// point converts a spot to degrees, rounded to about a metre.
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

// TownTrip returns a trip from one side of the river to the other.
func TownTrip() Trip {
	return Trip{
		From: point(crossing(visitorsAvenue, 12.5)), To: point(crossing(visitorsAvenue, 15)), Bridge: point(overRiver(visitorsAvenue)),
		Street: ordinal(visitorsAvenue+1) + " Avenue",
	}
}

// quietMetres is the distance from the visitor's bridge within which no event happens, because an event could make a route avoid
// the bridge before it is closed.
const quietMetres = 500.0

func isQuiet(s spot) bool {
	bridge := overRiver(visitorsAvenue)
	return math.Abs(s.x-bridge.x) < quietMetres && math.Abs(s.y-bridge.y) < quietMetres || isGuided(s)
}

// isGuided reports whether a spot is so near the guided drive that an event there might change its route.
func isGuided(s spot) bool {
	const near = 60.0
	from := guidedStart()
	for _, piece := range guidedStretches() {
		if from.to(piece.to, nearestShare(from, piece.to, s)).distance(s) < near {
			return true
		}
		from = piece.to
	}
	return false
}

// The visitor's bridge closes for a guided drive when the car is some blocks before it, and opens when it has gone around.
const (
	guidedCloses = 6*time.Minute + 15*time.Second // after the drive began
	guidedOpens  = 8*time.Minute + 30*time.Second
)

// Guide makes the town close the bridge for a guided drive that began at the given time and is speedUp times as fast as a real one.
// It may be called by any goroutine.
func (t *Town) Guide(began time.Time, speedUp float64) {
	scaled := func(after time.Duration) time.Time { return began.Add(time.Duration(float64(after) / speedUp)) }
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closes, t.opens = scaled(guidedCloses), scaled(guidedOpens)
}

// drawbridge returns the row that closes or opens the visitor's bridge for a guided drive, if the bridge changes now.
func (t *Town) drawbridge(now time.Time) []row {
	t.mu.Lock()
	closed := !now.Before(t.closes) && now.Before(t.opens)
	opens := t.opens
	t.mu.Unlock()
	if closed == t.bridgeClosed {
		return nil
	}
	t.bridgeClosed = closed
	at := point(overRiver(visitorsAvenue))
	r := row{
		ExternalID: "drawbridge", Kind: "alert.road_closed", Lat: at.Lat, Lng: at.Lng, TTLSeconds: retireTTL,
		Properties: map[string]any{"street": ordinal(visitorsAvenue+1) + " Avenue", "detour": true, "description": "The bridge is closed for repairs."},
	}
	if closed {
		r.TTLSeconds, r.ObservedAt = int(opens.Sub(now).Seconds())+shipTTL, now.UTC().Format(time.RFC3339)
	}
	return []row{r}
}

// The bridge of the harbour opens for ships once in shipEvery, for shipTakes.
const (
	shipEvery = 4 * time.Minute
	shipTakes = time.Minute
	shipTTL   = 150 // seconds, so that the bridge opens also when the demo is stopped in between
)

// ship returns the row that closes or opens the harbour's bridge, if the bridge changes now.
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
