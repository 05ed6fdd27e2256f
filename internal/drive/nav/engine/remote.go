package engine

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/safehttp"
	"wayside/internal/roads/graph"
)

// Options configure a remote engine.
type Options struct {
	Name    string              // osrm, valhalla or graphhopper
	URL     *safehttp.URL       // the operator's
	Web     *safehttp.Client    // with the limits CallTimeout, MaxBody and MaxCalls
	Network func() *nav.Network // returns the region's roads with conditions, which the engine releases, or nil if there is no region
	Now     func() time.Time
	Log     *slog.Logger
	Count   func(outcome string) // counts calls
}

// Remote is an engine at a URL.
type Remote struct {
	*caller
	dialect dialect
	network func() *nav.Network
}

// dialect is the API of one engine.
type dialect interface {
	// attempts returns the ways in which the engine can avoid closures, in the order in which they are tried.
	attempts() []attempt
	// route requests routes. Their geometries are complete, and routes of several legs have steps with geometries.
	route(ctx context.Context, c *caller, q *question) (*answer, error)
	// other calls another of OSRM's services.
	other(ctx context.Context, c *caller, q *osrm.Request) (*answer, error)
	// lacks returns what the engine cannot do of a request for a route, or "".
	lacks(q *question) string
	// guides reports whether the engine has banners and announcements.
	guides() bool
	// probe makes a cheap request, and returns the engine's version if it is in the answer.
	probe(ctx context.Context, c *caller) (version string, err error)
}

// question is a request for routes, with the closures to avoid.
type question struct {
	*osrm.Request
	Avoid        nav.Avoid
	alternatives int         // besides the best route
	vias         [][]nav.Via // for each leg, places to pass; may be nil
	around       []closedRoad
	exclusion    exclusion
}

// closedRoad is a road to leave out, given by its middle.
type closedRoad = nav.Via

// attempt is one way to avoid closures.
type attempt struct {
	exclusion exclusion
	vias      int     // number of places of a detour for each closure
	margin    float64 // metres before and after a closure where the detour begins and ends
}

// exclusion is how closures are passed to an engine.
type exclusion uint8

const (
	notExcluded exclusion = iota
	byPoints
	byPolygons
	byModel      // areas of a custom model
	byBlockAreas // for GraphHopper before version 7
)

// New returns a remote engine.
func New(o Options) (*Remote, error) {
	dialects := map[string]dialect{"osrm": osrmDialect{}, "valhalla": valhallaDialect{}, "graphhopper": graphhopperDialect{}}
	d, ok := dialects[o.Name]
	if !ok {
		return nil, errors.New("navigation.engine: " + o.Name + " is not a remote engine")
	}
	c := &caller{web: o.Web, base: o.URL, name: o.Name, now: o.Now, log: o.Log, count: o.Count}
	return &Remote{caller: c, dialect: d, network: o.Network}, nil
}

// Probe calls the engine once, and returns its version if it states one.
func (r *Remote) Probe(ctx context.Context) (version string, err error) {
	return r.dialect.probe(ctx, r.caller)
}

// Route appends the answer of the service route, which avoids places if the engine can.
func (r *Remote) Route(ctx context.Context, q *osrm.Request, places nav.Avoid, dst []byte) ([]byte, error) {
	request := q.RouteRequest()
	request.Avoid = places
	if err := request.Check(); err != nil {
		return dst, err
	}
	ask := &question{Request: q, Avoid: places, alternatives: q.Alternatives}
	if what := r.dialect.lacks(ask); what != "" {
		return dst, r.notImplemented(what)
	}
	j := &judged{Remote: r, network: r.network(), ask: ask}
	if j.network != nil {
		defer j.network.Release()
	}
	if err := j.find(ctx); err != nil {
		return dst, err
	}
	return j.append(dst)
}

func (r *Remote) notImplemented(what string) error {
	return &nav.Error{Code: nav.NotImplemented, Message: "This service finds routes by the engine " + r.name + ", which has no " + what + "."}
}

// Nearest appends the answer of the service nearest.
func (r *Remote) Nearest(ctx context.Context, q *osrm.Request, dst []byte) ([]byte, error) {
	if err := q.NearestRequest().Check(); err != nil {
		return dst, err
	}
	return r.other(ctx, q, dst)
}

// Table appends the answer of the service table.
func (r *Remote) Table(ctx context.Context, q *osrm.Request, dst []byte) ([]byte, error) {
	if err := q.TableRequest().Check(); err != nil {
		return dst, err
	}
	return r.other(ctx, q, dst)
}

// Match appends the answer of the service match.
func (r *Remote) Match(ctx context.Context, q *osrm.Request, dst []byte) ([]byte, error) {
	if err := q.TraceRequest().Check(); err != nil {
		return dst, err
	}
	return r.other(ctx, q, dst)
}

func (r *Remote) other(ctx context.Context, q *osrm.Request, dst []byte) ([]byte, error) {
	a, err := r.dialect.other(ctx, r.caller, q)
	if err != nil {
		return dst, r.explain(err)
	}
	if err := checkRoutes(a.Matchings, 0); err != nil {
		return dst, r.unreadable()
	}
	return appendOther(dst, q, a)
}

// explain converts an error to the form for clients.
func (r *Remote) explain(err error) error {
	if errors.Is(err, errUnreadable) {
		return r.unreadable()
	}
	if missing := notOffered(""); errors.As(err, &missing) {
		return r.notImplemented(string(missing))
	}
	return err
}

// notOffered is the error for a service that an engine does not have.
type notOffered string

func (n notOffered) Error() string { return "no " + string(n) }

// judged holds the routes of one request, with the conditions on each.
type judged struct {
	*Remote
	network *nav.Network // nil: there is no region, so closures are unknown
	ask     *question
	best    *answer // the answer that contains the first route
	routes  []route
	first   []string // entities that close roads of the engine's own best route
}

// moreAlternatives is the minimum number of alternatives to request if there are conditions, because one of them may
// avoid the closures.
const moreAlternatives = 2

// find requests routes, and again while all routes drive a closed road and another attempt is left.
func (j *judged) find(ctx context.Context) error {
	hasConditions := j.network != nil && j.network.Conditions != nil && !j.network.Conditions.None()
	ask := *j.ask
	if hasConditions && len(ask.Places.Coordinates) == 2 {
		ask.alternatives = max(ask.alternatives, moreAlternatives)
	}
	if err := j.take(ctx, &ask); err != nil {
		return err
	}
	if !hasConditions {
		return nil
	}
	for _, c := range j.routes[0].driven.Closures {
		j.first = append(j.first, c.EntityIDs...)
	}
	original := j.routes[0]
	var closures []nav.Closure // all closures on the routes so far
	j.sort()
	for _, try := range j.dialect.attempts() {
		if len(j.routes[0].driven.Closures) == 0 {
			break
		}
		closures = append(closures, j.routes[0].driven.Closures...)
		next, err := j.around(ctx, &original, closures, try)
		if err != nil {
			return err
		}
		if next == nil {
			continue
		}
		if err := j.take(ctx, next); ctx.Err() != nil {
			return err
		}
		j.sort()
	}
	return nil
}

// take requests routes and judges each. If an attempt after the first fails, the earlier routes stay.
func (j *judged) take(ctx context.Context, q *question) error {
	a, err := j.dialect.route(ctx, j.caller, q)
	if err == nil {
		err = checkRoutes(a.Routes, j.legs())
	}
	if err == nil && len(a.Routes) == 0 {
		err = errUnreadable
	}
	if err != nil {
		return j.explain(err)
	}
	for i := range a.Routes {
		r := &a.Routes[i]
		if r.driven, err = j.judge(ctx, r); err != nil {
			return err
		}
		if !slices.ContainsFunc(j.routes, func(o route) bool { return slices.Equal(o.Geometry.positions, r.Geometry.positions) }) {
			j.routes = append(j.routes, *r)
		}
	}
	if j.best == nil {
		j.best = a
	}
	return nil
}

// legs returns the number of legs of each route.
func (j *judged) legs() int {
	if len(j.ask.Waypoints) > 0 {
		return len(j.ask.Waypoints) - 1
	}
	return len(j.ask.Places.Coordinates) - 1
}

func (j *judged) judge(ctx context.Context, r *route) (*nav.Driven, error) {
	if j.network == nil {
		return new(nav.Driven), nil
	}
	lines := make([][]graph.Position, len(r.Legs))
	for i := range r.Legs {
		lines[i] = r.Legs[i].line
	}
	return j.network.Driven(ctx, lines)
}

// sort puts the routes with the fewest closed roads first, and among equals the fastest under conditions.
func (j *judged) sort() {
	slices.SortStableFunc(j.routes, func(a, b route) int {
		return cmp.Or(cmp.Compare(len(a.driven.Closures), len(b.driven.Closures)), cmp.Compare(a.milliseconds(), b.milliseconds()))
	})
}

// milliseconds returns the duration of a route under conditions.
func (r *route) milliseconds() uint64 { return r.Duration.milliseconds() + r.driven.Delay }

// maxAround bounds the roads that an engine is asked to leave out. Valhalla's own bound is 50.
const maxAround = 50

// nearClosures is the distance in metres from a closure on the route within which other closures are left out too,
// because a detour may meet them.
const nearClosures = 2_000

// around returns the request of an attempt, or nil if there is nothing to request.
func (j *judged) around(ctx context.Context, of *route, closures []nav.Closure, try attempt) (*question, error) {
	next := *j.ask
	next.exclusion = try.exclusion
	if try.exclusion != notExcluded {
		next.around = j.network.ClosedNear(closures, nearClosures, j.ask.Places.Coordinates, maxAround)
		return &next, nil
	}
	next.vias = make([][]nav.Via, len(of.Legs))
	found := false
	for i := range of.Legs {
		for _, s := range stretches(of.driven.Closures, i, try.margin) {
			vias, err := j.network.Detour(ctx, of.Legs[i].line, s, try.vias)
			if err != nil {
				return nil, err
			}
			next.vias[i] = append(next.vias[i], vias...)
		}
		found = found || len(next.vias[i]) > 0
	}
	if !found || len(j.ask.Places.Coordinates)+countVias(next.vias) > nav.MaxCoordinates {
		return nil, nil //nolint:nilnil // having no such way is not an error
	}
	return &next, nil
}

func countVias(vias [][]nav.Via) (count int) {
	for _, leg := range vias {
		count += len(leg)
	}
	return count
}

// stretches returns the parts of a leg around closures, with a margin, and joins those that overlap.
func stretches(closures []nav.Closure, leg int, margin float64) (found []nav.Stretch) {
	for i := range closures {
		c := &closures[i]
		if c.Leg != leg {
			continue
		}
		if last := len(found) - 1; last >= 0 && c.Begin-margin <= found[last].End {
			found[last].End = max(found[last].End, c.End+margin)
		} else {
			found = append(found, nav.Stretch{Begin: c.Begin - margin, End: c.End + margin})
		}
	}
	return found
}
