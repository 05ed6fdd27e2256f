package mapdata

import (
	"time"

	"wayside/internal/geo"
)

// Entity is one thing on the map, as a feed's last good row left it.
type Entity struct {
	Feed       FeedID
	ExternalID string // 1 to 256 bytes of UTF-8 without control characters (D3.1)
	Kind       Kind
	Point      geo.Point
	Line       []geo.Point // its shape, of live incidents alone; nil: it has none
	Properties []byte      // a compact JSON object of at most 16 KiB, its reserved keys removed (D3.3)
	Network    string      // charger operator id of the property "network" (D4.7); empty: the primary network's
	Digest     uint64      // of kind, point, properties and lifetime: equal digests mean equal content

	FirstSeenAt time.Time
	SeenAt      time.Time     // last seen; zero: at its feed's SnapshotAt, as every row of the last snapshot was
	ChangedAt   time.Time     // when what readers see last changed (D4.3)
	Lifetime    time.Duration // from last seen to expiry; 0: persistent
	AbsentSince int64         // number of the first good snapshot in a row that lacked it (D6.9); 0: not absent
}

// LastSeenAt is when the entity was last seen; snapshotAt is its feed's.
func (e *Entity) LastSeenAt(snapshotAt time.Time) time.Time {
	if e.SeenAt.IsZero() {
		return snapshotAt
	}
	return e.SeenAt
}

// ExpiresAt is when the entity goes (D3.6), and false for one that persists; snapshotAt is its feed's.
func (e *Entity) ExpiresAt(snapshotAt time.Time) (time.Time, bool) {
	if e.Lifetime == 0 {
		return time.Time{}, false
	}
	return e.LastSeenAt(snapshotAt).Add(e.Lifetime), true
}

// Stored is what a comparison needs to know of an entity that the store holds.
type Stored struct {
	ExternalID  string
	Digest      uint64
	FirstSeenAt time.Time
	ChangedAt   time.Time
	SeenAt      time.Time // zero: at the feed's SnapshotAt
	Lifetime    time.Duration
	AbsentSince int64
	KeptUntil   time.Time // drivers' confirms keep it so long (D9.6); zero: they do not
}

// Alive says whether the entity had not yet expired at now; snapshotAt is its feed's. An entity is gone at the very
// instant of its expiry.
func (s *Stored) Alive(snapshotAt, now time.Time) bool {
	if s.Lifetime == 0 {
		return true
	}
	seen := s.SeenAt
	if seen.IsZero() {
		seen = snapshotAt
	}
	return now.Before(seen.Add(s.Lifetime)) || now.Before(s.KeptUntil)
}
