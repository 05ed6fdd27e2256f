package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"wayside/internal/drive/nav/osrm"
	"wayside/internal/ground/budget"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
)

// Memory is the memory that requests may hold together, by kind. The zero value bounds nothing.
type Memory struct {
	Reads  *budget.Part // answers with entities, and updates of streams
	Routes *budget.Part // answers of navigation
}

// Bounds of the memory of a request.
const (
	// smallAnswer is the size up to which an answer does not wait for memory, because the requests of most drivers must not wait
	// behind the large ones of few. It counts while it is written.
	smallAnswer = 256 << 10
	// holdTimeout is how long a request, or an update of a stream, waits for memory.
	holdTimeout = 2 * time.Second
	// hitBytes is about the memory of one entity of an answer while the answer is found and written.
	hitBytes = 1280
	// heavyLimit is the number of entities above which a read waits for a slot: the page for cars asks for 1 000, and a list for
	// 20.
	heavyLimit = 50
)

// busyRetryAfter is when a request that found no memory may come again: answers under way take less.
const busyRetryAfter = 2 * time.Second

// memoryKey returns the key of a request's caller in the budget.
func memoryKey(c *caller) ratelimit.Key {
	if c.account != nil {
		return ratelimit.AccountKey(ratelimit.HeldBytes, c.account.ID)
	}
	return ratelimit.ClientKey(ratelimit.HeldBytes, c.client)
}

// takeMemory takes memory for an answer of about the given size. It fails with a problem if there is none soon.
func takeMemory(ctx context.Context, part *budget.Part, c *caller, bytes int) (*budget.Hold, error) {
	if part == nil {
		return nil, nil
	}
	if bytes <= smallAnswer {
		return part.Begin(memoryKey(c)), nil
	}
	waiting, cancel := context.WithTimeout(ctx, holdTimeout)
	defer cancel()
	h, err := part.Take(waiting, memoryKey(c), bytes)
	switch {
	case err == nil:
		return h, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, budget.ErrShare):
		return nil, &mapdata.LimitError{RetryAfter: busyRetryAfter, What: "large answers at the same time to one caller"}
	}
	return nil, busyProblem()
}

func busyProblem() *problem {
	return &problem{
		Type: "unavailable", Status: http.StatusServiceUnavailable, retryAfter: busyRetryAfter, expected: true,
		Detail: "The service is making too many large answers now. Ask again, or for less.",
	}
}

// hold takes memory for the answer to a request until its handler returns. w is the handler's.
func (a *api) hold(w http.ResponseWriter, r *http.Request, part *budget.Part, c *caller, bytes int) error {
	h, err := takeMemory(r.Context(), part, c, bytes)
	if rec, ok := w.(*recorder); ok && err == nil {
		rec.hold = h
		return nil
	}
	h.Release()
	return err
}

// holdBody reduces the memory of a request to the body of its answer, which is written next.
func holdBody(w http.ResponseWriter, body []byte) {
	rec, ok := w.(*recorder)
	if !ok || rec.hold == nil {
		return
	}
	rec.hold.Set(cap(body))
	control := http.NewResponseController(rec.ResponseWriter)
	rec.hold.Write(func() { _ = control.SetWriteDeadline(time.Unix(1, 0)) }) // fails only if the connection is closed
}

// turn returns the function with which a query waits for its turn to search; nil: the query is short, and need not wait. The turn
// lasts until the answer is sent, because encoding and compressing a megabyte takes as long as finding its contents.
func (a *api) turn(w http.ResponseWriter, c *caller, limit int) func(ctx context.Context) (done func(), err error) {
	rec, ok := w.(*recorder)
	if a.Work == nil || limit <= heavyLimit || !ok {
		return nil
	}
	return func(ctx context.Context) (func(), error) { return func() {}, a.takeTurn(ctx, rec, c) }
}

// takeTurn waits for the request's turn, which ends when its answer begins to be sent.
func (a *api) takeTurn(ctx context.Context, rec *recorder, c *caller) error {
	done, err := a.Work.Enter(ctx, memoryKey(c), 1, true)
	if errors.Is(err, ratelimit.ErrBusy) {
		return busyProblem()
	}
	if err == nil {
		rec.endTurn()
		rec.turn = done
	}
	return err
}

// answerFactor is how many times the text of an answer of navigation is held while the answer is found and written (measured in
// Monaco: 2.4 MB of text for 100 places with everything, and two and a half times as much to make it).
const answerFactor = 3

// holdRoute takes memory for an answer of navigation. The search itself waits for its turn separately (searchTurn).
func (a *api) holdRoute(w http.ResponseWriter, r *http.Request, c *caller, q *osrm.Request) error {
	return a.hold(w, r, a.Memory.Routes, c, answerFactor*q.AnswerBytes())
}
