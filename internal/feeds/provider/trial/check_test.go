package trial

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
)

const goodRow = `{"external_id":"a","kind":"alert.construction","lat":52.37,"lng":4.9,"properties":{}}`

// fakeFetcher returns a body once its function returns the text.
type fakeFetcher func() string

func (f fakeFetcher) Fetch(context.Context, safehttp.Request) (*safehttp.Response, error) {
	return &safehttp.Response{Status: 200, Body: io.NopCloser(strings.NewReader(f()))}, nil
}

func newChecker(t *testing.T, answer func() string) *Checker {
	t.Helper()
	return NewChecker(fakeFetcher(answer), t.TempDir(), time.Now)
}

func TestCheckRefusesWhatRegistrationRefuses(t *testing.T) {
	_, err := newChecker(t, nil).URL(t.Context(), mapdata.AccountID{}, "http://10.0.0.1/x", "Host: a")
	var invalid *mapdata.InvalidError
	if !errors.As(err, &invalid) || len(invalid.Fields) != 2 || invalid.Fields[0].Field != "pull_url" || invalid.Fields[1].Field != "pull_auth_header" {
		t.Errorf("%v", err)
	}
}

func TestCheckedTextIsJudgedAsABody(t *testing.T) {
	c := newChecker(t, nil)
	for text, want := range map[string]mapdata.Outcome{
		"[" + goodRow + "]": mapdata.OutcomeOK, `{}`: mapdata.OutcomeNotAnArray, `[`: mapdata.OutcomeParseError, ``: mapdata.OutcomeParseError,
	} {
		result, err := c.Text(t.Context(), mapdata.AccountID{}, []byte(text), mapdata.Bridge{})
		if err != nil || result.Outcome != want || (result.Checked != nil) != (want == mapdata.OutcomeOK) || (result.Advice == "") != (want == mapdata.OutcomeOK) {
			t.Errorf("%q: %+v, %v; want %s", text, result, err, want)
		}
	}
}

// TestChecksTakeTheirShare checks that an account has one check at a time, that 16 fetches run in all, and that texts
// wait for none of them (F10).
func TestChecksTakeTheirShare(t *testing.T) {
	arrived, leave := make(chan struct{}, 20), make(chan struct{})
	c := newChecker(t, func() string {
		arrived <- struct{}{}
		<-leave
		return "[]"
	})
	const url = "https://slow.example.com/feed.json"
	const fetches = 16
	done := make(chan error, fetches)
	check := func(caller byte) error {
		_, err := c.URL(t.Context(), mapdata.AccountID{caller}, url, "")
		return err
	}
	text := func(caller byte) error {
		_, err := c.Text(t.Context(), mapdata.AccountID{caller}, []byte("[]"), mapdata.Bridge{})
		return err
	}
	reason := func(err error) mapdata.Reason {
		var described *mapdata.Described
		if !errors.Is(err, mapdata.ErrUnavailable) || !errors.As(err, &described) {
			t.Errorf("error %v", err)
			return ""
		}
		return described.Reason
	}
	for caller := range byte(fetches) {
		go func() { done <- check(caller) }()
		<-arrived
		if caller == 0 {
			if got := reason(check(0)); got != "check_running" {
				t.Errorf("a second check of an account: %s", got)
			}
			if got := reason(text(0)); got != "check_running" {
				t.Errorf("a text beside it: %s", got)
			}
		}
		if err := text(100); err != nil {
			t.Errorf("another account's text: %v", err)
		}
	}
	beyond := make(chan error, 1)
	go func() { beyond <- check(100) }()
	select {
	case err := <-beyond:
		if got := reason(err); got != "checks_busy" {
			t.Errorf("one check too many: %s", got)
		}
	case <-arrived:
		t.Error("a seventeenth fetch runs")
	}
	close(leave)
	for range fetches {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(check(0), text(0)); err != nil {
		t.Errorf("after the others: %v", err)
	}
}

// TestTextsTakeTheirShare checks that at most four texts wait or are judged, two of them at a time and one if they are
// large, and that a waiting check ends when its caller goes away.
func TestTextsTakeTheirShare(t *testing.T) {
	c := newChecker(t, nil)
	if most := cap(c.large); most != 1 {
		t.Errorf("%d large texts are judged at a time", most)
	}
	if maxJudged != 2 {
		t.Fatalf("%d texts are judged at a time on a large machine", maxJudged)
	}
	c.judged = make(chan struct{}, maxJudged) // as on a machine of three processors
	small, err := c.turn(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	large, err := c.turn(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, size := range []bool{false, true} {
		if _, err := c.turn(gone, size); !errors.Is(err, context.Canceled) {
			t.Errorf("a third document, large %v: %v", size, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error, 4)
	for caller := range byte(4) {
		go func() {
			_, err := c.Text(ctx, mapdata.AccountID{caller}, []byte("[]"), mapdata.Bridge{})
			waiting <- err
		}()
	}
	for len(c.texts) < 4 { // each takes its place before it waits
		runtime.Gosched()
	}
	var described *mapdata.Described
	if _, err := c.Text(gone, mapdata.AccountID{9}, []byte("[]"), mapdata.Bridge{}); !errors.As(err, &described) || described.Reason != "checks_busy" {
		t.Errorf("the fifth: %v", err)
	}
	cancel()
	for range 4 {
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("one that waits: %v", err)
		}
	}
	small()
	if again, err := c.turn(t.Context(), false); err != nil {
		t.Error(err)
	} else {
		again()
	}
	if _, err := c.turn(gone, true); err == nil {
		t.Error("two large documents are judged")
	}
	large()
	if _, err := c.Text(t.Context(), mapdata.AccountID{1}, []byte("[]"), mapdata.Bridge{}); err != nil {
		t.Error(err)
	}
}
