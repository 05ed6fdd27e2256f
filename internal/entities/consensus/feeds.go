package consensus

import (
	"math"
	"slices"
	"time"

	"wayside/internal/ground/mapdata"
)

// maxCompared is the mean number of comparisons per hit after which MergeFeeds leaves finding pairs to the grid.
const maxCompared = 64

// ranged is a hit that may be merged, with the data that rule most pairs out, so that the hits themselves are seldom read again.
type ranged struct {
	chord    float64 // to the center; not squared
	lat, lng float64 // degrees
	radius   float64 // of the kind's family
	hit      int32
	paired   bool // another source's hit matches
}

// MergeFeeds merges entities of feeds that are one event, as Resolve does. The hits must be ordered as by mapdata.Hit.Compare, and contain
// no live incidents. Most reads have nothing to merge: they cost a look at each hit's kind and source if no two sources have alerts, and
// otherwise some comparisons of distances.
//
// The result lies in the array of hits and keeps their order. Its Merged are valid until the next call.
func (r *Resolver) MergeFeeds(hits []mapdata.Hit, now time.Time) []mapdata.Hit {
	r.prepare()
	r.clusters.nodes, r.clusters.pairs, r.clusters.ordered = r.clusters.nodes[:0], r.clusters.pairs[:0], false
	if !Several(hits, r.kinds.mergeable) {
		return hits
	}
	at := now.UnixMilli()
	if !r.findPaired(hits, at) {
		return hits
	}
	r.gone = slices.Grow(r.gone[:0], len(hits))[:len(hits)]
	clear(r.gone)
	r.sources.reset(r.seed)
	for i := range r.ranged {
		if r.ranged[i].paired {
			r.addNode(hits, r.ranged[i].hit)
		}
	}
	r.clusters.sources = len(r.sources.known)
	r.clusters.unite(hits, r.kinds)
	r.merge(hits)
	shown := hits[:0]
	for i := range hits {
		if r.gone[i] {
			continue
		}
		if len(shown) < i {
			shown = append(shown, hits[i])
		} else {
			shown = hits[:i+1]
		}
	}
	return shown
}

// Several reports whether hits of the kinds come from at least two sources.
func Several(hits []mapdata.Hit, kinds mapdata.KindSet) bool {
	var first *mapdata.Hit
	for i := range hits {
		h := &hits[i]
		switch {
		case !kinds.Has(h.Kind):
		case first == nil:
			first = h
		case h.Source != first.Source:
			return true
		}
	}
	return false
}

// findPaired collects the hits that may be merged in r.ranged, marks those that match a hit of another source, and reports whether there
// are any. No two points are nearer to each other than their distances to the center differ, so that only neighbours in the order of
// distances are compared.
func (r *Resolver) findPaired(hits []mapdata.Hit, now int64) (found bool) {
	r.ranged = r.ranged[:0]
	farthest := 0.0 // from the equator
	for i := range hits {
		if h := &hits[i]; r.kinds.mergeable.Has(h.Kind) && h.DisputedUntil <= now {
			r.ranged = append(r.ranged, ranged{
				chord: math.Sqrt(h.Chord), lat: h.Point.Lat, lng: h.Point.Lng, radius: r.kinds.family[h.Kind].radius, hit: int32(i),
			})
			farthest = max(farthest, math.Abs(h.Point.Lat))
		}
	}
	narrowest := math.Cos(farthest * math.Pi / 180) // the length of a degree of longitude there, in degrees of latitude
	if len(r.ranged) > maxAround {
		r.markAll() // whether there is a crowd depends on all of them
		return true
	}
	left := maxCompared * len(r.ranged)
	for i := range r.ranged {
		a := &r.ranged[i]
		for j := i + 1; j < len(r.ranged) && r.ranged[j].chord-a.chord <= a.radius; j++ {
			if left--; left < 0 {
				r.markAll()
				return true
			}
			b := &r.ranged[j]
			if a.apart(b, narrowest) || a.paired && b.paired {
				continue
			}
			if r.kinds.matches(&hits[a.hit], &hits[b.hit]) {
				a.paired, b.paired, found = true, true, true
			}
		}
	}
	return found
}

// smallAngle is an angle in degrees so small that the sine of its half is shorter than the half by less than 1 in 4 000.
const smallAngle = 4

// apart reports whether two hits are certainly farther from each other than a.radius, as far as that needs no trigonometry. They are no
// nearer to each other than their latitudes, nor, within a few degrees, than their longitudes on the narrowest parallel.
func (a *ranged) apart(b *ranged, narrowest float64) bool {
	reach := a.radius * (180 / math.Pi) * 1.001 // a chord is a little shorter than its arc
	if math.Abs(a.lat-b.lat) > reach {
		return true
	}
	lng := math.Abs(a.lng - b.lng)
	return lng < smallAngle && lng*narrowest > reach
}

func (r *Resolver) markAll() {
	for i := range r.ranged {
		r.ranged[i].paired = true
	}
}

// matches reports whether two hits may be one event (D10.2).
func (t *kindTable) matches(a, b *mapdata.Hit) bool {
	if a.Source == b.Source || !t.match[a.Kind].Has(b.Kind) {
		return false
	}
	return a.Point.Vector().ChordSquared(b.Point.Vector()) <= max(t.reach[a.Kind], t.reach[b.Kind])
}
