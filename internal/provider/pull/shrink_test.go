package pull

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"wayside/internal/ingest"
	"wayside/internal/mapdata"
)

// TestOneMailForAFeedThatShrinksAgainAndAgain holds D6.9 for a feed whose snapshots have three rows and one by turns.
func TestOneMailForAFeedThatShrinksAgainAndAgain(t *testing.T) {
	w := newTestService(t)
	p := w.poller(nil)
	id := w.register("https://a.example.com/feed.json")
	f := w.feed(id)
	start := time.Now().UTC().Truncate(time.Millisecond)
	mails := 0
	poll := func(n int, at time.Time) {
		t.Helper()
		var rows []string
		for i := range n {
			rows = append(rows, strings.Replace(goodRow, `"a"`, fmt.Sprintf("\"a%d\"", i), 1))
		}
		text := "[" + strings.Join(rows, ",") + "]"
		hash := sha256.Sum256([]byte(text))
		_, err := p.Ingest.Snapshot(t.Context(), id, ingest.Snapshot{
			Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }, Hash: hash[:], At: at,
			Finish: func(r ingest.Result) (ingest.Record, error) {
				record, err := p.succeeded(t.Context(), f, &r, int64(len(text)), at, at)
				if want := n == 1; record.Polling.Shrank != want {
					t.Errorf("%d rows at %v: shrank %v", n, at, record.Polling.Shrank)
				}
				mails += len(record.Emails)
				return record, err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		poll(3-2*(i%2), start.Add(time.Duration(i)*time.Minute))
	}
	if mails != 1 {
		t.Errorf("%d e-mails in 20 polls, want one", mails)
	}
	poll(3, start.Add(24*time.Hour))
	poll(1, start.Add(24*time.Hour+19*time.Minute)) // a day after the last time, which was at 19 minutes
	if mails != 2 {
		t.Errorf("%d e-mails after a day without shrinking, want a second one", mails)
	}
}

func TestAnyShrank(t *testing.T) {
	good := func(rows int) mapdata.Attempt { return mapdata.Attempt{OK: true, Rows: rows} }
	failed := mapdata.Attempt{}
	tests := []struct {
		name     string
		timeline []mapdata.Attempt // newest first
		want     bool
	}{
		{"no polls", nil, false},
		{"one poll", []mapdata.Attempt{good(1)}, false},
		{"growing", []mapdata.Attempt{good(10), good(1)}, false},
		{"exactly half", []mapdata.Attempt{good(5), good(10)}, false},
		{"fewer than half", []mapdata.Attempt{good(4), good(10)}, true},
		{"and grown again", []mapdata.Attempt{good(10), good(4), good(10)}, true},
		{"across a failure", []mapdata.Attempt{good(4), failed, good(10)}, true},
		{"failures only", []mapdata.Attempt{failed, good(10), failed}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := anyShrank(tt.timeline); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}
