//go:build !race || nightly

package demo

import (
	"testing"
	"time"
)

// TestHarbourBridge checks that the bridge is closed for ships from time to time, for a minute each, and that a closure ends with
// its own lifetime if nothing removes it.
func TestHarbourBridge(t *testing.T) {
	town, began := NewTown(), time.Unix(1_800_000_000, 0)
	closures, closed, since := 0, false, time.Duration(0)
	for at := time.Duration(0); at < 30*time.Minute; at += stepEvery {
		for _, r := range town.ship(began.Add(at)) {
			if r.Kind != "alert.road_closed" || closed == (r.TTLSeconds != retireTTL) {
				t.Fatalf("after %v, closed %v: %+v", at, closed, r)
			}
			if closed = !closed; closed {
				closures++
				if time.Duration(r.TTLSeconds)*time.Second <= shipTakes {
					t.Errorf("it opens after %d s", r.TTLSeconds)
				}
			} else if at-since != shipTakes {
				t.Errorf("it was closed for %v", at-since)
			}
			since = at
		}
	}
	if closures != 7 {
		t.Errorf("%d ships in half an hour", closures)
	}
}

// TestQuietAtTheBridge checks that no event happens near the bridge of the visitor's route, because it would change the route.
func TestQuietAtTheBridge(t *testing.T) {
	town, now := NewTown(), time.Unix(1_800_000_000, 0)
	for _, r := range town.Snapshot() {
		if r.Kind != "alert.construction" && r.Kind != "alert.road_closed" {
			continue
		}
		if isQuiet(spotOf(r.Lat, r.Lng)) {
			t.Errorf("%s at the bridge", r.Kind)
		}
	}
	for range 1800 {
		now = now.Add(stepEvery)
		town.Step(now, stepEvery)
		for _, e := range town.events {
			if isQuiet(e.road.at(e.along)) {
				t.Fatalf("%s at the bridge: %v", e.Kind, e.road.at(e.along))
			}
		}
	}
}
