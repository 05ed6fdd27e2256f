package live

import (
	"math"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Freshness is how long a live incident is shown after a real request to an upstream for its area.
const Freshness = 5 * time.Minute

// Pin is one live incident as an upstream reported it. Times are whole milliseconds, UTC.
type Pin struct {
	// Entity has no Feed. Take sets SeenAt to the time of the newest real answer with this pin, and Lifetime to at most
	// Freshness, or less if the row's own is; FirstSeenAt and ChangedAt continue for as long as the pin is shown.
	mapdata.Entity
	Upstream string
	Prior    float64    // confidence in the source before any vote, 0 to 1 (D9.4)
	Stamp    time.Time  // when the upstream itself fetched it; zero: unknown
	Prepared []byte     // the encoder's output for the entity; made when a tile is read, not stored
	At       geo.Vector // the entity's Point
}

// Answer is an answer of an upstream about an area.
type Answer struct {
	Upstream string
	Center   geo.Point
	Radius   float64   // metres; more than 0, at most MaxRadius
	At       time.Time // when it arrived
	Stamp    time.Time // when the upstream itself fetched it; zero: unknown

	// Pins need an Entity and a Prior: Take sets the rest. FirstSeenAt is that of the row; zero: it has none. A
	// Lifetime of 0 is Freshness. Of two pins with one external id, the later counts (D3.8).
	Pins []Pin
}

// MaxRadius is the largest radius of a request or an answer, in metres.
const MaxRadius = 200_000

// noTime stands for an unknown time.
const noTime = math.MinInt64

func millisOf(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.UnixMilli()
}

func timeOf(millis int64) time.Time {
	if millis == noTime {
		return time.Time{}
	}
	return time.UnixMilli(millis).UTC()
}

// record is a pin as a tile stores it.
type record struct {
	pin     Pin
	said    int64 // when the newest answer arrived that contained it or should have, replays included
	located int64 // when its locator was last written; noTime: not from this tile
	gone    bool  // a tombstone, so that an older answer, arriving late, does not bring the pin back
}

func (r *record) seen() int64  { return r.pin.SeenAt.UnixMilli() }
func (r *record) until() int64 { return r.pin.SeenAt.Add(r.pin.Lifetime).UnixMilli() }
func (r *record) stamp() int64 { return millisOf(r.pin.Stamp) }

// obsolete reports whether the record can be dropped. An expired pin is kept for as long as replays contain it, because
// the next replay would count as new otherwise.
func (r *record) obsolete(now int64) bool { return now >= r.said+Freshness.Milliseconds() }
