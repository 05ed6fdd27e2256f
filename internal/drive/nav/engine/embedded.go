package engine

import (
	"context"
	"sync"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/osrm"
)

// Embedded is the engine in this program.
type Embedded struct {
	routes  *nav.Service
	answers sync.Pool // of *nav.RouteAnswer
}

// maxPooledBody is the size of the largest answer, in bytes, whose memory is kept for the next one.
const maxPooledBody = 1 << 20

// NewEmbedded returns the engine that uses a service of package nav.
func NewEmbedded(routes *nav.Service) *Embedded {
	return &Embedded{routes: routes, answers: sync.Pool{New: func() any { return new(nav.RouteAnswer) }}}
}

// Route appends the answer of the service route, which avoids places.
func (e *Embedded) Route(ctx context.Context, q *osrm.Request, places nav.Avoid, dst []byte) ([]byte, error) {
	a, ok := e.answers.Get().(*nav.RouteAnswer)
	if !ok {
		a = new(nav.RouteAnswer)
	}
	request := q.RouteRequest()
	request.Avoid = places
	if err := e.routes.Route(ctx, request, a); err != nil {
		return dst, err
	}
	before := len(dst)
	if dst = q.AppendRoute(dst, a); len(dst)-before <= maxPooledBody {
		e.answers.Put(a)
	}
	return dst, nil
}

// Nearest appends the answer of the service nearest.
func (e *Embedded) Nearest(ctx context.Context, q *osrm.Request, dst []byte) ([]byte, error) {
	var a nav.NearestAnswer
	if err := e.routes.Nearest(ctx, q.NearestRequest(), &a); err != nil {
		return dst, err
	}
	return q.AppendNearest(dst, &a), nil
}

// Table appends the answer of the service table.
func (e *Embedded) Table(ctx context.Context, q *osrm.Request, dst []byte) ([]byte, error) {
	var a nav.TableAnswer
	if err := e.routes.Table(ctx, q.TableRequest(), &a); err != nil {
		return dst, err
	}
	return q.AppendTable(dst, &a), nil
}

// Match appends the answer of the service match.
func (e *Embedded) Match(ctx context.Context, q *osrm.Request, dst []byte) ([]byte, error) {
	var a nav.TraceAnswer
	if err := e.routes.Match(ctx, q.TraceRequest(), &a); err != nil {
		return dst, err
	}
	return q.AppendMatch(dst, &a), nil
}
