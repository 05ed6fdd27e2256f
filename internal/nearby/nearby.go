package nearby

import (
	"context"
	"slices"
	"time"

	"wayside/internal/consensus"
	"wayside/internal/geo"
	"wayside/internal/law"
	"wayside/internal/mapdata"
)

// Limits of a query (D4.1, D4.2).
const (
	MaxRadius    = 50_000 // metres
	DefaultLimit = 200
	MaxLimit     = 1000
)

// Index finds what is near a place. Declared here so that the memory's shape stays the index's own business.
type Index interface {
	// Search appends to hits what s asks for, nearest first, then by id, and says whether more than s.Limit matched.
	Search(s *mapdata.Search, hits []mapdata.Hit) ([]mapdata.Hit, bool)
	// Around names the feeds that have been in the surroundings of a circle, and those that have been nowhere.
	Around(center geo.Point, radius float64) []mapdata.FeedID
}

// Catalog knows the sources. Declared here so that the reader needs nothing of how they are followed.
type Catalog interface {
	// Feed gives the feed if the account may read it, otherwise nil.
	Feed(id mapdata.FeedID, account mapdata.AccountID) *mapdata.Feed
	// ByLayer gives the feed that owns a layer, on the same terms.
	ByLayer(slug string, account mapdata.AccountID) *mapdata.Feed
	// Owned gives the account's own feeds; none for a guest.
	Owned(account mapdata.AccountID) []mapdata.FeedID
	// Sources gives the ids that the account may name.
	Sources(account mapdata.AccountID) []mapdata.SourceID
	// ServedCount tells how many sources are served.
	ServedCount() int
	// ServedHealth gives the health of every served source; the slice is shared.
	ServedHealth(now time.Time) []mapdata.SourceHealth
	// Health gives the health of the named feeds.
	Health(ids []mapdata.FeedID, now time.Time) []mapdata.SourceHealth
}

// Live knows the live incidents, the built-in source. Declared here because it calls upstreams, which is not the reader's
// business.
type Live interface {
	// Near appends the live incidents within the circle of a search, of its kinds and in no order, with the health of their
	// source. It asks upstreams on behalf of driver as often as may be, and waits for them for two seconds at most; an empty
	// driver asks nobody. Out of reach of the live cache it finds nothing and says offline.
	Near(ctx context.Context, s *mapdata.Search, driver string, hits []mapdata.Hit) ([]mapdata.Hit, mapdata.Health)
	// Find gives the live incident with the external id, without its votes. It fails with mapdata.ErrNotFound, and with
	// mapdata.ErrUnavailable when the live cache is out of reach.
	Find(ctx context.Context, externalID string) (mapdata.Voted, error)
	// Health is how the source does (D8.8).
	Health() mapdata.Health
}

// Tallies knows the votes on live incidents.
type Tallies interface {
	// Lookup gives the tally of a live incident, and false if it has had no votes.
	Lookup(externalID []byte) (mapdata.Tally, bool)
}

// Publications holds a read that combines index, catalogue and tallies to one revision of the store.
type Publications interface {
	// Begin marks the beginning of the read.
	Begin() (mark uint64)
	// Unchanged says whether all that was read since the mark was of one revision.
	Unchanged(mark uint64) bool
	// Hold holds new revisions back until release is called.
	Hold() (release func())
}

// Records are the entities of feeds, one by one.
type Records interface {
	// Voted reads an entity that is alive at now, with its votes, or fails with mapdata.ErrNotFound.
	Voted(ctx context.Context, feed mapdata.FeedID, externalID string, now time.Time) (mapdata.Voted, error)
}

// Query is one read of the entities near a place. Its decoder has checked its values, except for the sources.
type Query struct {
	Center   geo.Point
	Radius   float64 // metres, more than 0, at most MaxRadius
	Sources  []string
	Layers   []string
	ByLayer  bool // Layers counts, also when it is empty
	Kinds    mapdata.KindSet
	Networks []string // in the order of the caller's wish
	Named    bool     // Networks was given
	Since    time.Time
	Limit    int // 1 to MaxLimit

	Account mapdata.AccountID // zero: a guest
	Tier    mapdata.Tier
	Curator bool   // sees what votes and the law hide (D9.5)
	Driving bool   // drives, and is shown what drivers are shown: owners and curators see no more than others
	Driver  string // what an upstream's tenant key is made of (D8.2): a session, an account or a client address
}

// Answer is what a query found. It may be used again for the next.
type Answer struct {
	Hits      []mapdata.Hit
	Truncated bool
	Sources   []mapdata.SourceHealth // of feeds
	Networks  []string
	At        time.Time

	Hidden mapdata.KindSet // of the kinds that were asked for: what the law hides at the place itself

	Live      bool                 // the read includes incidents
	Incidents mapdata.SourceHealth // their source's, if it does

	incidents []mapdata.Hit // scratch: live incidents as they were found, without votes
	found     []mapdata.Hit // scratch
	live      int           // of found: live incidents, which come first
	saved     []mapdata.Hit // scratch: these, for the next look at the feeds
	resolver  consensus.Resolver
	rules     rules
	filled    int // of found, what may hold something: more than is left of it at the end
}

// Forget drops what was found and keeps the memory for the next answer. Its cost follows what was found, not the memory that
// is kept.
func (a *Answer) Forget() {
	if len(a.Hits) > 0 && (a.filled == 0 || &a.Hits[0] != &a.found[:1][0]) {
		clear(a.Hits) // they lie in another array because of zones
	}
	clear(a.found[:a.filled])
	clear(a.incidents)
	clear(a.saved)
	a.filled, a.live, a.incidents, a.saved = 0, 0, a.incidents[:0], a.saved[:0]
	clear(a.rules.zones)
}

// UnknownSourcesError names sources that the caller may not read or that do not exist; the two look the same.
type UnknownSourcesError struct {
	Unknown []string
	Valid   []mapdata.SourceID
}

func (e *UnknownSourcesError) Error() string { return "unknown source" }

// Config is what a Reader needs.
type Config struct {
	Index   Index
	Catalog Catalog
	Primary string // the charger network that everybody sees (D4.7)
	Now     func() time.Time

	Live    Live    // nil: no upstream is configured, and there is no source of incidents
	Tallies Tallies // votes on live incidents; nil only without Live
	Records Records // for single entities; nil: there are none

	Publications Publications // of index, catalogue and tallies; nil: nothing is published beside reads
	Encode       func(dst []byte, e *mapdata.Entity) []byte

	Law *law.Law // where what is hidden; nil: nowhere. It needs Encode
}

// Reader answers queries.
type Reader struct {
	Config
	incidents mapdata.KindSet
}

// New makes a reader.
func New(c Config) *Reader { return &Reader{Config: c, incidents: mapdata.IncidentKinds()} }

// maxRereads is how often a read that a new revision overtakes begins again before it holds revisions back.
const maxRereads = 3

// Near answers a query into a, whose slices it uses again. It fails with *UnknownSourcesError.
func (r *Reader) Near(ctx context.Context, q *Query, a *Answer) error {
	s := mapdata.Search{
		Center: q.Center, Radius: q.Radius, Kinds: q.Kinds, Suppressed: q.Curator && !q.Driving,
		Since: q.Since, Now: r.Now(), Limit: q.Limit,
	}
	a.Networks, s.AllNetworks = r.networks(q, a.Networks[:0])
	s.Networks = a.Networks
	a.Live, a.incidents = false, a.incidents[:0]
	if r.Live != nil && q.Kinds&r.incidents != 0 {
		live, err := r.selectSources(q, &s)
		if err != nil {
			return err // no upstream is asked in vain
		}
		if a.Live = live; live {
			r.findIncidents(ctx, q, &s, a)
		}
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

// read answers a query from memory, with the live incidents that were found before.
func (r *Reader) read(q *Query, s *mapdata.Search, a *Answer) error {
	s.Feeds, s.Own, s.Served = nil, nil, false
	if _, err := r.selectSources(q, s); err != nil {
		return err
	}
	a.At, a.found = s.Now, append(a.found[:0], a.incidents...)
	a.live = len(a.found)
	restricted := r.prepareRules(q, s, a)
	if a.Live {
		r.countVotes(a.found, s)
	}
	if a.Live || restricted {
		r.gather(q, s, a)
	} else {
		a.found, a.Truncated = r.Index.Search(s, a.found)
		a.Hits, a.filled = a.found, len(a.found)
	}
	a.Sources = r.health(s, s.Now)
	return nil
}

// CheckSources says what Near would say of the query's sources, for a caller that has other errors to report beside it.
func (r *Reader) CheckSources(q *Query) error {
	_, _, err := r.named(q)
	return err
}

// selectSources turns the names of sources and layers into feeds (D4.5, D4.6, D4.8), and says whether live incidents are
// among them.
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
		if !q.Account.IsZero() && f.Owner == q.Account {
			s.Own = append(s.Own, f.ID)
		} else {
			s.Feeds = append(s.Feeds, f.ID)
		}
	}
	return live, nil
}

// named gives the feeds of the sources that the query names, each once, and whether it names the live incidents.
func (r *Reader) named(q *Query) (feeds []*mapdata.Feed, live bool, err error) {
	var unknown []string
	for _, name := range q.Sources {
		if name == string(mapdata.Incidents) && r.Live != nil {
			live = true
			continue
		}
		var f *mapdata.Feed
		if id, ok := mapdata.SourceID(name).FeedID(); ok {
			f = r.Catalog.Feed(id, q.Account)
		}
		switch {
		case f == nil:
			unknown = append(unknown, name)
		case !slices.Contains(feeds, f):
			feeds = append(feeds, f)
		}
	}
	if len(unknown) > 0 {
		valid := r.Catalog.Sources(q.Account)
		if r.Live != nil {
			valid = append([]mapdata.SourceID{mapdata.Incidents}, valid...)
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

// everyNetwork is what networks_applied holds for no restriction: premium without the parameter.
const everyNetwork = "*"

// networks decides which charger networks the caller sees (D4.7), and whether that is all of them.
func (r *Reader) networks(q *Query, into []string) ([]string, bool) {
	into = append(into, r.Primary)
	extra := 0
	switch q.Tier {
	case mapdata.TierAccount:
		extra = 1
	case mapdata.TierPremium:
		if !q.Named {
			return append(into[:0], everyNetwork), true
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

// maxNamedSources is how many sources an answer names without a look at where they are. Beyond it a query that selects
// everything touches the sources of its surroundings: thousands of others would be most of each answer.
const maxNamedSources = 100

// nearbyHealth is the health of the served sources around the query.
func (r *Reader) nearbyHealth(s *mapdata.Search, now time.Time) []mapdata.SourceHealth {
	near := slices.DeleteFunc(r.Index.Around(s.Center, s.Radius), func(id mapdata.FeedID) bool {
		return r.Catalog.Feed(id, mapdata.AccountID{}) == nil
	})
	return r.Catalog.Health(near, now)
}

// health is that of every source that the search touched, healthy or not (D4.15).
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
		own = s.Feeds // of an owner who drives
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
