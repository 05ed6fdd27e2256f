package live

import (
	"math"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
)

// Freshness is how long a live incident is shown after an upstream was really asked for its place.
const Freshness = 5 * time.Minute

// Pin is one live incident as an upstream said it. Times are whole milliseconds, UTC.
type Pin struct {
	// Entity has no Feed. What Take makes of it: SeenAt is the time of the newest real answer with this pin, Lifetime at most
	// Freshness, and less when the row's own is; FirstSeenAt and ChangedAt go on for as long as the pin is shown.
	mapdata.Entity
	Upstream string
	Prior    float64    // what is thought of the source before anybody voted, 0 to 1 (D9.4)
	Stamp    time.Time  // when the upstream itself fetched it, as it says; zero: it says nothing
	Prepared []byte     // what the encoder made of the entity; made when a tile is read, not stored
	At       geo.Vector // the entity's Point
}

// Answer is what an upstream said of an area.
type Answer struct {
	Upstream string
	Center   geo.Point
	Radius   float64   // metres; more than 0, at most MaxRadius
	At       time.Time // when it came
	Stamp    time.Time // when the upstream itself fetched it, as it says; zero: it says nothing

	// Pins need an Entity and a Prior: Take sets the rest. FirstSeenAt is what the row says of it, zero: nothing. A Lifetime
	// of 0 is Freshness. Of two pins with one external id, the later counts (D3.8).
	Pins []Pin
}

// MaxRadius is the largest circle that may be asked for or answered, in metres.
const MaxRadius = 200_000

// noTime stands for a time that is not known.
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

// record is a pin as a tile keeps it.
type record struct {
	pin     Pin
	said    int64 // when the newest answer came that spoke of it, a replay or one that lacked it included
	located int64 // when its locator was last written; noTime: not from this tile
	gone    bool  // said says that it is gone: kept so that an older answer, arriving late, does not bring it back
}

func (r *record) seen() int64  { return r.pin.SeenAt.UnixMilli() }
func (r *record) until() int64 { return r.pin.SeenAt.Add(r.pin.Lifetime).UnixMilli() }
func (r *record) stamp() int64 { return millisOf(r.pin.Stamp) }

// lapsed says that nothing can come any more that needs the record. A pin that expired is kept for as long as replays
// state it, or the next one would pass for new.
func (r *record) lapsed(now int64) bool { return now >= r.said+Freshness.Milliseconds() }
