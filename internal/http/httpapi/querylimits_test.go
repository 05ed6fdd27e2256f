package httpapi

import (
	"strings"
	"testing"
	"time"

	"wayside/internal/entities/nearby"
	"wayside/internal/ground/mapdata"
)

// errorCode returns the code of the first error of parameters; empty: there is none.
func errorCode(p *Params) string {
	if p.Problem == nil {
		return ""
	}
	return p.Problem.Errors[0].Code
}

// TestLimitParameter checks the limits of D4.2 by their values.
func TestLimitParameter(t *testing.T) {
	for text, want := range map[string]struct {
		limit int
		code  string
	}{
		"": {200, ""}, "limit=1": {1, ""}, "limit=999": {999, ""}, "limit=1000": {1000, ""}, "limit=1001": {1000, ""},
		"limit=99999999999999999999": {1000, ""}, "limit=0": {0, "invalid_limit"}, "limit=-99999999999999999999": {0, "invalid_limit"},
	} {
		values, err := AppendQuery(nil, text)
		if err != nil {
			t.Fatal(err)
		}
		p := &Params{Values: values}
		if got := p.Limit(); got != want.limit || errorCode(p) != want.code {
			t.Errorf("%q: %d, %q, want %d, %q", text, got, errorCode(p), want.limit, want.code)
		}
	}
}

// TestNetworksParameter checks how many networks a query may name, and how long a name may be.
func TestNetworksParameter(t *testing.T) {
	for _, tt := range []struct {
		count, length int
		code          string
	}{{100, 64, ""}, {101, 1, "too_many"}, {1, 65, "invalid"}} {
		p := new(Params)
		names := p.NetworkNames(strings.Repeat(strings.Repeat("x", tt.length)+",", tt.count))
		if errorCode(p) != tt.code || tt.code == "" && len(names) != tt.count {
			t.Errorf("%d of %d bytes: %d names, %q, want %q", tt.count, tt.length, len(names), errorCode(p), tt.code)
		}
	}
}

// TestTruncate checks how much of a client's text a response repeats: 80 bytes of whole letters.
func TestTruncate(t *testing.T) {
	for text, want := range map[string]string{
		strings.Repeat("x", 80):        strings.Repeat("x", 80),
		strings.Repeat("x", 81):        strings.Repeat("x", 80) + "…",
		strings.Repeat("x", 79) + "éé": strings.Repeat("x", 79) + "…",
		"\xff":                         "\uFFFD",
	} {
		if got := Truncate(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestResumableAt checks that a stream resumes for ten minutes, and not from the future.
func TestResumableAt(t *testing.T) {
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]bool{
		-time.Millisecond: false, 0: true, 10 * time.Minute: true, 10*time.Minute + time.Millisecond: false,
	} {
		if got := (eventID{at: now.Add(-age)}).resumableAt(now); got != want {
			t.Errorf("an id %v old: %v", age, got)
		}
	}
	if maxReadDelay != 30*time.Second {
		t.Errorf("a change can be read after %v, want 30 s", maxReadDelay)
	}
}

// TestValidIDsAreBounded: a problem names at most a thousand sources, of which there may be ten thousand (D4.4).
func TestValidIDsAreBounded(t *testing.T) {
	p := parameterProblem()
	p.addSources(&nearby.UnknownSourcesError{Unknown: []string{"moose"}, Valid: make([]mapdata.SourceID, 10_000)})
	if len(p.ValidIDs) != 1000 || len(p.Errors) != 1 {
		t.Errorf("%d valid ids, %d errors", len(p.ValidIDs), len(p.Errors))
	}
}
