package nearby

import (
	"context"
	"errors"
	"fmt"
	"time"

	"wayside/internal/ground/mapdata"
)

// End is the rule that determines when an entity ends.
type End string

// The rules.
const (
	EndLifetime  End = "lifetime"     // its lifetime after its source last reported it (D3.6)
	EndKept      End = "kept"         // extended by a confirm (D9.6)
	EndFreshness End = "freshness"    // five minutes after an upstream last reported it (Live incidents, 1)
	EndStated    End = "end"          // at the end that its source stated (D17.3)
	EndRetired   End = "when_retired" // persistent, until its source retires it
	EndAbsent    End = "when_absent"  // persistent, until three complete snapshots in a row lack it (D6.9)
)

// Entity is one entity with its votes, feed and end.
type Entity struct {
	Hit   mapdata.Hit // includes the entities merged into it, with the sums of their votes
	Voted mapdata.Voted
	Feed  *mapdata.Feed // nil: a live incident

	End  End
	Goes time.Time // zero: not determined by time

	MergedInto *mapdata.MergedID // the entity that it is merged into; nil: none
	Sources    []mapdata.SourceHealth
	At         time.Time
}

// Entity reads one entity by its id, with the entities merged with it. It calls no upstream. It fails with
// mapdata.ErrNotFound for an entity that does not exist, that the caller may not read or that is suppressed or hidden from
// them, and with mapdata.ErrUnavailable.
func (r *Reader) Entity(ctx context.Context, id string, q *Query) (*Entity, error) {
	now := r.Now()
	e := &Entity{At: now}
	var err error
	if e.Voted, e.Feed, err = r.find(ctx, id, q.Account, now); err != nil {
		return nil, err
	}
	hit := r.HitOf(&e.Voted, e.Feed, now)
	if e.Voted.Tally.WaitsFor(q.Account) {
		return nil, notFound()
	}
	if hit.DisputedUntil != 0 && !q.Curator && !owns(e.Feed, q.Account) || !r.applyLaw(&hit, e.Feed, q) {
		return nil, notFound()
	}
	e.Hit = hit
	e.End, e.Goes = r.end(&e.Voted, e.Feed, now)
	r.resolveMerges(ctx, q, e)
	return e, nil
}

func notFound() error {
	return mapdata.Describe(mapdata.ErrNotFound, "Unknown entity, or no longer there.")
}

// find returns the entity of an id, if the account may read it, and its feed; nil for a live incident.
func (r *Reader) find(ctx context.Context, id string, account mapdata.AccountID, now time.Time) (mapdata.Voted, *mapdata.Feed, error) {
	source, externalID, ok := mapdata.ParseEntityID(id)
	if !ok {
		return mapdata.Voted{}, nil, notFound()
	}
	feedID, ofFeed := source.FeedID()
	if !ofFeed {
		voted, err := r.findLive(ctx, externalID)
		return voted, nil, err
	}
	feed := r.Catalog.Feed(feedID, account)
	if feed == nil {
		return mapdata.Voted{}, nil, notFound()
	}
	voted, err := r.Records.Voted(ctx, feedID, externalID, now)
	if err == nil && lapsed(&voted.Entity, feed, account, now) {
		err = mapdata.ErrNotFound
	}
	if errors.Is(err, mapdata.ErrNotFound) {
		err = notFound()
	}
	return voted, feed, err
}

// lapsed reports whether a persistent entity is hidden because its feed has not been reached for long (D4.16).
func lapsed(e *mapdata.Entity, feed *mapdata.Feed, account mapdata.AccountID, now time.Time) bool {
	until := feed.PersistentUntil()
	return !until.IsZero() && !now.Before(until) && e.Lifetime == 0 && !owns(feed, account)
}

func (r *Reader) findLive(ctx context.Context, externalID string) (mapdata.Voted, error) {
	if r.Live == nil {
		return mapdata.Voted{}, notFound()
	}
	voted, err := r.Live.Find(ctx, externalID)
	if errors.Is(err, mapdata.ErrNotFound) {
		return voted, notFound()
	}
	if err != nil {
		return voted, fmt.Errorf("find live incident: %w", err)
	}
	if t, ok := r.Tallies.Lookup([]byte(externalID)); ok {
		voted.Tally = t
	}
	return voted, nil
}

// Allowed fails with mapdata.ErrNotFound if the law hides the entity from the caller or it does not exist, and with
// mapdata.ErrUnavailable. A suppressed entity is allowed, because a vote may end its suppression.
func (r *Reader) Allowed(ctx context.Context, id string, q *Query) error {
	if r.Law == nil {
		return nil
	}
	voted, feed, err := r.find(ctx, id, q.Account, r.Now())
	if err != nil {
		return err
	}
	if hit := r.HitOf(&voted, feed, r.Now()); !r.applyLaw(&hit, feed, q) {
		return notFound()
	}
	return nil
}

// Shown returns one entity as the caller's search would, except for its distance. feed is nil for a live incident. The law
// must allow it.
func (r *Reader) Shown(v *mapdata.Voted, feed *mapdata.Feed, q *Query) mapdata.Hit {
	hit := r.HitOf(v, feed, r.Now())
	r.applyLaw(&hit, feed, q)
	return hit
}

// HitOf returns one entity as a search would, except for its distance and the law. feed is nil for a live incident.
func (r *Reader) HitOf(v *mapdata.Voted, feed *mapdata.Feed, now time.Time) mapdata.Hit {
	e, t := &v.Entity, &v.Tally
	hit := mapdata.Hit{
		Source: mapdata.Incidents, Layer: string(mapdata.Incidents), Kind: e.Kind, Point: e.Point,
		ExternalID: []byte(e.ExternalID), Prepared: r.Encode(nil, e),
		FirstSeenAt: e.FirstSeenAt.UnixMilli(), LastSeenAt: e.LastSeenAt(v.SnapshotAt).UnixMilli(), ChangedAt: e.ChangedAt.UnixMilli(),
		Prior: float32(v.Prior),
	}
	if feed != nil {
		hit.Source, hit.Layer = feed.ID.SourceID(), feed.Layer.Slug
		hit.Prior, hit.Rank = hit.Source.Prior(), hit.Source.Rank()
	}
	if at, decays := v.ExpiresAt(now); decays {
		hit.ExpiresAt = at.UnixMilli()
	}
	if until := t.WithheldUntil(e.Kind); until.After(now) {
		hit.DisputedUntil, hit.Hidden = until.UnixMilli(), t.HiddenAt(now)
	} else if !until.IsZero() {
		hit.ChangedAt = max(hit.ChangedAt, until.UnixMilli())
	}
	if t.Counts(e.Kind, e.FirstSeenAt, now) {
		hit.Confirms, hit.Disputes = t.Shown()
		hit.CountedConfirms, hit.CountedDisputes = t.Counted()
		if !t.ChangedAt.IsZero() {
			hit.ChangedAt = max(hit.ChangedAt, t.ChangedAt.UnixMilli())
		}
	}
	return hit
}

// end returns the rule that determines when the entity ends, and the time.
func (r *Reader) end(v *mapdata.Voted, feed *mapdata.Feed, now time.Time) (End, time.Time) {
	at, decays := v.ExpiresAt(now)
	own, _ := v.Entity.ExpiresAt(v.SnapshotAt)
	switch {
	case feed == nil:
		return EndFreshness, at
	case decays && at.Equal(v.Entity.EndsAt):
		return EndStated, at
	case decays && at.After(own):
		return EndKept, at
	case decays:
		return EndLifetime, at
	case feed.Direction != mapdata.Push:
		return EndAbsent, time.Time{}
	}
	return EndRetired, time.Time{}
}

// mergeRadii are the search radii in metres for entities that merge with one: a wider one is used only if a chain of matches
// may leave the radius.
var mergeRadii = [...]float64{600, 2400, 9600}

// resolveMerges sets the entities merged with the entity, among those that the caller may read, and the health of their sources.
func (r *Reader) resolveMerges(ctx context.Context, q *Query, e *Entity) {
	sources := []mapdata.SourceID{e.Hit.Source}
	if r.incidents.Has(e.Hit.Kind) {
		var a Answer
		for _, radius := range mergeRadii {
			near := Query{
				Center: e.Hit.Point, Radius: radius, Kinds: r.incidents, Limit: MaxLimit,
				Account: q.Account, Tier: q.Tier, Curator: q.Curator,
			}
			if err := r.Near(ctx, &near, &a); err != nil {
				a.Hits = nil
				break
			}
			if a.resolver.Settled(e.Hit.Point.Vector(), radius) > 0 {
				break
			}
		}
		sources = append(sources, e.merge(a.Hits)...)
	}
	e.Sources = r.healthOf(sources)
}

// merge copies an answer's merge result for the entity, and returns the sources of the merged ones.
func (e *Entity) merge(hits []mapdata.Hit) (others []mapdata.SourceID) {
	for i := range hits {
		h := &hits[i]
		if sameEntity(h.Source, h.ExternalID, &e.Hit) {
			e.Hit.Confirms, e.Hit.Disputes, e.Hit.Merged = h.Confirms, h.Disputes, h.Merged
			e.Hit.CountedConfirms, e.Hit.CountedDisputes = h.CountedConfirms, h.CountedDisputes
			for _, m := range h.Merged {
				others = append(others, m.Source)
			}
			return others
		}
		for _, m := range h.Merged {
			if sameEntity(m.Source, m.ExternalID, &e.Hit) {
				e.MergedInto = &mapdata.MergedID{Source: h.Source, ExternalID: h.ExternalID}
				return []mapdata.SourceID{h.Source}
			}
		}
	}
	return nil
}

func sameEntity(source mapdata.SourceID, externalID []byte, h *mapdata.Hit) bool {
	return source == h.Source && string(externalID) == string(h.ExternalID)
}

// healthOf returns the health of sources, without duplicates.
func (r *Reader) healthOf(sources []mapdata.SourceID) []mapdata.SourceHealth {
	now := r.Now()
	var all []mapdata.SourceHealth
	seen := make(map[mapdata.SourceID]bool)
	for _, s := range sources {
		if seen[s] {
			continue
		}
		seen[s] = true
		if id, ok := s.FeedID(); ok {
			all = append(all, r.Catalog.Health([]mapdata.FeedID{id}, now)...)
		} else {
			all = append(all, mapdata.SourceHealth{ID: s, Health: r.Live.Health()})
		}
	}
	return all
}
