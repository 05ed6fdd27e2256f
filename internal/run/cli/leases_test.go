package cli

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestAKilledPollIsRepeated kills the service in the middle of a poll, whose lease lasts three minutes, starts it again, and checks
// that the feed is polled immediately.
func TestAKilledPollIsRepeated(t *testing.T) {
	t.Parallel()
	p := startPublisher(t)
	s := startService(t, unlimited+p.egress)
	s.signIn("owner@example.org").follow(t, map[string]any{"format": "ocpi", "pull_url": p.base + "/1?wrong=hangs"})
	<-p.hangs
	s.kill()
	before := time.Now()
	s.start(nil)
	select {
	case <-p.hangs:
		t.Logf("polled again %v after the kill", time.Since(before).Round(time.Millisecond))
	case <-time.After(90 * time.Second): // the lease lasts longer
		t.Fatalf("not polled again\n%s", s.log)
	}
	if !strings.Contains(s.log.String(), "polls that were cut off are repeated") {
		t.Errorf("the log does not say so\n%s", s.log)
	}
}

// TestReloadTakesReports turns drivers' reports off and on, and requires two accounts for them, while the service runs.
func TestReloadTakesReports(t *testing.T) {
	t.Parallel()
	const drivers = "\n[drivers]\ntrust_after = \"0s\"\n"
	s := startService(t, unlimited+drivers)
	ann, guest := s.signIn("ann@example.org"), &client{s: s}
	police := ann.report(t, "alert.police", http.StatusCreated)
	guest.readsOnly("reported", police)
	s.configure(unlimited + drivers + "enabled = false\n")
	s.logged(reloadedLine, 1)
	guest.readsOnly("no such source")
	if status, _, _ := ann.saw("alert.accident"); status != http.StatusNotFound {
		t.Errorf("reports are off: %d", status)
	}
	s.configure(unlimited + drivers + "show = \"confirmed\"\n")
	s.logged(reloadedLine, 2)
	guest.readsOnly("reports are on again", police)
	crash := ann.report(t, "alert.accident", http.StatusCreated)
	guest.readsOnly("two accounts are needed", police)
	s.signIn("bob@example.org").report(t, "alert.accident", http.StatusOK)
	guest.readsOnly("two reported it", police, crash)
	if log := s.log.String(); strings.Contains(log, "need a restart") {
		t.Errorf("the log asks for a restart\n%s", log)
	}
}
