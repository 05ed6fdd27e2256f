package nearby

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"wayside/internal/entities/consensus"
	"wayside/internal/entities/law"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Limits of a query (D4.1, D4.2).
const (
	MaxRadius    = 50_000 // metres
	DefaultLimit = 200
	MaxLimit     = 1000
)

// Index finds entities near a point. It is declared here so that the reader does not depend on the index's structure.
type Index interface {
	// Search appends the matches of s to hits, nearest first, then by id, and reports whether more than s.Limit matched.
	Search(s *mapdata.Search, hits []mapdata.Hit) ([]mapdata.Hit, bool)
	// SeveralFeeds reports whether the entities that s selects, without a limit, come from at least two feeds.
	SeveralFeeds(s *mapdata.Search) bool
	// Around returns the feeds that have had entities around a circle, and those that never had any.
	Around(center geo.Point, radius float64) []mapdata.FeedID
	// Overview counts in o the entities that s selects, under a law, by the tiles of a level, or of a coarser one, that the box touches.
	Overview(s *mapdata.Search, box geo.Box, level int, l *law.Law, o *mapdata.Overview)
	// Extent returns a box around all entities that s selects under a law, and false if there are none.
	Extent(s *mapdata.Search, l *law.Law) (geo.Box, bool)
	// Reach returns a distance in metres from the center of s within which an entity that s selects is shown under a law. It is not much
	// longer than the shortest such distance, and negative if there is none.
	Reach(s *mapdata.Search, l *law.Law) float64
}

// Catalog holds the sources. It is declared here so that the reader does not depend on their replication.
type Catalog interface {
	// Feed returns the feed if the account may read it, otherwise nil.
	Feed(id mapdata.FeedID, account mapdata.AccountID) *mapdata.Feed
	// ByLayer returns the feed that owns a layer, with the same permissions.
	ByLayer(slug string, account mapdata.AccountID) *mapdata.Feed
	// Owned returns the account's own feeds; none for a guest.
	Owned(account mapdata.AccountID) []mapdata.FeedID
	// Sources returns the ids that the account may select.
	Sources(account mapdata.AccountID) []mapdata.SourceID
	// ServedCount returns the number of served sources.
	ServedCount() int
	// ServedHealth returns the health of every served source; the slice is shared.
	ServedHealth(now time.Time) []mapdata.SourceHealth
	// Health returns the health of the given feeds.
	Health(ids []mapdata.FeedID, now time.Time) []mapdata.SourceHealth
}

// Live is the built-in source of live incidents. It is declared here so that the reader does not depend on upstreams.
type Live interface {
	// Near appends the live incidents within the circle of a search, of its kinds and in no order, and returns the health of their source.
	// It calls upstreams on behalf of driver, within its limits, and waits at most two seconds for them; for an empty driver it calls none.
	// If the live cache is unreachable, it finds nothing and its health is offline.
	Near(ctx context.Context, s *mapdata.Search, driver string, hits []mapdata.Hit) ([]mapdata.Hit, mapdata.Health)
	// Find returns the live incident with the external id, without its votes. It fails with mapdata.ErrNotFound, and with
	// mapdata.ErrUnavailable when the live cache is unreachable.
	Find(ctx context.Context, externalID string) (mapdata.Voted, error)
	// Health returns the source's health (D8.8).
	Health() mapdata.Health
}

// Tallies holds the votes on live incidents.
type Tallies interface {
	// Lookup returns the tally of a live incident, or false if it has no votes.
	Lookup(externalID []byte) (mapdata.Tally, bool)
}

// Publications ensures that a read of index, catalogue and tallies sees one revision of the store.
type Publications interface {
	// Begin marks the beginning of the read.
	Begin() (mark uint64)
	// Unchanged reports whether everything read since the mark was of one revision.
	Unchanged(mark uint64) bool
	// Hold blocks new revisions until release is called.
	Hold() (release func())
}

// Records reads single entities of feeds.
type Records interface {
	// Voted reads an entity that is alive at now, with its votes, or fails with mapdata.ErrNotFound.
	Voted(ctx context.Context, feed mapdata.FeedID, externalID string, now time.Time) (mapdata.Voted, error)
}

// Query is one read of the entities near a point. Its decoder has validated it, except for the sources.
type Query struct {
	Center   geo.Point
	Radius   float64  // metres, more than 0. Beyond MaxRadius no live incidents are read
	Within   *geo.Box // entities outside of it are not read; nil: the whole circle
	Sources  []string
	Layers   []string
	ByLayer  bool // Layers applies, also when it is empty
	Kinds    mapdata.KindSet
	Networks []string // in the caller's order of preference
	Named    bool     // Networks was given
	Since    time.Time
	Limit    int // 1 to MaxLimit

	Account mapdata.AccountID // zero: a guest
	Tier    mapdata.Tier
	Curator bool   // sees suppressed and hidden entities (D9.5)
	Driving bool   // the caller is driving: owners and curators see no more than others
	Driver  string // input of an upstream's tenant key (D8.2): a session, an account or a client address

	// Turn waits until the query may search, after upstreams have answered; nil: no wait. It fails when its context ends.
	Turn func(ctx context.Context) (done func(), err error)
}

// Answer is the result of a query. It may be reused for the next one.
type Answer struct {
	Hits      []mapdata.Hit
	Truncated bool
	Sources   []mapdata.SourceHealth // of feeds
	Networks  []string
	At        time.Time

	Hidden mapdata.KindSet // requested kinds that the law hides at the query's centre

	Live      bool                 // the read includes incidents
	Reports   bool                 // the read includes drivers' reports
	Incidents mapdata.SourceHealth // health of their source, if Live

	incidents []mapdata.Hit // scratch: live incidents without votes
	found     []mapdata.Hit // scratch
	live      int           // number of live incidents, which are first in found
	saved     []mapdata.Hit // scratch: live incidents for the next search
	resolver  consensus.Resolver
	rules     rules
	filled    int // elements of found that may be set, which may exceed its final length
}

// Forget clears the results and keeps the memory for the next answer. Its cost is proportional to the results, not to the
// memory.
func (a *Answer) Forget() {
	if len(a.Hits) > 0 && (a.filled == 0 || &a.Hits[0] != &a.found[:1][0]) {
		clear(a.Hits) // zones are in another array
	}
	clear(a.found[:a.filled])
	clear(a.incidents)
	clear(a.saved)
	a.filled, a.live, a.incidents, a.saved = 0, 0, a.incidents[:0], a.saved[:0]
	clear(a.rules.zones)
}

// UnknownSourcesError lists sources that the caller may not read or that do not exist, without distinction.
type UnknownSourcesError struct {
	Unknown []string
	Valid   []mapdata.SourceID
}

func (e *UnknownSourcesError) Error() string { return "unknown source" }

// Config holds the dependencies of a Reader.
type Config struct {
	Index   Index
	Catalog Catalog
	Primary string // the charger network that is always included (D4.7)
	Now     func() time.Time

	Live    Live    // nil: no upstream is configured, and there is no source of incidents
	Tallies Tallies // votes on live incidents; nil only without Live
	Records Records // for single entities; nil: there are none

	Publications Publications // of index, catalogue and tallies; nil: reads are not concurrent with publications
	Encode       func(dst []byte, e *mapdata.Entity) []byte

	Law *law.Law // display rules; nil: none. Needs Encode
}

// Reader answers queries.
type Reader struct {
	Config
	incidents mapdata.KindSet // those that are merged
	extent    atomic.Pointer[extent]
}

// New creates a Reader.
func New(c Config) *Reader { return &Reader{Config: c, incidents: mapdata.IncidentKinds()} }

// maxRereads is the number of optimistic reads before a read blocks new revisions.
const maxRereads = 3

// Near answers a query into a, whose slices it reuses. It fails with *UnknownSourcesError.
func (r *Reader) Near(ctx context.Context, q *Query, a *Answer) error {
	s := mapdata.Search{
		Center: q.Center, Radius: q.Radius, Within: q.Within, Kinds: q.Kinds, Suppressed: q.Curator && !q.Driving,
		Since: q.Since, Now: r.Now(), Limit: q.Limit, Viewer: q.Account,
	}
	a.Networks, s.AllNetworks = r.networks(q, a.Networks[:0])
	s.Networks = a.Networks
	a.Live, a.incidents = false, a.incidents[:0]
	if r.Live != nil && q.Kinds&r.incidents != 0 && q.Radius <= MaxRadius {
		live, err := r.selectSources(q, &s)
		if err != nil {
			return err // before any upstream is called
		}
		if a.Live = live; live {
			r.findIncidents(ctx, q, &s, a)
		}
	}
	if q.Turn != nil {
		done, err := q.Turn(ctx)
		if err != nil {
			return err
		}
		defer done()
	}
	if r.Publications == nil {
		return r.read(q, &s, a)
	}
	for range maxRereads {
		mark := r.Publications.Begin()
		if err := r.read(q, &s, a); err != nil || r.Publications.Unchanged(mark) {
			return err
		}
	}
	defer r.Publications.Hold()()
	return r.read(q, &s, a)
}

// read answers a query from memory, with the live incidents already found.
func (r *Reader) read(q *Query, s *mapdata.Search, a *Answer) error {
	s.Feeds, s.Own, s.Served = nil, nil, false
	if _, err := r.selectSources(q, s); err != nil {
		return err
	}
	a.Reports = r.includesReports(q, s)
	a.At, a.found = s.Now, append(a.found[:0], a.incidents...)
	a.live = len(a.found)
	restricted := r.prepareRules(q, s, a)
	if a.Live {
		r.countVotes(a.found, s)
	}
	if a.Live || restricted {
		r.overfetch(q, s, a)
	} else {
		r.search(q, s, a)
	}
	a.Sources = r.health(s, s.Now)
	return nil
}

// includesReports reports whether the search may find drivers' reports, which live for minutes as live incidents do.
func (r *Reader) includesReports(q *Query, s *mapdata.Search) bool {
	if q.Kinds&r.incidents == 0 {
		return false
	}
	if s.Served {
		return r.Catalog.Feed(mapdata.DriversID, mapdata.AccountID{}) != nil
	}
	return slices.Contains(s.Feeds, mapdata.DriversID)
}

// CheckSources validates the query's sources as Near does, for a caller that reports other errors too.
func (r *Reader) CheckSources(q *Query) error {
	_, _, err := r.named(q)
	return err
}

// selectSources resolves sources and layers to feeds (D4.5, D4.6, D4.8), and reports whether live incidents are selected.
func (r *Reader) selectSources(q *Query, s *mapdata.Search) (live bool, err error) {
	if q.Driving {
		defer func() { s.Feeds, s.Own = append(s.Feeds, s.Own...), nil }()
	}
	live = r.Live != nil
	if q.Sources == nil && !q.ByLayer {
		s.Served = true
		s.Own = r.Catalog.Owned(q.Account)
		return live, nil
	}
	var chosen []*mapdata.Feed
	if q.Sources != nil {
		if chosen, live, err = r.named(q); err != nil {
			return false, err
		}
	}
	if q.ByLayer {
		layers := r.layers(q)
		live = live && slices.Contains(q.Layers, string(mapdata.Incidents))
		if q.Sources != nil {
			layers = slices.DeleteFunc(layers, func(f *mapdata.Feed) bool { return !slices.Contains(chosen, f) })
		}
		chosen = layers
	}
	for _, f := range chosen {
		if f.ManagedBy(q.Account) {
			s.Own = append(s.Own, f.ID)
		} else {
			s.Feeds = append(s.Feeds, f.ID)
		}
	}
	return live, nil
}

// named returns the feeds of the query's sources, without duplicates, and whether it names the live incidents.
func (r *Reader) named(q *Query) (feeds []*mapdata.Feed, live bool, err error) {
	var unknown []string
	for _, name := range q.Sources {
		if name == string(mapdata.Incidents) {
			live = r.Live != nil
			continue
		}
		var f *mapdata.Feed
		if id, ok := mapdata.SourceID(name).FeedID(); ok {
			f = r.Catalog.Feed(id, q.Account)
		}
		switch {
		case f == nil && slices.Contains(mapdata.BuiltinSources(), mapdata.SourceID(name)): // the source is not filled on this instance
		case f == nil:
			unknown = append(unknown, name)
		case !slices.Contains(feeds, f):
			feeds = append(feeds, f)
		}
	}
	if len(unknown) > 0 {
		valid := mapdata.BuiltinSources()
		for _, id := range r.Catalog.Sources(q.Account) {
			if !slices.Contains(mapdata.BuiltinSources(), id) {
				valid = append(valid, id)
			}
		}
		return nil, false, &UnknownSourcesError{Unknown: unknown, Valid: valid}
	}
	return feeds, live, nil
}

func (r *Reader) layers(q *Query) []*mapdata.Feed {
	var feeds []*mapdata.Feed
	for _, slug := range q.Layers {
		if f := r.Catalog.ByLayer(slug, q.Account); f != nil && !slices.Contains(feeds, f) {
			feeds = append(feeds, f)
		}
	}
	return feeds
}

// allNetworks is the value of networks_applied without a restriction: premium without the parameter.
const allNetworks = "*"

// networks determines the caller's charger networks (D4.7), and whether that is all of them.
func (r *Reader) networks(q *Query, into []string) ([]string, bool) {
	into = append(into, r.Primary)
	extra := 0
	switch q.Tier {
	case mapdata.TierAccount:
		extra = 1
	case mapdata.TierPremium:
		if !q.Named {
			return append(into[:0], allNetworks), true
		}
		extra = len(q.Networks)
	}
	for _, n := range q.Networks {
		if extra == 0 {
			break
		}
		if !slices.Contains(into, n) {
			into = append(into, n)
			extra--
		}
	}
	return into, false
}

// maxNamedSources is the number of served sources up to which an answer to a query of all sources lists every one. Beyond it
// the answer lists only the sources around the query, because thousands of others would dominate it.
const maxNamedSources = 100

// nearbyHealth returns the health of the served sources around the query.
func (r *Reader) nearbyHealth(s *mapdata.Search, now time.Time) []mapdata.SourceHealth {
	near := slices.DeleteFunc(r.Index.Around(s.Center, s.Radius), func(id mapdata.FeedID) bool {
		return r.Catalog.Feed(id, mapdata.AccountID{}) == nil
	})
	return r.Catalog.Health(near, now)
}

// health returns the health of every source that the search included (D4.15).
func (r *Reader) health(s *mapdata.Search, now time.Time) []mapdata.SourceHealth {
	if !s.Served {
		ids := make([]mapdata.FeedID, 0, len(s.Own)+len(s.Feeds))
		return r.Catalog.Health(append(append(ids, s.Own...), s.Feeds...), now)
	}
	var served []mapdata.SourceHealth
	if r.Catalog.ServedCount() > maxNamedSources {
		served = r.nearbyHealth(s, now)
	} else {
		served = r.Catalog.ServedHealth(now)
	}
	own := s.Own
	if len(own) == 0 {
		own = s.Feeds // an owner who is driving
	}
	if len(own) == 0 {
		return served
	}
	all := slices.Clone(served)
	for _, own := range r.Catalog.Health(own, now) {
		if !slices.ContainsFunc(served, func(h mapdata.SourceHealth) bool { return h.ID == own.ID }) {
			all = append(all, own)
		}
	}
	return all
}
