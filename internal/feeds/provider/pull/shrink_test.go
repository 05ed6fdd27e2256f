package pull

import (
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/mapdata"
)

// TestOneMailForAFeedThatShrinksAgainAndAgain checks D6.9 for a feed whose snapshots alternate between three rows and
// one.
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
				record := succeeded(&job{feed: *f}, &incoming{documents: &trial.Documents{Size: int64(len(text))}, began: at, fetched: at}, &r, &trial.Reading{})
				if want := n == 1; record.Polling.Shrank != want {
					t.Errorf("%d rows at %v: shrank %v", n, at, record.Polling.Shrank)
				}
				return record, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		all, err := w.db.DueEmails(t.Context(), at, at.Add(time.Second), 10)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			if all[i].Kind != mapdata.EmailShrank || all[i].Data["rows"] != "1" || all[i].Data["rows_before"] != "3" {
				t.Errorf("e-mail %+v", all[i])
			}
			if err := w.db.EmailSent(t.Context(), all[i].ID); err != nil {
				t.Fatal(err)
			}
		}
		mails += len(all)
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
