package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/ground/safehttp"
)

// Limits of calls to an engine, set on the client that makes them.
const (
	CallTimeout = 5 * time.Second
	MaxBody     = 8 << 20 // bytes of an answer
	MaxCalls    = 16      // concurrent
)

// restAfterFailure is how long an engine that did not answer is not called again, because requests must not each wait
// for the timeout.
const restAfterFailure = time.Second

// State is the health of an engine.
type State struct {
	Name     string // osrm, valhalla or graphhopper
	Answered time.Time
	Failed   time.Time // time of the last failure
	Reason   string    // of the last failure: one of mapdata's outcomes
}

// Down reports whether the last call failed.
func (s State) Down() bool { return s.Failed.After(s.Answered) }

// caller calls one engine.
type caller struct {
	web   *safehttp.Client
	base  *safehttp.URL
	name  string
	now   func() time.Time
	log   *slog.Logger
	count func(outcome string)

	mu    sync.Mutex
	state State
}

// get requests a path below the URL of the engine.
func (c *caller) get(ctx context.Context, path string, query url.Values) (status int, body []byte, err error) {
	return c.call(ctx, safehttp.Request{URL: c.base.With(path, query)})
}

// post sends a body of JSON to a path below the URL of the engine.
func (c *caller) post(ctx context.Context, path string, request []byte) (status int, body []byte, err error) {
	return c.call(ctx, safehttp.Request{URL: c.base.With(path, nil), JSON: request})
}

// version requests a path of the engine whose answer contains its version.
func (c *caller) version(ctx context.Context, path string) (string, error) {
	status, body, err := c.get(ctx, path, nil)
	if err != nil {
		return "", err
	}
	var of struct {
		Version text `json:"version"`
	}
	if json.Unmarshal(body, &of) != nil || status != http.StatusOK || of.Version == "" {
		return "", errUnreadable
	}
	return string(of.Version), nil
}

// call makes one call, and records its outcome. It returns a nav.Error with the code NoEngine if the engine does not
// answer.
func (c *caller) call(ctx context.Context, r safehttp.Request) (status int, body []byte, err error) {
	if c.resting() {
		return 0, nil, errNoEngine()
	}
	r.AnyStatus = true
	r.CloseAfter = c.name == "osrm" // on a kept connection, OSRM's answers wait 40 ms for a delayed acknowledgement
	status, body, err = c.fetch(ctx, r)
	if ctx.Err() != nil {
		return 0, nil, context.Cause(ctx) // the client left, or waited for too long, which is not a failure of the engine
	}
	if err == nil && status >= http.StatusInternalServerError {
		err = fmt.Errorf("it answered %d", status)
	}
	c.note(err)
	if err != nil {
		return 0, nil, errNoEngine()
	}
	return status, body, nil
}

func (c *caller) fetch(ctx context.Context, r safehttp.Request) (status int, body []byte, err error) {
	answer, err := c.web.Fetch(ctx, r)
	if err != nil {
		return 0, nil, err
	}
	body, err = io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return 0, nil, err
	}
	return answer.Status, body, nil
}

func errNoEngine() error {
	return &nav.Error{Code: nav.NoEngine, Message: "The engine that finds routes for this service does not answer. Try again later."}
}

// resting reports whether the engine failed a moment ago.
func (c *caller) resting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.Down() && c.now().Sub(c.state.Failed) < restAfterFailure
}

// note records the outcome of a call, and logs each change.
func (c *caller) note(err error) {
	c.mu.Lock()
	was := c.state.Down()
	outcome := "ok"
	if err == nil {
		c.state.Answered = c.now()
	} else {
		outcome = "failed"
		if failed := new(safehttp.Error); errors.As(err, &failed) {
			outcome = string(failed.Outcome)
		}
		c.state.Failed, c.state.Reason = c.now(), outcome
		if !c.state.Failed.After(c.state.Answered) { // the clock may be coarse
			c.state.Failed = c.state.Answered.Add(1)
		}
	}
	is := c.state.Down()
	c.mu.Unlock()
	c.count(outcome)
	switch {
	case is && !was:
		c.log.Warn("the engine that finds routes does not answer: check that it runs, and navigation.engine_url", "engine", c.name, "outcome", outcome)
	case was && !is:
		c.log.Info("the engine that finds routes answers again", "engine", c.name)
	}
}

// unreadable records an answer that does not have the engine's format, and returns the error for the request.
func (c *caller) unreadable() error {
	c.note(errUnreadable)
	return &nav.Error{Code: nav.NoEngine, Message: "The engine that finds routes for this service answered in a form that is not its own. Its operator must check navigation.engine and navigation.engine_url."}
}

// State returns the health of the engine.
func (c *caller) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state
	s.Name = c.name
	return s
}
