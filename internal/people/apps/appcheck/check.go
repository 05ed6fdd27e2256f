package appcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"sync"
	"time"
)

const (
	// timeout bounds all checks of a page; those of a page that answers in time take half a minute.
	timeout = 3 * time.Minute
	// script is the module that the bench and this package run.
	script = "appchecks.js"
	// Size of the window in CSS pixels: the largest slot of the checks lies within it, so that the browser draws it.
	windowWidth, windowHeight = 1400, 1200
)

// Plan describes the checks of one page.
type Plan struct {
	URL     string          // of the app's page
	Slot    string          // widget or notifications
	Schema  json.RawMessage // config_schema; nil: the app has none
	Config  json.RawMessage // values for it, as an object; nil: samples
	As      string          // origin of the page that shows the app; empty: one that this package makes up
	Scripts fs.FS           // the console's scripts, as they were built

	Browser   string // path of its program
	NoSandbox bool   // lets the browser run as root, and in containers
}

// Report is the result of the checks, in the form that a submission takes.
type Report struct {
	Version int     `json:"version"`
	URL     string  `json:"url"`
	MadeBy  string  `json:"made_by"`
	MadeAt  string  `json:"made_at"`
	Passed  bool    `json:"passed"`
	Checks  []Check `json:"checks"`
}

// Check is the result of one check.
type Check struct {
	Check  string `json:"check"`
	Seen   string `json:"seen"`
	Result string `json:"result"` // pass or fail
}

// Run runs the checks.
func Run(ctx context.Context, plan *Plan) (*Report, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errors.New("the checks took more than "+timeout.String()))
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	app, err := url.Parse(plan.URL)
	if err != nil {
		return nil, err
	}
	host := &hostPage{origin: plan.As, appOrigin: app.Scheme + "://" + app.Host, scripts: plan.Scripts, loaded: make(chan struct{}), fail: fail}
	if host.origin == "" {
		// A name of another site than any app's. Browsers trust it like https, and no request for it leaves the browser, because
		// this package answers.
		host.origin = app.Scheme + "://wayside.localhost"
	}
	b, err := start(plan.Browser, plan.NoSandbox, host.handle)
	if err != nil {
		return nil, err
	}
	report, err := host.run(ctx, b, plan)
	closed := b.close() // after close, everything that the browser printed has been read
	if err != nil {
		return nil, b.why(err)
	}
	if closed != nil {
		return nil, closed
	}
	return report, nil
}

// planInPage is the plan as the script takes it.
type planInPage struct {
	URL     string          `json:"url"`
	Slot    string          `json:"slot"`
	Schema  json.RawMessage `json:"schema,omitempty"`
	Config  json.RawMessage `json:"config,omitempty"`
	MadeBy  string          `json:"madeBy"`
	Watched bool            `json:"watched"` // errors in the frame are reported to the script
}

// run opens the page and lets the script check the app.
func (h *hostPage) run(ctx context.Context, b *browser, plan *Plan) (*Report, error) {
	if err := h.open(ctx, b); err != nil {
		return nil, err
	}
	text, err := json.Marshal(planInPage{plan.URL, plan.Slot, plan.Schema, plan.Config, "command", true})
	if err != nil {
		return nil, err
	}
	watched, stop := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() { h.watchFrame(watched) })
	defer watching.Wait()
	defer stop()
	var answer struct {
		Result struct {
			Value *Report `json:"value"`
		} `json:"result"`
		ExceptionDetails *exception `json:"exceptionDetails"`
	}
	err = b.call(ctx, h.session, "Runtime.evaluate", map[string]any{
		"expression":   fmt.Sprintf(`import("/%s").then((script) => script.check(%s, document.body))`, script, text),
		"awaitPromise": true, "returnByValue": true,
	}, &answer)
	switch {
	case err != nil:
		return nil, err
	case answer.ExceptionDetails != nil:
		return nil, errors.New("the script of the checks failed: " + answer.ExceptionDetails.text())
	case answer.Result.Value == nil:
		return nil, errors.New("the script of the checks gave no report")
	}
	return answer.Result.Value, nil
}
