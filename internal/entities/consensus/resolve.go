package consensus

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"wayside/internal/ground/mapdata"
)

// Resolver converts the results of a read to the pins to show. The zero value is ready. It reuses memory from call to
// call, and serves one goroutine at a time.
type Resolver struct {
	kinds *kindTable // nil: not used yet
	seed  maphash.Seed

	gone     []bool // by position in the hits: not shown
	same     buckets
	sources  sourceNumbers
	clusters clusters
	members  []int32
	ranged   []ranged // scratch of MergeFeeds
	merged   []mapdata.MergedID
	order    order

	openSets []int32 // scratch of Settled
}

// Resolve applies votes and merging to hits, which may come in any order, and returns the pins to show, ordered as by
// mapdata.Hit.Compare. Counts and ChangedAt of a pin that represents several hits are those of all (D10.3). The result
// does not depend on the order of hits.
//
// Live incidents that votes hide at now are left out, unless suppressed, which means that the caller may see them; the
// index did the same for feeds (D9.5). A hidden pin that the caller sees stands alone: it neither hides another nor
// adds to it (D10.1).
//
// The result lies in the array of hits. Its Merged are valid until the next call.
func (r *Resolver) Resolve(hits []mapdata.Hit, now time.Time, suppressed bool) []mapdata.Hit {
	r.prepare()
	at := now.UnixMilli()
	r.drop(hits, at, suppressed)
	r.addNodes(hits, at)
	r.clusters.unite(hits, r.kinds)
	r.merge(hits)
	return r.order.arrange(hits, r.gone)
}

// prepare initialises the zero value.
func (r *Resolver) prepare() {
	if r.kinds == nil {
		r.kinds, r.seed = newKindTable(), maphash.MakeSeed()
		r.clusters.pairLimits = pairLimits{unordered: maxUnorderedPairs, atOnce: maxPairs}
	}
}

// drop marks hits that are never shown: those that votes hide, and duplicates of an incident from other upstreams.
func (r *Resolver) drop(hits []mapdata.Hit, now int64, suppressed bool) {
	r.gone = slices.Grow(r.gone[:0], len(hits))[:len(hits)]
	clear(r.gone)
	r.same.reset(len(hits))
	for i := range hits {
		h := &hits[i]
		h.Merged = nil
		if h.Source == mapdata.Incidents && h.DisputedUntil > now && !suppressed {
			r.gone[i] = true
			continue
		}
		if h.Source == mapdata.Incidents { // ids are unique within a feed
			r.dropDuplicate(hits, int32(i))
		}
	}
}

// dropDuplicate keeps one of the live incidents with the same external id, because their votes are the same votes.
func (r *Resolver) dropDuplicate(hits []mapdata.Hit, i int32) {
	h := &hits[i]
	head := r.same.head(maphash.Bytes(r.seed, h.ExternalID))
	for place := *head; place != 0; place = r.same.next[place-1] {
		// The first of its id stays in the chain and is replaced by the best so far.
		best := &hits[place-1]
		if string(best.ExternalID) != string(h.ExternalID) {
			continue
		}
		if compareDuplicates(h, best) < 0 {
			*best = *h
		}
		r.gone[i] = true
		return
	}
	r.same.put(head, i)
}

// compareDuplicates orders upstreams' reports of one incident, the best first.
func compareDuplicates(a, b *mapdata.Hit) int {
	return cmp.Or(
		cmp.Compare(a.Rank, b.Rank),
		cmp.Compare(confidence(b), confidence(a)),
		cmp.Compare(b.LastSeenAt, a.LastSeenAt),
		strings.Compare(a.Upstream, b.Upstream),
		// One upstream reports it twice: any stable order will do.
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Point.Lat, b.Point.Lat),
		cmp.Compare(a.Point.Lng, b.Point.Lng),
		cmp.Compare(b.ChangedAt, a.ChangedAt),
	)
}

// compareForDisplay orders the hits of one event, the one to be shown first (D10.3).
func compareForDisplay(a, b *mapdata.Hit) int {
	// One comparison after the other: the first decides most.
	if a.Rank != b.Rank {
		return cmp.Compare(a.Rank, b.Rank)
	}
	if c := cmp.Compare(confidence(b), confidence(a)); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(b.Confirms, a.Confirms), cmp.Compare(b.LastSeenAt, a.LastSeenAt)); c != 0 {
		return c
	}
	return mapdata.CompareEntityIDs(a.Source, a.ExternalID, b.Source, b.ExternalID)
}

func confidence(h *mapdata.Hit) float64 {
	return mapdata.ConfidenceOf(int(h.Confirms), int(h.Disputes), float64(h.Prior))
}

// addNodes collects the hits that may be merged.
func (r *Resolver) addNodes(hits []mapdata.Hit, now int64) {
	r.clusters.nodes = r.clusters.nodes[:0]
	r.sources.reset(r.seed)
	for i := range hits {
		h := &hits[i]
		if r.gone[i] || h.DisputedUntil > now || !r.kinds.mergeable.Has(h.Kind) {
			continue
		}
		r.addNode(hits, int32(i))
	}
	r.clusters.sources = len(r.sources.known)
}

func (r *Resolver) addNode(hits []mapdata.Hit, i int32) {
	h := &hits[i]
	r.clusters.nodes = append(r.clusters.nodes, node{at: h.Point.Vector(), hit: i, kind: h.Kind, source: r.sources.number(h)})
}

// merge makes one pin of each cluster (D10.3).
func (r *Resolver) merge(hits []mapdata.Hit) {
	r.merged = r.merged[:0]
	nodes := r.clusters.nodes
	for i := range nodes {
		if nodes[i].link == int32(i) || r.clusters.roots[i] != int32(i) {
			continue // alone, or not the root of its cluster
		}
		r.members = append(r.members[:0], nodes[i].hit)
		for o := nodes[i].link; o != int32(i); o = nodes[o].link {
			r.members = append(r.members, nodes[o].hit)
		}
		slices.SortFunc(r.members, func(a, b int32) int { return compareForDisplay(&hits[a], &hits[b]) })
		r.mergeMembers(hits)
	}
}

// mergeMembers merges the members into the first one.
func (r *Resolver) mergeMembers(hits []mapdata.Hit) {
	shown := &hits[r.members[0]]
	from := len(r.merged)
	for _, m := range r.members[1:] {
		o := &hits[m]
		shown.Confirms += o.Confirms
		shown.Disputes += o.Disputes
		shown.CountedConfirms += o.CountedConfirms
		shown.CountedDisputes += o.CountedDisputes
		shown.ChangedAt = max(shown.ChangedAt, o.ChangedAt)
		r.merged = append(r.merged, mapdata.MergedID{
			Source: o.Source, ExternalID: o.ExternalID, Prepared: o.Prepared, ExpiresAt: o.ExpiresAt, Point: o.Point, Kind: o.Kind,
		})
		r.gone[m] = true
	}
	shown.Merged = r.merged[from:len(r.merged):len(r.merged)]
}
