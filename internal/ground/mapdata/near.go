package mapdata

import (
	"bytes"
	"encoding/base64"
	"strings"
	"time"

	"wayside/internal/ground/geo"
)

// Search selects entities around a point.
type Search struct {
	Center geo.Point
	Radius float64  // metres over the globe; more than 0
	Within *geo.Box // finds nothing outside of it; nil: the whole circle
	Kinds  KindSet

	Served bool     // every feed that everybody may read …
	Feeds  []FeedID // … and these, independent of who may read them …
	Own    []FeedID // … and these, whose chargers are found in every network: the caller's own (D4.8)

	AllNetworks bool     // chargers of every network; otherwise
	Networks    []string // of these, and those that name none (D4.7)

	Viewer  AccountID // the account that may read its own reports while they wait for supporters (D17.37); zero: a guest
	Waiting bool      // also find waiting reports of everybody, to compare a new one with them

	Suppressed bool // also find entities that votes hide, for curators (D9.5). Owners always find their own

	Since time.Time // only entities that changed later (D4.3); zero: all
	Now   time.Time // entities that have expired by then are not found
	Limit int       // number of nearest entities to return; more than 0
}

// Hit is one entity that a search found. It is read-only and stays valid while it is referenced.
type Hit struct {
	Source      SourceID
	Layer       string  // the layer's slug
	Chord       float64 // squared chord to the center: ordered like distances in metres, see geo.MetresOf
	ExternalID  []byte
	Prepared    []byte // output of the index's encoder when the entity was stored
	FirstSeenAt int64  // milliseconds since 1970
	LastSeenAt  int64  // milliseconds since 1970
	ExpiresAt   int64  // milliseconds since 1970; 0: persistent
	ChangedAt   int64  // milliseconds since 1970: the last change of what readers see, votes included (D4.3)

	DisputedUntil int64 // milliseconds since 1970, if votes or a curator hide the entity and the caller may see it; otherwise 0
	Point         geo.Point
	Kind          Kind
	Zone          int32 // metres: width of the zone with its center at Point, if the law hides the position; 0: Point is the position

	Confirms, Disputes int32 // standing votes of this entity and of those merged into it (D10.3)
	CountedConfirms    int32 // those of Confirms that count towards decisions about roads
	CountedDisputes    int32 // those of Disputes likewise
	Prior              float32
	Rank               int32      // the lowest of several merged entities is shown (D10.3)
	Upstream           string     // name of the upstream of a live incident
	Merged             []MergedID // the other entities of the event, in the order of D10.3
	Hidden             *Hiding    // by a curator, if the caller may see it; DisputedUntil is set then too
}

// RankOfFeeds is the rank of feeds, after every upstream's priority (D10.3).
const RankOfFeeds = 1 << 20

// MergedID identifies an entity that is merged into another one (D10.3).
type MergedID struct {
	Source     SourceID
	ExternalID []byte

	// Copied from the merged hit, and set only for entities that are merged during a read.
	Prepared  []byte
	ExpiresAt int64 // milliseconds since 1970; 0: persistent
	Point     geo.Point
	Kind      Kind
}

// maxExternalID is the longest external id in bytes (D3.1).
const maxExternalID = 256

// Compare orders hits by distance, then by id (D4.2).
func (h *Hit) Compare(o *Hit) int {
	switch {
	case h.Chord < o.Chord:
		return -1
	case h.Chord > o.Chord:
		return 1
	}
	return CompareEntityIDs(h.Source, h.ExternalID, o.Source, o.ExternalID)
}

// CompareEntityIDs orders two entities by their entity ids, without encoding them.
func CompareEntityIDs(aSource SourceID, aID []byte, bSource SourceID, bID []byte) int {
	if aSource != bSource {
		if len(aSource) == len(bSource) {
			return strings.Compare(string(aSource), string(bSource)) // the same text follows each
		}
		a, b := EntityIDPrefix(aSource), EntityIDPrefix(bSource)
		return bytes.Compare([]byte(a), []byte(b))
	}
	// base64 does not keep the order of bytes, so that encoded forms must be compared: of the first three bytes that differ, because
	// each three are encoded by themselves.
	differ := 0
	for least := min(len(aID), len(bID)); differ < least && aID[differ] == bID[differ]; {
		differ++
	}
	from := differ / 3 * 3
	var a, b [4]byte
	return bytes.Compare(
		base64.RawURLEncoding.AppendEncode(a[:0], aID[from:min(from+3, len(aID))]),
		base64.RawURLEncoding.AppendEncode(b[:0], bID[from:min(from+3, len(bID))]))
}
