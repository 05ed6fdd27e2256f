package people

import (
	"net/http"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// wantStreamEnd waits until a stream has ended cleanly, and logs how long that took.
func wantStreamEnd(t *testing.T, what string, watch *testenv.Stopwatch, whole <-chan bool) {
	t.Helper()
	select {
	case ok := <-whole:
		took := watch.Took()
		t.Logf("%s: the stream ended after %v", what, took)
		if !ok || took > 3*time.Second { // the promise is one second; a busy machine takes longer
			t.Errorf("%s: the stream ended after %v, cleanly %v", what, took, ok)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%s: the stream does not end", what)
	}
}

// TestStreamsEndByCommand checks that the streams of an account end when another process changes its role, which the service learns
// from the log of changes (D11.10).
func TestStreamsEndByCommand(t *testing.T) {
	t.Parallel()
	s := systemtest.StartService(t, "")
	driver := s.SignIn("driver@example.org")
	events, whole := s.ListenAs(driver.Cookie)
	systemtest.WaitFor(t, events, "snapshot", "")
	guestEvents, guest := s.ListenTo()
	systemtest.WaitFor(t, guestEvents, "snapshot", "")
	s.CLI("account", "role", "--email", "driver@example.org", "curator")
	wantStreamEnd(t, "role", s.Watch(), whole)
	select {
	case <-guest:
		t.Error("a guest's stream ended too")
	default:
	}
}

// TestStreamsEndOnEveryNode checks that a stream ends on a node when its session ends on another one.
func TestStreamsEndOnEveryNode(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers and the real binary")
	}
	nodes, _ := systemtest.StartNodes(t, 2, "", servers.Postgres(t).Database(t))
	driver := nodes[0].SignIn("driver@example.org")
	events, whole := nodes[1].ListenAs(driver.Cookie)
	systemtest.WaitFor(t, events, "snapshot", "")
	watch := systemtest.Stopwatch(nodes)
	if resp, body := driver.Do(http.MethodPost, "/v2/auth/sign-out", nil); resp.StatusCode != http.StatusNoContent {
		t.Fatalf("sign out: %d %s", resp.StatusCode, body)
	}
	wantStreamEnd(t, "sign-out", watch, whole)
}
