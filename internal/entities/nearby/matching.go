package nearby

import (
	"context"
	"slices"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// maxMatching is the number of entities around a report that are considered, the nearest first.
const maxMatching = 200

// Matching finds the entities that a report of a kind at a point may be about, by the rules of merging (D10.2), nearest
// first. It includes entities that votes hide, because the report may end that, and reports that only their authors may
// read, but not entities that a curator or the law hides. It calls no upstream.
func (r *Reader) Matching(ctx context.Context, at geo.Point, kind mapdata.Kind) []mapdata.Hit {
	s := mapdata.Search{
		Center: at, Kinds: kind.Matching(), Served: true, Suppressed: true, Waiting: true, Now: r.Now(), Limit: maxMatching,
	}
	for k := range mapdata.Kind(mapdata.KindCount) {
		if s.Kinds.Has(k) {
			s.Radius = max(s.Radius, k.Info().MergeDistance)
		}
	}
	var hits []mapdata.Hit
	if r.Live != nil {
		hits, _ = r.Live.Near(ctx, &s, "", nil)
		r.countVotes(hits, &s)
	}
	hits, _ = r.Index.Search(&s, hits)
	hits = slices.DeleteFunc(hits, func(h mapdata.Hit) bool {
		reach := max(kind.Info().MergeDistance, h.Kind.Info().MergeDistance)
		return h.Hidden != nil || h.Chord > geo.ChordSquaredOf(reach) || r.HiddenByLaw(h.Point, h.Kind)
	})
	slices.SortFunc(hits, func(a, b mapdata.Hit) int { return a.Compare(&b) })
	return hits
}

// HiddenByLaw reports whether the law hides a kind at a point from drivers.
func (r *Reader) HiddenByLaw(p geo.Point, kind mapdata.Kind) bool {
	return r.Law != nil && r.Law.Judge(p, kind).Hidden
}
