package nearby

import (
	"slices"
	"strconv"

	"wayside/internal/entities/law"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// rules holds the law's state of one read.
type rules struct {
	view   law.View
	own    []mapdata.SourceID // the caller's own, to which no law applies
	zones  []mapdata.Hit      // scratch
	places map[zoneKey]int    // indexes of zones
}

// zoneKey identifies a zone.
type zoneKey struct {
	middle geo.Point
	width  int32
	kind   mapdata.Kind
}

// prepareRules sets the rules for a query, and reports whether the law affects it. The law does not apply to a curator who is
// not driving.
func (r *Reader) prepareRules(q *Query, s *mapdata.Search, a *Answer) bool {
	a.Hidden = 0
	if r.Law == nil || q.Curator && !q.Driving {
		a.rules.view = law.View{}
		return false
	}
	r.Law.Near(s.Center, s.Radius, &a.rules.view)
	if a.rules.view.Kinds()&s.Kinds == 0 {
		a.rules.view = law.View{}
		return false
	}
	a.rules.own = a.rules.own[:0]
	for _, id := range s.Own {
		a.rules.own = append(a.rules.own, id.SourceID())
	}
	a.Hidden = a.rules.view.HiddenAt(s.Center) & s.Kinds
	return true
}

// judge returns the law's verdict on an entity.
func (x *rules) judge(h *mapdata.Hit) law.Verdict {
	if !x.view.Kinds().Has(h.Kind) || slices.Contains(x.own, h.Source) {
		return law.Verdict{}
	}
	return x.view.Judge(h.Point, h.Kind)
}

// hide removes the hits that the law hides.
func (x *rules) hide(hits []mapdata.Hit) []mapdata.Hit {
	if x.view.Hidden() == 0 {
		return hits
	}
	return slices.DeleteFunc(hits, func(h mapdata.Hit) bool { return x.judge(&h).Hidden })
}

// zone replaces cameras by zones where the law requires it, removes hits whose shown position is outside of the search's
// circle, and sorts the rest. The result does not depend on where in its zone a camera is: neither whether it is found, nor
// its order.
//
// Cameras of one kind in one cell are one zone. It has the lowest id, and the others are merged into it.
func (r *Reader) zone(hits []mapdata.Hit, s *mapdata.Search, x *rules) []mapdata.Hit {
	if x.view.Drift() == 0 {
		return hits
	}
	if x.places == nil {
		x.places = make(map[zoneKey]int)
	}
	clear(x.places)
	x.zones = x.zones[:0]
	center, reach := s.Center.Vector(), geo.ChordSquaredOf(s.Radius)
	shown := hits[:0]
	for i := range hits {
		h := &hits[i]
		verdict := x.judge(h)
		if verdict.Zone == 0 {
			if h.Chord <= reach {
				shown = append(shown, *h)
			}
			continue
		}
		middle := law.Middle(h.Point, verdict.Zone)
		chord := middle.Vector().ChordSquared(center)
		if chord > reach {
			continue
		}
		h.Point, h.Zone, h.Chord = middle, int32(verdict.Zone), chord
		key := zoneKey{middle, h.Zone, h.Kind}
		if at, known := x.places[key]; known {
			mergeIntoZone(&x.zones[at], h)
			continue
		}
		x.places[key] = len(x.zones)
		x.zones = append(x.zones, *h)
	}
	for i := range x.zones {
		r.hideDetails(&x.zones[i])
		slices.SortFunc(x.zones[i].Merged, func(a, b mapdata.MergedID) int {
			return mapdata.CompareEntityIDs(a.Source, a.ExternalID, b.Source, b.ExternalID)
		})
	}
	slices.SortFunc(x.zones, func(a, b mapdata.Hit) int { return a.Compare(&b) })
	return interleave(shown, x.zones)
}

// interleave merges sorted zones into sorted hits.
func interleave(hits, zones []mapdata.Hit) []mapdata.Hit {
	from := len(hits) - 1
	hits = append(hits, zones...)
	for to, zone := len(hits)-1, len(zones)-1; zone >= 0; to-- {
		if from >= 0 && hits[from].Compare(&zones[zone]) > 0 {
			hits[to] = hits[from]
			from--
		} else {
			hits[to] = zones[zone]
			zone--
		}
	}
	return hits
}

// mergeIntoZone adds one more camera to a zone.
func mergeIntoZone(zone, camera *mapdata.Hit) {
	merged := zone.Merged
	if mapdata.CompareEntityIDs(camera.Source, camera.ExternalID, zone.Source, zone.ExternalID) < 0 {
		*zone, *camera = *camera, *zone
	}
	zone.Confirms += camera.Confirms
	zone.Disputes += camera.Disputes
	zone.CountedConfirms += camera.CountedConfirms
	zone.CountedDisputes += camera.CountedDisputes
	zone.ChangedAt = max(zone.ChangedAt, camera.ChangedAt)
	zone.Merged = append(merged, mapdata.MergedID{Source: camera.Source, ExternalID: camera.ExternalID})
}

// zoneProperty marks a zone among an entity's properties, with its width in metres. A provider cannot set it (D3.3).
const zoneProperty = "wayside_zone_m"

// hideDetails removes the line and the provider's properties of a camera that is shown as a zone, because they may reveal the
// position.
func (r *Reader) hideDetails(h *mapdata.Hit) {
	properties := strconv.AppendInt([]byte(`{"`+zoneProperty+`":`), int64(h.Zone), 10)
	h.Prepared = r.Encode(nil, &mapdata.Entity{ExternalID: string(h.ExternalID), Kind: h.Kind, Point: h.Point, Properties: append(properties, '}')})
}

// applyLaw applies the law to one entity, and reports whether it may be shown. feed is nil for a live incident.
func (r *Reader) applyLaw(h *mapdata.Hit, feed *mapdata.Feed, q *Query) bool {
	if r.Law == nil || !q.Driving && (q.Curator || owns(feed, q.Account)) {
		return true
	}
	verdict := r.Law.Judge(h.Point, h.Kind)
	if verdict.Zone > 0 {
		h.Point, h.Zone = law.Middle(h.Point, verdict.Zone), int32(verdict.Zone)
		r.hideDetails(h)
	}
	return !verdict.Hidden
}

func owns(feed *mapdata.Feed, account mapdata.AccountID) bool {
	return feed != nil && feed.ManagedBy(account)
}
