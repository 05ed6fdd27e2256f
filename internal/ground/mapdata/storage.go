package mapdata

import (
	"math"

	"wayside/internal/ground/geo"
)

// Usage is the stored volume of a feed, including expired entities until they are removed.
type Usage struct {
	Entities int
	Bytes    int64 // of rows: RowBytes of each entity
}

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{Entities: u.Entities + v.Entities, Bytes: u.Bytes + v.Bytes}
}

// RowBytes returns the size of an entity that counts towards the bounds on bytes: that of its external id, its
// properties and its line. All other fields have a fixed size.
func RowBytes(externalID string, properties []byte, line []geo.Point) int64 {
	return int64(len(externalID) + len(properties) + LineBytes(line))
}

// StorageLimits bound what providers may store (D5.10). 0: no bound.
type StorageLimits struct {
	EntitiesPerFeed int
	BytesPerFeed    int64
	BytesPerAccount int64 // of all its feeds

	// Bounds of a feed that no curator has approved yet.
	UnreviewedEntitiesPerFeed int
	UnreviewedBytesPerFeed    int64
}

// OfFeed returns the bounds of a feed; reviewed means that it was approved at some time. An absent bound is returned as
// the largest number.
func (l StorageLimits) OfFeed(reviewed bool) Usage {
	most := Usage{Entities: orUnbounded(l.EntitiesPerFeed), Bytes: orUnbounded(l.BytesPerFeed)}
	if !reviewed {
		most.Entities = min(most.Entities, orUnbounded(l.UnreviewedEntitiesPerFeed))
		most.Bytes = min(most.Bytes, orUnbounded(l.UnreviewedBytesPerFeed))
	}
	return most
}

// OfAccount returns the bound on the bytes of all feeds of an account.
func (l StorageLimits) OfAccount() int64 { return orUnbounded(l.BytesPerAccount) }

func orUnbounded[N int | int64](limit N) N {
	if limit <= 0 {
		return N(math.MaxInt64)
	}
	return limit
}
