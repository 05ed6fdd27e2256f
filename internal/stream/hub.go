package stream

import (
	"cmp"
	"context"
	"hash/maphash"
	"math"
	"slices"
	"sync"
	"time"

	"wayside/internal/geo"
	"wayside/internal/mapdata"
	"wayside/internal/ratelimit"
	"wayside/internal/signal"
)

// Limits of what is open at once.
const (
	PerCaller = 4
	AtOnce    = 20_000
)

// again is what a caller is told who has too many streams: when one of theirs may have been found to be dead.
const again = 10 * time.Second

// Config is what a Hub needs.
type Config struct {
	Now func() time.Time

	// Moved says what wakes streams; nil: only Touched does.
	Moved *signal.Moved

	// Locate finds a live incident by its external id; an error says that nobody sees it now. nil: there are no live incidents.
	Locate func(ctx context.Context, externalID string) (mapdata.Voted, error)

	Beat time.Duration // between two signs of life that a stream gives; 0: 20 s
}

// Hub knows all streams. Its methods may be called from many goroutines. Run must run beside them.
type Hub struct {
	Config
	seed maphash.Seed
	kick chan struct{} // there is something new in votes or returns
	end  chan struct{} // closed when all streams are to end

	mu      sync.Mutex
	ended   bool
	count   int
	callers map[ratelimit.Key]int8
	cubes   map[cube][]*Stream // by where their circles may reach
	votes   []mapdata.Tally    // on live incidents that are to be located
	returns []mapdata.Return   // the soonest first
}

// New makes a hub.
func New(c Config) *Hub {
	c.Beat = cmp.Or(c.Beat, beatEvery)
	return &Hub{
		Config: c, seed: maphash.MakeSeed(), kick: make(chan struct{}, 1), end: make(chan struct{}),
		callers: make(map[ratelimit.Key]int8), cubes: make(map[cube][]*Stream),
	}
}

// Open begins a stream of a circle for a caller; Close must follow. It fails with *mapdata.LimitError for a caller who has
// PerCaller streams, and with mapdata.ErrUnavailable when AtOnce are open and when the hub has ended.
func (h *Hub) Open(caller ratelimit.Key, area geo.Circle) (*Stream, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.ended:
		return nil, mapdata.Describe(mapdata.ErrUnavailable, "The service is stopping. Try again in a moment.")
	case h.callers[caller] >= PerCaller:
		return nil, &mapdata.LimitError{RetryAfter: again, What: "streams that one caller may have open (4)"}
	case h.count >= AtOnce:
		return nil, mapdata.Describe(mapdata.ErrUnavailable, "Too many streams are open. Read instead, or try again later.")
	}
	s := &Stream{hub: h, caller: caller, area: area, center: area.Center.Vector(), wake: make(chan struct{}, 1)}
	h.count++
	h.callers[caller]++
	for c := range cubesOf(area) {
		h.cubes[c] = append(h.cubes[c], s)
	}
	return s, nil
}

// Len is how many streams are open.
func (h *Hub) Len() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count
}

// close forgets a stream.
func (h *Hub) close(s *Stream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count--
	if h.callers[s.caller]--; h.callers[s.caller] == 0 {
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

// Touched wakes the streams that are concerned by what was touched. It never waits for anybody but for other callers of
// the hub.
func (h *Hub) Touched(t mapdata.Touched) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.Everywhere {
		for _, in := range h.cubes {
			wakeAll(in)
		}
	} else {
		h.touch(t.Areas)
	}
	if len(t.Live) > 0 && h.Locate != nil {
		h.votes = append(h.votes, t.Live...)
	}
	if now := h.Now(); len(t.Returns) > 0 {
		for _, r := range t.Returns {
			if r.At.After(now) {
				h.returns = append(h.returns, r)
			}
		}
		slices.SortFunc(h.returns, func(a, b mapdata.Return) int { return a.At.Compare(b.At) })
		h.returns = slices.Compact(h.returns)
	}
	if len(t.Live)+len(t.Returns) > 0 {
		select {
		case h.kick <- struct{}{}:
		default:
		}
	}
}

// enough is how many areas are held against each stream of a cube; with more, all of its streams look.
const enough = 64

// touch wakes the streams that meet one of the areas.
func (h *Hub) touch(areas []geo.Circle) {
	if h.count == 0 {
		return
	}
	tried := make(map[cube]int)
	for _, area := range areas {
		center := area.Center.Vector()
		for c := range cubesOf(area) {
			in := h.cubes[c]
			if len(in) == 0 || tried[c] > enough {
				continue
			}
			if tried[c]++; tried[c] > enough {
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

// Run takes what Moved says, and does what comes by itself: suppressions end, and live incidents that were voted on are
// looked for. When ctx ends, so do all streams.
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
			h.ended = true
			close(h.end)
			return nil
		case <-h.kick:
		case <-timer.C:
		}
	}
}

// followMoved wakes streams for what moved. It is apart from the loop of Run, which may wait long for the live cache.
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

// longest is how long Run sleeps at most: a clock that was set must not let a suppression last for ever.
const longest = time.Minute

// due touches what has come back, and gives the votes to be located and when to ask again.
func (h *Hub) due() (votes []mapdata.Tally, next time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.Now()
	passed := 0
	var areas []geo.Circle
	for ; passed < len(h.returns) && !h.returns[passed].At.After(now); passed++ {
		areas = append(areas, h.returns[passed].Area)
	}
	h.touch(areas)
	h.returns = slices.Delete(h.returns, 0, passed)
	votes, h.votes = h.votes, nil
	next = longest
	if len(h.returns) > 0 {
		next = min(next, h.returns[0].At.Sub(now))
	}
	return votes, next
}

// locate touches the place of a live incident that was voted on. One that is not found is seen by nobody.
func (h *Hub) locate(ctx context.Context, t *mapdata.Tally) {
	found, err := h.Locate(ctx, t.ExternalID)
	if err != nil {
		return
	}
	at := geo.Circle{Center: found.Entity.Point, Radius: rounding}
	touched := mapdata.Touched{Areas: []geo.Circle{at}}
	if until := t.DisputedUntil(found.Entity.Kind); !until.IsZero() {
		touched.Returns = []mapdata.Return{{At: until, Area: at}}
	}
	h.Touched(touched)
}

// rounding widens a place, in metres, so that no stream misses it by a bit.
const rounding = 1

// cube is a part of space: the globe cut up along the three axes. Unlike degrees, cubes know of neither poles nor an
// antimeridian.
type cube struct{ x, y, z int16 }

// side is a cube's side as a share of the globe's radius, some 50 km: what most streams watch lies in one or two.
const side = 0.008

// cubesOf yields the cubes that a circle may reach into.
func cubesOf(area geo.Circle) func(yield func(cube) bool) {
	reach := math.Sqrt(geo.ChordSquaredOf(area.Radius))
	v := area.Center.Vector()
	span := func(at float64) (low, high int16) {
		return int16(math.Floor((at - reach) / side)), int16(math.Floor((at + reach) / side))
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
