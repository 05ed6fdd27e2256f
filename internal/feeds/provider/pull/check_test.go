package pull

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
)

func (w *testService) checker() *trial.Checker {
	w.t.Helper()
	client, err := safehttp.New(safehttp.Options{UserAgent: "wayside/test", Hosts: w.hosts, RootCAs: w.roots, Timeout: fetchTimeout, MaxBody: 1 << 20})
	if err != nil {
		w.t.Fatal(err)
	}
	return trial.NewChecker(client, w.t.TempDir(), time.Now)
}

// TestCheckAgreesWithPoll compares the results of a check and of a poll for the same answers.
func TestCheckAgreesWithPoll(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"good":      respond("[" + goodRow + `,{"external_id":"b","kind":"camera.sped","lat":1,"lng":2,"properties":{}},7]`),
		"large":     respond("[" + strings.Repeat(" ", 100_000) + goodRow + "]"),
		"object":    respond(`{"entities":[` + goodRow + `]}`),
		"broken":    respond(`[` + goodRow),
		"too large": respond("[" + strings.Repeat(" ", 2<<20) + "]"),
		"missing":   http.NotFound,
		"away": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://example.com/", http.StatusFound)
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			w := newTestService(t)
			url := w.provider("a", answer)
			id := w.register(url)
			tried, err := w.checker().URL(t.Context(), mapdata.AccountID{}, url, "")
			if err != nil {
				t.Fatal(err)
			}
			stop := run(t, w.poller(nil))
			<-w.polls
			stop()
			f := w.feed(id)
			if tried.Outcome != f.Polling.LastOutcome || tried.Advice != f.Polling.LastError {
				t.Errorf("the check says %s, %q; the poll %s, %q", tried.Outcome, tried.Advice, f.Polling.LastOutcome, f.Polling.LastError)
			}
			attempts, err := w.db.Timeline(t.Context(), id, time.Time{}, 1)
			if err != nil || len(attempts) != 1 {
				t.Fatalf("timeline: %v, %v", attempts, err)
			}
			a := attempts[0]
			if a.Outcome != tried.Outcome || a.Status != tried.Status || a.Reason != tried.Reason || a.Bytes != tried.Bytes {
				t.Errorf("the check says %+v, the timeline %+v", tried, a)
			}
			if tried.Checked == nil {
				return
			}
			if tried.Checked.Report.Accepted != a.Accepted() || tried.Checked.Report.Rejected != a.Rejected {
				t.Errorf("the check says %+v, the timeline %+v", tried.Checked.Report, a)
			}
			rejections, err := w.db.Rejections(t.Context(), id, time.Time{})
			for i := range rejections {
				rejections[i].At = time.Time{}
			}
			if diff := cmp.Diff(tried.Checked.Rejections, rejections); err != nil || diff != "" {
				t.Errorf("rejections (-check +poll): %s (%v)", diff, err)
			}
		})
	}
}
