package appcheck

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// browserDouble answers calls as a browser does: with the number of the call.
func browserDouble(t *testing.T, answer func(method string) string) (*connection, *io.PipeWriter, <-chan error, *[]string) {
	t.Helper()
	theirIn, ourOut := io.Pipe()
	ourIn, theirOut := io.Pipe()
	c := newConnection(ourOut)
	var events []string
	ended := make(chan error, 1)
	go func() {
		ended <- c.read(ourIn, func(m message) { events = append(events, m.Method) })
	}()
	go func() {
		scanner := bufio.NewScanner(theirIn)
		scanner.Split(splitAtZero)
		for scanner.Scan() {
			var m message
			if err := json.Unmarshal(scanner.Bytes(), &m); err != nil {
				t.Error(err)
				return
			}
			if text := answer(m.Method); text != "" {
				_, _ = fmt.Fprintf(theirOut, "{\"id\":%d,%s}\x00", m.ID, text)
			}
		}
	}()
	t.Cleanup(func() { _ = errors.Join(ourOut.Close(), theirOut.Close()) })
	return c, theirOut, ended, &events
}

func TestCallsGetTheirAnswers(t *testing.T) {
	c, out, ended, events := browserDouble(t, func(method string) string {
		switch method {
		case "Good":
			return `"result":{"value":7}`
		case "Bad":
			return `"error":{"message":"no such target"}`
		}
		return ""
	})
	var got struct{ Value int }
	if err := c.call(t.Context(), "", "Good", nil, &got); err != nil || got.Value != 7 {
		t.Errorf("%v, %v", got, err)
	}
	if err := c.call(t.Context(), "s", "Bad", map[string]any{"a": 1}, nil); err == nil || !strings.Contains(err.Error(), "no such target") {
		t.Errorf("the error is %v", err)
	}
	if _, err := io.WriteString(out, "{\"method\":\"Page.loadEventFired\"}\x00"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("too late"))
	if err := c.call(ctx, "", "Silent", nil, nil); err == nil || !strings.Contains(err.Error(), "too late") {
		t.Errorf("the error is %v", err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, errBrowserEnded) {
		t.Errorf("reading ended with %v", err)
	}
	if err := c.call(t.Context(), "", "Good", nil, nil); !errors.Is(err, errBrowserEnded) {
		t.Errorf("a call after the end: %v", err)
	}
	if len(*events) != 1 || (*events)[0] != "Page.loadEventFired" {
		t.Errorf("events: %q", *events)
	}
}

func TestEndOfTheBrowserEndsCalls(t *testing.T) {
	c, out, _, _ := browserDouble(t, func(string) string { return "" })
	called := make(chan error, 1)
	answer := make(chan message, 1)
	if err := c.send("", "Waits", nil, answer); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, ok := <-answer
		if ok {
			called <- errors.New("it got an answer")
			return
		}
		called <- nil
	}()
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-called; err != nil {
		t.Error(err)
	}
}

func TestFindsABrowserByName(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("PATH", folder)
	if _, err := Find(""); !errors.Is(err, ErrNoBrowser) {
		t.Errorf("without one: %v", err)
	}
	program := filepath.Join(folder, "google-chrome")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(""); err != nil || got != program {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := Find(program); err != nil || got != program {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Find("no-such-browser"); err == nil || !strings.Contains(err.Error(), "--browser") {
		t.Errorf("%v", err)
	}
}

// TestSaysWhyABrowserDoesNotStart runs programs that end immediately, as a browser does that must not run as root.
func TestSaysWhyABrowserDoesNotStart(t *testing.T) {
	for text, want := range map[string]string{
		"Running as root without --no-sandbox is not supported.": "add --no-sandbox",
		"missing libnss3.so": "missing libnss3.so",
	} {
		program := filepath.Join(t.TempDir(), "chromium")
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho '"+text+"' >&2\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := Run(t.Context(), &Plan{URL: "https://apps.example.org/", Slot: "widget", Browser: program, Scripts: os.DirFS(t.TempDir())})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
