package mapdata

import (
	"math"

	"wayside/internal/geo"
)

// Usage is what a feed holds in the store, expired entities included until they are removed.
type Usage struct {
	Entities int
	Bytes    int64 // of rows: RowBytes of each entity
}

// Plus adds two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{Entities: u.Entities + v.Entities, Bytes: u.Bytes + v.Bytes}
}

// RowBytes is how much an entity counts towards the bounds on bytes: its external id, its properties and its line. All else
// has a length of its own.
func RowBytes(externalID string, properties []byte, line []geo.Point) int64 {
	return int64(len(externalID) + len(properties) + LineBytes(line))
}

// StorageLimits bound what providers may store (D5.10). 0: no bound.
type StorageLimits struct {
	EntitiesPerFeed int
	BytesPerFeed    int64
	BytesPerAccount int64 // of all its feeds

	// Of a feed that no curator has approved yet.
	UnreviewedEntitiesPerFeed int
	UnreviewedBytesPerFeed    int64
}

// OfFeed is what a feed may hold; reviewed says whether it was approved once. A bound that is off is the largest number.
func (l StorageLimits) OfFeed(reviewed bool) Usage {
	most := Usage{Entities: orUnbounded(l.EntitiesPerFeed), Bytes: orUnbounded(l.BytesPerFeed)}
	if !reviewed {
		most.Entities = min(most.Entities, orUnbounded(l.UnreviewedEntitiesPerFeed))
		most.Bytes = min(most.Bytes, orUnbounded(l.UnreviewedBytesPerFeed))
	}
	return most
}

// OfAccount is how many bytes all feeds of an account may hold.
func (l StorageLimits) OfAccount() int64 { return orUnbounded(l.BytesPerAccount) }

func orUnbounded[N int | int64](limit N) N {
	if limit <= 0 {
		return N(math.MaxInt64)
	}
	return limit
}
