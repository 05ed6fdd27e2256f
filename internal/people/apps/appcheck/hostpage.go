package appcheck

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxProblems bounds how many errors of the app's page are reported to the script: a page may throw one with each frame it draws.
const maxProblems = 50

// longestBusy is how long a page may take to react.
const longestBusy = 5 * time.Second

var errHostCrashed = errors.New("the page that shows the app crashed: the app posts more than a browser can take")

// hostPage is the page that shows the app. Its requests never leave the browser.
type hostPage struct {
	origin, appOrigin string
	scripts           fs.FS
	loaded            chan struct{}           // closed when it has loaded
	fail              context.CancelCauseFunc // ends the checks

	conn    *connection // these are set before the page is opened
	session string

	once     sync.Once
	problems atomic.Int32 // reported to the script
	frame    atomic.Value // session of the app's page, a string; the latest one
}

// open opens the page in a tab.
func (h *hostPage) open(ctx context.Context, b *browser) error {
	h.conn = b.connection
	var tab struct {
		TargetID string `json:"targetId"`
	}
	if err := b.call(ctx, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &tab); err != nil {
		return err
	}
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	if err := b.call(ctx, "", "Target.attachToTarget", map[string]any{"targetId": tab.TargetID, "flatten": true}, &attached); err != nil {
		return err
	}
	h.session = attached.SessionID
	for _, c := range []struct {
		method string
		params any
	}{
		{"Page.enable", nil},
		{"Log.enable", nil},
		{"Inspector.enable", nil},
		{"Network.enable", nil},
		{"Target.setAutoAttach", autoAttach()},
		{"Emulation.setDeviceMetricsOverride", map[string]any{"width": windowWidth, "height": windowHeight, "deviceScaleFactor": 1, "mobile": false}},
		{"Fetch.enable", map[string]any{"patterns": []any{map[string]any{"urlPattern": h.origin + "/*"}}}},
		{"Page.navigate", map[string]any{"url": h.origin + "/"}},
	} {
		if err := b.call(ctx, h.session, c.method, c.params, nil); err != nil {
			return err
		}
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("open the page of the checks: %w", context.Cause(ctx))
	case <-b.ended:
		return errBrowserEnded
	case <-h.loaded:
		return nil
	}
}

// autoAttach returns the parameters that have frames in separate processes report to the connection too, before they run.
func autoAttach() map[string]any {
	return map[string]any{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}
}

// handle handles an event of the browser.
func (h *hostPage) handle(m message) {
	var p struct {
		SessionID  string `json:"sessionId"` // of the attached target
		TargetInfo struct {
			Type string `json:"type"`
		} `json:"targetInfo"`
		RequestID        string               `json:"requestId"`
		Request          struct{ URL string } `json:"request"`
		ExceptionDetails exception            `json:"exceptionDetails"`
		Entry            struct{ Source, Level, Text string }
		Type             string
		ErrorText        string
		Response         struct {
			Status int
			URL    string
		}
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		return // an unknown event
	}
	switch m.Method {
	case "Fetch.requestPaused":
		h.answer(m.SessionID, p.RequestID, p.Request.URL)
	case "Page.loadEventFired":
		h.once.Do(func() { close(h.loaded) })
	case "Target.attachedToTarget":
		if m.SessionID == h.session {
			h.frame.Store(p.SessionID)
		}
		for _, method := range []string{"Runtime.enable", "Log.enable", "Inspector.enable"} {
			h.post(p.SessionID, method, nil)
		}
		h.post(p.SessionID, "Target.setAutoAttach", autoAttach())
		h.post(p.SessionID, "Runtime.runIfWaitingForDebugger", nil)
	case "Runtime.exceptionThrown":
		h.problem("uncaught error: " + p.ExceptionDetails.text())
	case "Log.entryAdded":
		if p.Entry.Level == "error" && p.Entry.Source != "network" { // requests of the app fail where its own services do
			h.problem(p.Entry.Text)
		}
	case "Network.loadingFailed":
		if p.Type == "Document" {
			h.problem("the page did not load: " + p.ErrorText)
		}
	case "Network.responseReceived":
		if p.Type == "Document" && p.Response.Status >= http.StatusBadRequest {
			h.problem(fmt.Sprintf("the page was answered with status %d", p.Response.Status))
		}
	case "Inspector.targetCrashed":
		if m.SessionID == h.session {
			h.fail(errHostCrashed)
		}
		h.problem("the page crashed")
	}
}

// watchFrame reports to the script when the app's page is busy for so long that a driver would take it for broken, until ctx ends.
func (h *hostPage) watchFrame(ctx context.Context) {
	for ctx.Err() == nil {
		if session, ok := h.frame.Load().(string); ok {
			asked, cancel := context.WithTimeout(ctx, longestBusy)
			err := h.conn.call(asked, session, "Runtime.evaluate", map[string]any{"expression": "0"}, nil)
			cancel()
			if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil && h.frame.Load() == session {
				h.problem("the page does not react: it was busy for " + longestBusy.String())
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// post sends a command whose answer is not needed.
func (h *hostPage) post(session, method string, params any) {
	_ = h.conn.send(session, method, params, nil) // it fails when the browser ended, which the next call reports
}

// problem reports an error to the script, which cannot see it itself.
func (h *hostPage) problem(text string) {
	if h.problems.Add(1) > maxProblems {
		return
	}
	detail, err := json.Marshal(text)
	if err != nil {
		return
	}
	h.post(h.session, "Runtime.evaluate", map[string]any{"expression": fmt.Sprintf(`dispatchEvent(new CustomEvent("wayside:problem", { detail: %s }))`, detail)})
}

// answer answers a request of the page: with the page itself, or with one of its scripts.
func (h *hostPage) answer(session, request, address string) {
	status, kind, body := http.StatusNotFound, "text/plain", []byte("not found")
	switch name, _ := strings.CutPrefix(address, h.origin+"/"); {
	case name == "":
		status, kind, body = http.StatusOK, "text/html; charset=utf-8", []byte("<!doctype html><title>wayside app check</title><body>")
	case path.Ext(name) == ".js":
		if text, err := fs.ReadFile(h.scripts, name); err == nil {
			status, kind, body = http.StatusOK, "text/javascript; charset=utf-8", text
		}
	}
	header := func(name, value string) map[string]string { return map[string]string{"name": name, "value": value} }
	h.post(session, "Fetch.fulfillRequest", map[string]any{
		"requestId": request, "responseCode": status, "body": base64.StdEncoding.EncodeToString(body),
		"responseHeaders": []any{
			header("Content-Type", kind),
			header("Content-Security-Policy", "default-src 'none'; script-src 'self'; frame-src "+h.appOrigin+"; base-uri 'none'; form-action 'none'"),
			header("Permissions-Policy", "geolocation=(), camera=(), microphone=()"),
		},
	})
}

// exception is an error in the form of the protocol.
type exception struct {
	Text      string `json:"text"`
	URL       string `json:"url"`
	Line      int    `json:"lineNumber"` // from 0
	Exception struct {
		Description string `json:"description"`
	} `json:"exception"`
}

// text describes the error in one line.
func (e *exception) text() string {
	text, _, _ := strings.Cut(e.Exception.Description, "\n")
	if text == "" {
		text = e.Text
	}
	if e.URL != "" {
		text += fmt.Sprintf(" (%s:%d)", path.Base(e.URL), e.Line+1)
	}
	return text
}
