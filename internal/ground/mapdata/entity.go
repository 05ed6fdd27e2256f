package mapdata

import (
	"time"

	"wayside/internal/ground/geo"
)

// Entity is one thing on the map, in the state of its feed's last good row.
type Entity struct {
	Feed       FeedID
	ExternalID string // 1 to 256 bytes of UTF-8 without control characters (D3.1)
	Kind       Kind
	Point      geo.Point
	Line       []geo.Point // shape of a live incident, or the line that a bridge returned beside the row (D17.3); nil: none
	Properties []byte      // a compact JSON object of at most 16 KiB, its reserved keys removed (D3.3)
	Network    string      // charger operator id of the property "network" (D4.7); empty: the primary network's
	Digest     uint64      // of kind, point, properties, lifetime, line and end: equal digests mean equal content

	FirstSeenAt time.Time
	SeenAt      time.Time     // last seen; zero: at its feed's SnapshotAt, as for all rows of the last snapshot
	ChangedAt   time.Time     // last change of what readers see (D4.3)
	Lifetime    time.Duration // from last seen to expiry; 0: persistent
	EndsAt      time.Time     // latest expiry (D17.3): whole seconds, at most LatestEnd; zero: no end
	AbsentSince int64         // number of the first of the consecutive good snapshots that lacked it (D6.9); 0: not absent
}

// LastSeenAt returns when the entity was last seen; snapshotAt is its feed's SnapshotAt.
func (e *Entity) LastSeenAt(snapshotAt time.Time) time.Time {
	if e.SeenAt.IsZero() {
		return snapshotAt
	}
	return e.SeenAt
}

// ExpiresAt returns when the entity expires (D3.6, D17.3), and false for a persistent one without an end; snapshotAt is
// its feed's SnapshotAt.
func (e *Entity) ExpiresAt(snapshotAt time.Time) (time.Time, bool) {
	if e.Lifetime == 0 {
		return e.EndsAt, !e.EndsAt.IsZero()
	}
	return noLater(e.LastSeenAt(snapshotAt).Add(e.Lifetime), e.EndsAt), true
}

// noLater returns the earlier of a time and an end, which is zero if there is no end.
func noLater(at, end time.Time) time.Time {
	if !end.IsZero() && end.Before(at) {
		return end
	}
	return at
}

// Stored is the part of a stored entity that a comparison needs.
type Stored struct {
	ExternalID  string
	Digest      uint64
	FirstSeenAt time.Time
	ChangedAt   time.Time
	SeenAt      time.Time // zero: at the feed's SnapshotAt
	Lifetime    time.Duration
	EndsAt      time.Time // zero: no end
	AbsentSince int64
	Bytes       int64     // as RowBytes
	KeptUntil   time.Time // minimum expiry because of confirms (D9.6); zero: none
}

// Alive reports whether the entity had not expired at now; snapshotAt is its feed's SnapshotAt. An entity expires
// exactly at its expiry, not after it.
func (s *Stored) Alive(snapshotAt, now time.Time) bool {
	if !s.EndsAt.IsZero() && !now.Before(s.EndsAt) {
		return false
	}
	if s.Lifetime == 0 {
		return true
	}
	seen := s.SeenAt
	if seen.IsZero() {
		seen = snapshotAt
	}
	return now.Before(seen.Add(s.Lifetime)) || now.Before(s.KeptUntil)
}
