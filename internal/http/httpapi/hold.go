package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

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
	// HitBytes is about the memory of one entity of an answer while the answer is found and written.
	HitBytes = 1280
	// heavyLimit is the number of entities above which a read waits for a slot: the page for cars asks for 1 000, and a list for
	// 20.
	heavyLimit = 50
)

// busyRetryAfter is when a request that found no memory may come again: answers under way take less.
const busyRetryAfter = 2 * time.Second

// memoryKey returns the key of a request's caller in the budget.
func memoryKey(c *Caller) ratelimit.Key {
	if c.Account != nil {
		return ratelimit.AccountKey(ratelimit.HeldBytes, c.Account.ID)
	}
	return ratelimit.ClientKey(ratelimit.HeldBytes, c.Client)
}

// TakeMemory takes memory for an answer of about the given size. It fails with a problem if there is none soon.
func TakeMemory(ctx context.Context, part *budget.Part, c *Caller, bytes int) (*budget.Hold, error) {
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

func busyProblem() *Problem {
	return &Problem{
		Type: "unavailable", Status: http.StatusServiceUnavailable, RetryAfter: busyRetryAfter, Expected: true,
		Detail: "The service is making too many large answers now. Ask again, or for less.",
	}
}

// Hold takes memory for the answer to a request until its handler returns. w is the handler's.
func (a *API) Hold(w http.ResponseWriter, r *http.Request, part *budget.Part, c *Caller, bytes int) error {
	h, err := TakeMemory(r.Context(), part, c, bytes)
	if rec, ok := w.(*Recorder); ok && err == nil {
		rec.hold = h
		return nil
	}
	h.Release()
	return err
}

// HoldBody reduces the memory of a request to the body of its answer, which is written next.
func HoldBody(w http.ResponseWriter, body []byte) {
	rec, ok := w.(*Recorder)
	if !ok || rec.hold == nil {
		return
	}
	rec.hold.Set(cap(body))
	control := http.NewResponseController(rec.ResponseWriter)
	rec.hold.Write(func() { _ = control.SetWriteDeadline(time.Unix(1, 0)) }) // fails only if the connection is closed
}

// Turn returns the function with which a query waits for its turn to search; nil: the query is short, and need not wait. The turn
// lasts until the answer is sent, because encoding and compressing a megabyte takes as long as finding its contents.
func (a *API) Turn(w http.ResponseWriter, c *Caller, limit int) func(ctx context.Context) (done func(), err error) {
	rec, ok := w.(*Recorder)
	if a.Work == nil || limit <= heavyLimit || !ok {
		return nil
	}
	return func(ctx context.Context) (func(), error) { return func() {}, a.takeTurn(ctx, rec, c) }
}

// takeTurn waits for the request's turn, which ends when its answer begins to be sent.
func (a *API) takeTurn(ctx context.Context, rec *Recorder, c *Caller) error {
	done, err := a.Work.Enter(ctx, memoryKey(c), 1, true)
	if errors.Is(err, ratelimit.ErrBusy) {
		return busyProblem()
	}
	if err == nil {
		rec.EndTurn()
		rec.turn = done
	}
	return err
}
