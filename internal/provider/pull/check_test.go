package pull

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/mapdata"
	"wayside/internal/safehttp"
)

func (w *town) checker() *Checker {
	w.t.Helper()
	client, err := safehttp.New(safehttp.Options{UserAgent: "wayside/test", Hosts: w.hosts, RootCAs: w.roots, Timeout: soon, MaxBody: 1 << 20})
	if err != nil {
		w.t.Fatal(err)
	}
	return NewChecker(client, w.t.TempDir(), time.Now)
}

// TestCheckSaysWhatAPollWould tries the same answers by both ways.
func TestCheckSaysWhatAPollWould(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"good":      says("[" + goodRow + `,{"external_id":"b","kind":"camera.sped","lat":1,"lng":2,"properties":{}},7]`),
		"large":     says("[" + strings.Repeat(" ", 100_000) + goodRow + "]"),
		"object":    says(`{"entities":[` + goodRow + `]}`),
		"broken":    says(`[` + goodRow),
		"too large": says("[" + strings.Repeat(" ", 2<<20) + "]"),
		"missing":   http.NotFound,
		"away": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://example.com/", http.StatusFound)
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			url := w.provider("a", answer)
			id := w.register(url)
			trial, err := w.checker().URL(t.Context(), url, "")
			if err != nil {
				t.Fatal(err)
			}
			stop := run(t, w.poller(nil))
			<-w.polls
			stop()
			f := w.feed(id)
			if trial.Outcome != f.Polling.LastOutcome || trial.Advice != f.Polling.LastError {
				t.Errorf("the check says %s, %q; the poll %s, %q", trial.Outcome, trial.Advice, f.Polling.LastOutcome, f.Polling.LastError)
			}
			attempts, err := w.db.Timeline(t.Context(), id, time.Time{}, 1)
			if err != nil || len(attempts) != 1 {
				t.Fatalf("timeline: %v, %v", attempts, err)
			}
			a := attempts[0]
			if a.Outcome != trial.Outcome || a.Status != trial.Status || a.Reason != trial.Reason || a.Bytes != trial.Bytes {
				t.Errorf("the check says %+v, the timeline %+v", trial, a)
			}
			if trial.Checked == nil {
				return
			}
			if trial.Checked.Report.Accepted != a.Accepted() || trial.Checked.Report.Rejected != a.Rejected {
				t.Errorf("the check says %+v, the timeline %+v", trial.Checked.Report, a)
			}
			rejections, err := w.db.Rejections(t.Context(), id, time.Time{})
			for i := range rejections {
				rejections[i].At = time.Time{}
			}
			if diff := cmp.Diff(trial.Checked.Rejections, rejections); err != nil || diff != "" {
				t.Errorf("rejections (-check +poll): %s (%v)", diff, err)
			}
		})
	}
}

func TestCheckRefusesWhatRegistrationRefuses(t *testing.T) {
	w := newTown(t)
	_, err := w.checker().URL(t.Context(), "http://10.0.0.1/x", "Host: a")
	var invalid *mapdata.InvalidError
	if !errors.As(err, &invalid) || len(invalid.Fields) != 2 || invalid.Fields[0].Field != "pull_url" || invalid.Fields[1].Field != "pull_auth_header" {
		t.Errorf("%v", err)
	}
}

func TestCheckedTextIsJudgedAsABody(t *testing.T) {
	c := newTown(t).checker()
	for text, want := range map[string]mapdata.Outcome{
		"[" + goodRow + "]": mapdata.OutcomeOK, `{}`: mapdata.OutcomeNotAnArray, `[`: mapdata.OutcomeParseError, ``: mapdata.OutcomeParseError,
	} {
		trial, err := c.Text([]byte(text))
		if err != nil || trial.Outcome != want || (trial.Checked != nil) != (want == mapdata.OutcomeOK) || (trial.Advice == "") != (want == mapdata.OutcomeOK) {
			t.Errorf("%q: %+v, %v; want %s", text, trial, err, want)
		}
	}
}

func TestFewChecksRunSideBySide(t *testing.T) {
	w := newTown(t)
	arrived, leave := make(chan struct{}, 10), make(chan struct{})
	url := w.provider("slow", func(rw http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-leave
		_, _ = rw.Write([]byte("[]"))
	})
	c := w.checker()
	done := make(chan error, checksAtOnce)
	for range checksAtOnce {
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
	for range checksAtOnce {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if _, err := c.Text([]byte("[]")); err != nil {
		t.Errorf("after the others: %v", err)
	}
}
