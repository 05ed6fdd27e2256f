package stream

import (
	"cmp"
	"context"
	"hash/maphash"
	"math"
	"slices"
	"sync"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/signal"
)

// Limits on streams that are open at the same time.
const (
	MaxPerCaller = 4
	MaxOpen      = 20_000
)

// retryAfter is the Retry-After of a caller with too many streams: by then a dead connection of the caller may be detected.
const retryAfter = 10 * time.Second

// Config holds the dependencies of a Hub.
type Config struct {
	Now func() time.Time

	// Moved delivers the changes that wake streams; nil: only Touched wakes them.
	Moved *signal.Moved

	// Locate finds a live incident by its external id; an error means that no reader sees it now. nil: there are no live
	// incidents.
	Locate func(ctx context.Context, externalID string) (mapdata.Voted, error)

	// PollInterval and HeartbeatInterval are set by tests only; 0: the constants of these names.
	PollInterval, HeartbeatInterval time.Duration
}

// Hub is the registry of all open streams. Its methods may be called from many goroutines, while Run runs.
type Hub struct {
	Config
	seed    maphash.Seed
	pending chan struct{} // signals Run that votes or returns have new entries
	ended   chan struct{} // closed when Run returns, which ends all streams

	mu      sync.Mutex
	stopped bool
	open    int
	callers map[ratelimit.Key][]*Stream
	cubes   map[cube][]*Stream // by the cubes that their circles may reach into
	votes   []mapdata.Tally    // on live incidents that Run has to locate
	returns []mapdata.Return   // ends of suppressions, the soonest first

	appWatchers map[*Stream]*watchedApps
}

// New makes a hub.
func New(c Config) *Hub {
	c.PollInterval = cmp.Or(c.PollInterval, PollInterval)
	c.HeartbeatInterval = cmp.Or(c.HeartbeatInterval, HeartbeatInterval)
	return &Hub{
		Config: c, seed: maphash.MakeSeed(), pending: make(chan struct{}, 1), ended: make(chan struct{}),
		callers: make(map[ratelimit.Key][]*Stream), cubes: make(map[cube][]*Stream), appWatchers: make(map[*Stream]*watchedApps),
	}
}

// Open registers a stream of a circle for a caller, who must call Close. It fails with *mapdata.LimitError for a caller with
// MaxPerCaller streams, and with mapdata.ErrUnavailable if MaxOpen are open or the hub has stopped.
func (h *Hub) Open(caller ratelimit.Key, area geo.Circle) (*Stream, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	own := h.callers[caller]
	switch {
	case h.stopped:
		return nil, mapdata.Describe(mapdata.ErrUnavailable, "The service is stopping. Try again in a moment.")
	case len(own) >= MaxPerCaller:
		return nil, &mapdata.LimitError{RetryAfter: retryAfter, What: "streams that one caller may have open (4)"}
	case h.open >= MaxOpen:
		return nil, mapdata.Describe(mapdata.ErrUnavailable, "Too many streams are open. Read instead, or try again later.")
	}
	budget := new(byteBudget)
	if len(own) > 0 {
		budget = own[0].budget
	}
	s := &Stream{hub: h, caller: caller, budget: budget, area: area, center: area.Center.Vector(), wake: make(chan struct{}, 1), recheck: make(chan struct{}, 1), apps: make(chan struct{}, 1)}
	h.open++
	h.callers[caller] = append(own, s)
	for c := range cubesOf(area) {
		h.cubes[c] = append(h.cubes[c], s)
	}
	return s, nil
}

// Len returns how many streams are open.
func (h *Hub) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}

// remove removes a stream from the registry.
func (h *Hub) remove(s *Stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open--
	delete(h.appWatchers, s)
	own := slices.DeleteFunc(h.callers[s.caller], func(other *Stream) bool { return other == s })
	if h.callers[s.caller] = own; len(own) == 0 {
		delete(h.callers, s.caller)
	}
	for c := range cubesOf(s.area) {
		in := h.cubes[c]
		at := slices.Index(in, s)
		last := len(in) - 1
		in[at], in[last] = in[last], nil
		if h.cubes[c] = in[:last]; last == 0 {
			delete(h.cubes, c)
		}
	}
}

// Touched wakes the streams whose circle meets a change, and makes the streams of changed accounts check their callers. It blocks
// only for the hub's lock.
func (h *Hub) Touched(t mapdata.Touched) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.Everywhere {
		for _, in := range h.cubes {
			wakeAll(in)
		}
	} else {
		h.wakeStreams(t.Areas)
	}
	for _, account := range t.Accounts {
		for _, s := range h.callers[ratelimit.AccountKey(ratelimit.Streams, account)] {
			s.checkCaller()
		}
	}
	if len(t.Live) > 0 && h.Locate != nil {
		h.votes = append(h.votes, t.Live...)
	}
	if now := h.Now(); len(t.Returns) > 0 {
		for _, r := range t.Returns {
			if r.At.After(now) && r.At.Before(mapdata.ForGood()) {
				h.returns = append(h.returns, r)
			}
		}
		slices.SortFunc(h.returns, func(a, b mapdata.Return) int { return a.At.Compare(b.At) })
		h.returns = slices.Compact(h.returns)
		h.returns = h.returns[:min(len(h.returns), maxReturns)]
	}
	if len(t.Live)+len(t.Returns) > 0 {
		select {
		case h.pending <- struct{}{}:
		default:
		}
	}
}

// maxReturns bounds the ends of suppressions that are remembered, because a provider could move a hidden pin with every push. Those
// that end last are dropped, and the streams around them update with the next change nearby.
const maxReturns = 1 << 14

// maxAreasPerCube is how many areas are compared with each stream of a cube; beyond it, all streams of the cube are woken.
const maxAreasPerCube = 64

// wakeStreams wakes the streams that meet one of the areas.
func (h *Hub) wakeStreams(areas []geo.Circle) {
	if h.open == 0 {
		return
	}
	counted := make(map[cube]int)
	for _, area := range areas {
		center := area.Center.Vector()
		for c := range cubesOf(area) {
			in := h.cubes[c]
			if len(in) == 0 || counted[c] > maxAreasPerCube {
				continue
			}
			if counted[c]++; counted[c] > maxAreasPerCube {
				wakeAll(in)
				continue
			}
			for _, s := range in {
				if len(s.wake) == 0 && s.meets(center, area.Radius) {
					s.Wake()
				}
			}
		}
	}
}

func wakeAll(streams []*Stream) {
	for _, s := range streams {
		s.Wake()
	}
}

// Run wakes streams for the changes that Moved delivers and where a suppression ends, and locates live incidents with new votes.
// When ctx ends, all streams end too.
func (h *Hub) Run(ctx context.Context) error {
	var following sync.WaitGroup
	following.Go(func() { h.followMoved(ctx) })
	defer following.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		votes, next := h.due()
		for i := range votes {
			h.locate(ctx, &votes[i])
		}
		timer.Reset(next)
		select {
		case <-ctx.Done():
			h.mu.Lock()
			defer h.mu.Unlock()
			h.stopped = true
			close(h.ended)
			return nil
		case <-h.pending:
		case <-timer.C:
		}
	}
}

// followMoved wakes streams for the changes that Moved delivers. It is separate from the loop of Run, which may wait long for the
// live cache.
func (h *Hub) followMoved(ctx context.Context) {
	if h.Moved == nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.Moved.C():
			h.Touched(h.Moved.Take())
		}
	}
}

// maxSleep bounds how long Run sleeps, so that a step of the clock cannot delay the end of a suppression for long.
const maxSleep = time.Minute

// due wakes streams for the suppressions that have ended, and returns the votes to locate and how long Run may sleep.
func (h *Hub) due() (votes []mapdata.Tally, next time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.Now()
	passed := 0
	var areas []geo.Circle
	for ; passed < len(h.returns) && !h.returns[passed].At.After(now); passed++ {
		areas = append(areas, h.returns[passed].Area)
	}
	h.wakeStreams(areas)
	h.returns = slices.Delete(h.returns, 0, passed)
	votes, h.votes = h.votes, nil
	next = maxSleep
	if len(h.returns) > 0 {
		next = min(next, h.returns[0].At.Sub(now))
	}
	return votes, next
}

// locate wakes the streams around a live incident with new votes. It ignores an incident that it cannot find, because no reader
// sees that one.
func (h *Hub) locate(ctx context.Context, t *mapdata.Tally) {
	found, err := h.Locate(ctx, t.ExternalID)
	if err != nil {
		return
	}
	at := geo.Circle{Center: found.Entity.Point, Radius: locationMargin}
	touched := mapdata.Touched{Areas: []geo.Circle{at}}
	if until := t.WithheldUntil(found.Entity.Kind); !until.IsZero() {
		touched.Returns = []mapdata.Return{{EntityID: mapdata.EntityID(mapdata.Incidents, t.ExternalID), At: until, Area: at}}
	}
	h.Touched(touched)
}

// locationMargin is the radius in metres that makes a place a circle: more than the rounding errors of unit vectors.
const locationMargin = 1

// cube is a part of space: the globe divided along the three axes. It is not a cell of a geo.Grid, because touched areas may be
// hundreds of kilometres wide: at a pole, such a circle meets every column of many bands, but never more than a few cubes.
type cube struct{ x, y, z int16 }

// cubeSide is a cube's side as a share of the globe's radius, some 50 km: most circles lie in one or two cubes.
const cubeSide = 0.008

// cubesOf yields the cubes that a circle may reach into.
func cubesOf(area geo.Circle) func(yield func(cube) bool) {
	reach := math.Sqrt(geo.ChordSquaredOf(area.Radius))
	v := area.Center.Vector()
	span := func(at float64) (low, high int16) {
		return int16(math.Floor((at - reach) / cubeSide)), int16(math.Floor((at + reach) / cubeSide))
	}
	return func(yield func(cube) bool) {
		x0, x1 := span(v.X)
		y0, y1 := span(v.Y)
		z0, z1 := span(v.Z)
		for x := x0; x <= x1; x++ {
			for y := y0; y <= y1; y++ {
				for z := z0; z <= z1; z++ {
					if !yield(cube{x, y, z}) {
						return
					}
				}
			}
		}
	}
}
