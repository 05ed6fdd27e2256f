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

	"wayside/internal/nav"
	"wayside/internal/safehttp"
)

// Limits of calls to an engine, for the client that makes them.
const (
	CallTimeout = 5 * time.Second
	MaxBody     = 8 << 20 // bytes of an answer
	MaxCalls    = 16      // at the same time
)

// restAfterFailure is how long an engine that did not answer is not called again: requests do not queue for a timeout each.
const restAfterFailure = time.Second

// State is how an engine does.
type State struct {
	Name     string // osrm, valhalla or graphhopper
	Answered time.Time
	Failed   time.Time // when it last did not answer
	Reason   string    // of the last failure: one of mapdata's outcomes
}

// Down says whether the last call failed.
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

// get calls a path below the URL of the engine.
func (c *caller) get(ctx context.Context, path string, query url.Values) (status int, body []byte, err error) {
	return c.call(ctx, safehttp.Request{URL: c.base.With(path, query)})
}

// post sends a body of JSON to a path below the URL of the engine.
func (c *caller) post(ctx context.Context, path string, request []byte) (status int, body []byte, err error) {
	return c.call(ctx, safehttp.Request{URL: c.base.With(path, nil), JSON: request})
}

// version asks a path of the engine for the version that it names.
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

// call makes one call, and notes how it ended. An engine that does not answer is a nav.Error of the code NoEngine.
func (c *caller) call(ctx context.Context, r safehttp.Request) (status int, body []byte, err error) {
	if c.resting() {
		return 0, nil, errNoEngine()
	}
	r.AnyStatus = true
	r.CloseAfter = c.name == "osrm" // on a connection that is kept, its answers wait for a delayed acknowledgement: 40 ms
	status, body, err = c.fetch(ctx, r)
	if ctx.Err() != nil {
		return 0, nil, context.Cause(ctx) // the caller is gone, or waited for too long, which is no fault of the engine
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

// resting says whether the engine did not answer a moment ago.
func (c *caller) resting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.Down() && c.now().Sub(c.state.Failed) < restAfterFailure
}

// note notes how a call ended. The log has each change.
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
		if !c.state.Failed.After(c.state.Answered) { // by a coarse clock
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

// unreadable notes an answer that is not of the engine's format, and is the error of the request.
func (c *caller) unreadable() error {
	c.note(errUnreadable)
	return &nav.Error{Code: nav.NoEngine, Message: "The engine that finds routes for this service answered in a form that is not its own. Its operator must check navigation.engine and navigation.engine_url."}
}

// State is how the engine does.
func (c *caller) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state
	s.Name = c.name
	return s
}
