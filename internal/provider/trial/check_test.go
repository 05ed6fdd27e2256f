package trial

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"wayside/internal/mapdata"
	"wayside/internal/safehttp"
)

const goodRow = `{"external_id":"a","kind":"alert.construction","lat":52.37,"lng":4.9,"properties":{}}`

// fakeFetcher gives what it is told, when that is there.
type fakeFetcher func() string

func (f fakeFetcher) Fetch(context.Context, safehttp.Request) (*safehttp.Response, error) {
	return &safehttp.Response{Status: 200, Body: io.NopCloser(strings.NewReader(f()))}, nil
}

func newChecker(t *testing.T, answer func() string) *Checker {
	t.Helper()
	return NewChecker(fakeFetcher(answer), t.TempDir(), time.Now)
}

func TestCheckRefusesWhatRegistrationRefuses(t *testing.T) {
	_, err := newChecker(t, nil).URL(t.Context(), "http://10.0.0.1/x", "Host: a")
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
		result, err := c.Text([]byte(text))
		if err != nil || result.Outcome != want || (result.Checked != nil) != (want == mapdata.OutcomeOK) || (result.Advice == "") != (want == mapdata.OutcomeOK) {
			t.Errorf("%q: %+v, %v; want %s", text, result, err, want)
		}
	}
}

func TestFewChecksRunSideBySide(t *testing.T) {
	arrived, leave := make(chan struct{}, 10), make(chan struct{})
	c := newChecker(t, func() string {
		arrived <- struct{}{}
		<-leave
		return "[]"
	})
	const url = "https://slow.example.com/feed.json"
	done := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := c.URL(t.Context(), url, "")
			done <- err
		}()
		<-arrived
	}
	if _, err := c.Text([]byte("[]")); !errors.Is(err, mapdata.ErrUnavailable) {
		t.Errorf("one check too many: %v", err)
	}
	close(leave)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if _, err := c.Text([]byte("[]")); err != nil {
		t.Errorf("after the others: %v", err)
	}
}
