package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/mapdata"
	"wayside/internal/safehttp"
)

// slowPages answers with an endless chain of pages, each of which takes a while.
type slowPages struct {
	each  time.Duration
	pages int
}

func (s *slowPages) Fetch(_ context.Context, r safehttp.Request) (*safehttp.Response, error) {
	s.pages++
	limit := 15 * time.Second
	if r.Timeout < limit {
		limit = r.Timeout
	}
	if r.Started != nil {
		r.Started()
	}
	if s.each > limit {
		time.Sleep(limit)
		return nil, &safehttp.Error{Outcome: mapdata.OutcomeTimeout, Advice: "one page"}
	}
	time.Sleep(s.each)
	next := fmt.Sprintf(`<https://slow.example.com/%d>; rel="next"`, s.pages)
	return &safehttp.Response{
		Status: 200, URL: r.URL, Header: http.Header{"Link": {next}}, Body: io.NopCloser(strings.NewReader(`{"data":[],"status_code":1000}`)),
	}, nil
}

// TestPagesTakeTwoMinutes checks that all pages of a poll together have 120 s and a single page 15 s, and that the
// owner's text names the limit.
func TestPagesTakeTwoMinutes(t *testing.T) {
	for name, tt := range map[string]struct {
		each   time.Duration
		takes  time.Duration
		reason mapdata.Reason
		advice string
	}{
		"cut off":  {13 * time.Second, 120 * time.Second, mapdata.ReasonPages, "All pages together took longer than 120 seconds."},
		"just so":  {12 * time.Second, 120 * time.Second, mapdata.ReasonPages, "All pages together took longer than 120 seconds."},
		"one page": {16 * time.Second, 15 * time.Second, "", "one page"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u, err := safehttp.CheckURL("https://slow.example.com/0")
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				_, err = NewSpool(t.TempDir()).Fetch(t.Context(), &slowPages{each: tt.each}, &Target{URL: u, Bridge: mapdata.Bridge{Format: "ocpi"}})
				var failure *Failure
				if !errors.As(FetchFailure(err), &failure) || failure.Outcome != mapdata.OutcomeTimeout || failure.Reason != tt.reason || !strings.HasPrefix(failure.Advice, tt.advice) {
					t.Errorf("%+v (%v)", failure, err)
				}
				if took := time.Since(began); took != tt.takes {
					t.Errorf("took %v, want %v", took, tt.takes)
				}
			})
		})
	}
}
