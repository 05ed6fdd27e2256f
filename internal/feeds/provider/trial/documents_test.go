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

	"wayside/internal/feeds/format"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
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

// boundedPages is slowPages that remembers how its first request is bounded.
type boundedPages struct {
	slowPages
	first safehttp.Request
}

func (b *boundedPages) Fetch(ctx context.Context, r safehttp.Request) (*safehttp.Response, error) {
	if b.pages == 0 {
		b.first = r
	}
	return b.slowPages.Fetch(ctx, r)
}

// TestBoundsOfDocuments holds the figures of D17.12 and D17.13: 64 MiB over the wire, 256 MiB unpacked, 120 s and 1 000 pages a poll.
func TestBoundsOfDocuments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, err := safehttp.CheckURL("https://slow.example.com/0")
		if err != nil {
			t.Fatal(err)
		}
		endless := &boundedPages{slowPages: slowPages{each: time.Millisecond}}
		_, err = NewSpool(t.TempDir()).Fetch(t.Context(), endless, &Target{URL: u, Bridge: mapdata.Bridge{Format: "ocpi"}})
		var bad *format.Error
		if !errors.As(err, &bad) || bad.Fault != format.BadPages || endless.pages != 1000 {
			t.Errorf("%d pages, then %v", endless.pages, err)
		}
		if r := endless.first; r.MaxWire != 64<<20 || r.MaxBody != 256<<20 || r.Timeout != 120*time.Second {
			t.Errorf("%d bytes as sent, %d unpacked, in %v", r.MaxWire, r.MaxBody, r.Timeout)
		}
	})
}

// TestValidatorsAreBounded checks that a validator of 1 KiB is kept, and a longer one is not.
func TestValidatorsAreBounded(t *testing.T) {
	for bytes, want := range map[int]bool{1024: true, 1025: false, 9000: false} {
		text := strings.Repeat("a", bytes)
		v := validatorOf(&safehttp.Response{Header: http.Header{"Etag": {text}, "Last-Modified": {text}}})
		if (v.ETag != "") != want || (v.LastModified != "") != want {
			t.Errorf("of %d bytes are kept: %d and %d", bytes, len(v.ETag), len(v.LastModified))
		}
	}
}

// linkedPages answers the first request with a link to another page, and notes what is asked.
type linkedPages struct {
	link  string
	asked []string
}

func (l *linkedPages) Fetch(_ context.Context, r safehttp.Request) (*safehttp.Response, error) {
	l.asked = append(l.asked, r.URL.String())
	header := http.Header{}
	if len(l.asked) == 1 {
		header.Set("Link", "<"+l.link+`>; rel="next"`)
	}
	return &safehttp.Response{Status: 200, URL: r.URL, Header: header, Body: io.NopCloser(strings.NewReader(`{"data":[],"status_code":1000}`))}, nil
}

// TestPagesStayAtTheirOrigin checks that a feed's pages may not lead to another origin, which would get the feed's secret header.
func TestPagesStayAtTheirOrigin(t *testing.T) {
	for link, follows := range map[string]bool{
		"/2": true, "https://feeds.example.com/2": true, "https://other.example.com/2": false, "http://feeds.example.com/2": false, "https://feeds.example.com:8443/2": false,
	} {
		u, err := safehttp.CheckURL("https://feeds.example.com/1")
		if err != nil {
			t.Fatal(err)
		}
		web := &linkedPages{link: link}
		got, err := NewSpool(t.TempDir()).Fetch(t.Context(), web, &Target{URL: u, AuthHeader: "Authorization: secret", Bridge: mapdata.Bridge{Format: "ocpi"}})
		var bad *format.Error
		switch {
		case follows && (err != nil || len(web.asked) != 2):
			t.Errorf("%s: asked %q, %v", link, web.asked, err)
		case !follows && (!errors.As(err, &bad) || bad.Fault != format.BadPages || len(web.asked) != 1):
			t.Errorf("%s: asked %q, %v", link, web.asked, err)
		}
		if err == nil {
			if err := got.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
