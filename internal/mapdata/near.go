package mapdata

import (
	"bytes"
	"encoding/base64"
	"time"

	"wayside/internal/geo"
)

// Search asks an index for what is near a place.
type Search struct {
	Center geo.Point
	Radius float64 // metres over the globe; more than 0
	Kinds  KindSet

	Served bool     // every feed that everybody may read …
	Feeds  []FeedID // … and these, whoever may read them …
	Own    []FeedID // … and these, whose chargers are found whatever their network: the caller's own (D4.8)

	AllNetworks bool     // chargers of every network; otherwise
	Networks    []string // of these, and those that name none (D4.7)

	Suppressed bool // what drivers' votes hide is found too: for curators (D9.5). Owners find their own in any case

	Since time.Time // only what changed after it (D4.3); zero: everything
	Now   time.Time // what has expired by then is not found
	Limit int       // at most this many, the nearest; more than 0
}

// Hit is one entity that a search found. It is read-only and stays valid for as long as it is held.
type Hit struct {
	Source      SourceID
	Layer       string  // the layer's slug
	Chord       float64 // squared chord to the centre: orders as metres do, see geo.MetresOf
	ExternalID  []byte
	Prepared    []byte // what the index's encoder made of the entity when it was stored
	FirstSeenAt int64  // milliseconds since 1970
	LastSeenAt  int64  // milliseconds since 1970
	ExpiresAt   int64  // milliseconds since 1970; 0: persistent
	ChangedAt   int64  // milliseconds since 1970: when what readers see last changed, votes included (D4.3)

	DisputedUntil int64 // milliseconds since 1970, of a pin that votes hide and the caller may see; 0: otherwise
	Point         geo.Point
	Kind          Kind
	Zone          int32 // metres: the width of the zone of which Point is the middle, where the law shows no place; 0: Point is the place

	Confirms, Disputes int32 // standing votes of this one, and of those merged into it (D10.3)
	Prior              float32
	Rank               int32      // who is shown of several that are merged: the lowest (D10.3)
	Upstream           string     // of a live incident: who said so
	Merged             []MergedID // the others of the event, most telling first
}

// RankOfFeeds is behind every upstream's priority (D10.3).
const RankOfFeeds = 1 << 20

// MergedID names an entity that another one stands for (D10.3).
type MergedID struct {
	Source     SourceID
	ExternalID []byte
}

// maxExternalID is the longest external id in bytes (D3.1).
const maxExternalID = 256

// Compare orders hits nearest first, then by id (D4.2).
func (h *Hit) Compare(o *Hit) int {
	switch {
	case h.Chord < o.Chord:
		return -1
	case h.Chord > o.Chord:
		return 1
	}
	return CompareEntityIDs(h.Source, h.ExternalID, o.Source, o.ExternalID)
}

// CompareEntityIDs orders two entities as the text of their ids does, without making it.
func CompareEntityIDs(aSource SourceID, aID []byte, bSource SourceID, bID []byte) int {
	if aSource != bSource {
		a, b := EntityIDPrefix(aSource), EntityIDPrefix(bSource)
		return bytes.Compare([]byte(a), []byte(b))
	}
	// base64 does not keep the order of bytes, so that the encoded forms must be compared.
	var a, b [(maxExternalID + 2) / 3 * 4]byte
	return bytes.Compare(
		base64.RawURLEncoding.AppendEncode(a[:0], aID),
		base64.RawURLEncoding.AppendEncode(b[:0], bID))
}
