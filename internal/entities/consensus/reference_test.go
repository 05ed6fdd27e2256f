package consensus_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// event is a cluster of the reference: the hits of one event, by source.
type event map[[2]string]mapdata.Hit

func sourceOf(h *mapdata.Hit) [2]string { return [2]string{string(h.Source), h.Upstream} }

// reference implements D9.5 and D10 literally, without regard to speed: while any two events may be merged, it merges those
// with the nearest pair of hits.
func reference(hits []mapdata.Hit, now time.Time, suppressed bool) []mapdata.Hit {
	var events []event
	for _, h := range deduplicated(hits, now, suppressed) {
		events = append(events, event{sourceOf(&h): h})
	}
	for {
		a, b, ok := nearest(events, now)
		if !ok {
			break
		}
		maps.Copy(events[a], events[b])
		events = slices.Delete(events, b, b+1)
	}
	var shown []mapdata.Hit
	for _, e := range events {
		shown = append(shown, pin(e))
	}
	slices.SortFunc(shown, func(a, b mapdata.Hit) int { return a.Compare(&b) })
	return shown
}

func deduplicated(hits []mapdata.Hit, now time.Time, suppressed bool) []mapdata.Hit {
	best := make(map[string]mapdata.Hit)
	for _, h := range hits {
		if h.Source == mapdata.Incidents && time.UnixMilli(h.DisputedUntil).After(now) && !suppressed {
			continue
		}
		id := mapdata.EntityID(h.Source, string(h.ExternalID))
		b, known := best[id]
		confidence, other := confidenceOf(&h), confidenceOf(&b)
		if !known || h.Rank < b.Rank || h.Rank == b.Rank && (confidence > other || confidence == other && (h.LastSeenAt > b.LastSeenAt ||
			h.LastSeenAt == b.LastSeenAt && h.Upstream < b.Upstream)) {
			best[id] = h
		}
	}
	return slices.Collect(maps.Values(best))
}

func confidenceOf(h *mapdata.Hit) float64 {
	return mapdata.ConfidenceOf(int(h.Confirms), int(h.Disputes), float64(h.Prior))
}

// nearest finds the nearest pair of hits that match, in two events that share no source.
func nearest(events []event, now time.Time) (a, b int, ok bool) {
	var chord float64
	var names []string
	for i := range events {
		for j := range i {
			if shareSource(events[i], events[j]) {
				continue
			}
			for _, p := range events[i] {
				for _, q := range events[j] {
					if !matches(&p, &q, now) {
						continue
					}
					d, n := p.Point.Vector().ChordSquared(q.Point.Vector()), namesOf(&p, &q)
					if !ok || d < chord || d == chord && slices.Compare(n, names) < 0 {
						a, b, ok, chord, names = j, i, true, d, n
					}
				}
			}
		}
	}
	return a, b, ok
}

func namesOf(p, q *mapdata.Hit) []string {
	a := []string{string(p.Source), string(p.ExternalID)}
	b := []string{string(q.Source), string(q.ExternalID)}
	if slices.Compare(a, b) > 0 {
		a, b = b, a
	}
	return append(a, b...)
}

func shareSource(a, b event) bool {
	for s := range a {
		if _, both := b[s]; both {
			return true
		}
	}
	return false
}

func matches(p, q *mapdata.Hit, now time.Time) bool {
	for _, h := range []*mapdata.Hit{p, q} {
		if time.UnixMilli(h.DisputedUntil).After(now) {
			return false
		}
	}
	a, b := p.Kind.Info(), q.Kind.Info()
	if strings.HasPrefix(b.ID, a.ID+".") {
		a, b = b, a
	}
	return (a.ID == b.ID || strings.HasPrefix(a.ID, b.ID+".")) && geo.Distance(p.Point, q.Point) <= min(a.MergeDistance, b.MergeDistance) &&
		a.MergeDistance > 0
}

// pin returns the representative of an event (D10.3).
func pin(e event) mapdata.Hit {
	members := slices.Collect(maps.Values(e))
	slices.SortFunc(members, func(a, b mapdata.Hit) int {
		switch {
		case a.Rank != b.Rank:
			return int(a.Rank) - int(b.Rank)
		case confidenceOf(&a) != confidenceOf(&b):
			if confidenceOf(&a) > confidenceOf(&b) {
				return -1
			}
			return 1
		case a.Confirms != b.Confirms:
			return int(b.Confirms) - int(a.Confirms)
		case a.LastSeenAt != b.LastSeenAt:
			return int(b.LastSeenAt - a.LastSeenAt)
		}
		return strings.Compare(mapdata.EntityID(a.Source, string(a.ExternalID)), mapdata.EntityID(b.Source, string(b.ExternalID)))
	})
	shown := members[0]
	shown.Merged = nil
	for _, m := range members[1:] {
		shown.Confirms, shown.Disputes = shown.Confirms+m.Confirms, shown.Disputes+m.Disputes
		shown.ChangedAt = max(shown.ChangedAt, m.ChangedAt)
		shown.Merged = append(shown.Merged, mergedID(m))
	}
	return shown
}

// mergedID returns the data that a pin keeps of a hit that is merged into it.
func mergedID(h mapdata.Hit) mapdata.MergedID {
	return mapdata.MergedID{Source: h.Source, ExternalID: h.ExternalID, Prepared: h.Prepared, ExpiresAt: h.ExpiresAt, Point: h.Point, Kind: h.Kind}
}
