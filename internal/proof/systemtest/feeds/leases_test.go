package feeds

import (
	"strings"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
)

// TestAKilledPollIsRepeated kills the service in the middle of a poll, whose lease lasts three minutes, starts it again, and checks
// that the feed is polled immediately.
func TestAKilledPollIsRepeated(t *testing.T) {
	t.Parallel()
	p := startPublisher(t)
	s := systemtest.StartService(t, systemtest.Unlimited+p.egress)
	follow(t, s.SignIn("owner@example.org"), map[string]any{"format": "ocpi", "pull_url": p.base + "/1?wrong=hangs"})
	<-p.hangs
	s.Kill()
	before := time.Now()
	s.Start(nil)
	select {
	case <-p.hangs:
		t.Logf("polled again %v after the kill", time.Since(before).Round(time.Millisecond))
	case <-time.After(90 * time.Second): // the lease lasts longer
		t.Fatalf("not polled again\n%s", s.Log)
	}
	if !strings.Contains(s.Log.String(), "polls that were cut off are repeated") {
		t.Errorf("the log does not say so\n%s", s.Log)
	}
}
