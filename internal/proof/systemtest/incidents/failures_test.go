package incidents

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"wayside/internal/proof/systemtest"
)

// TestLogOfFailingUpstream breaks an upstream and repairs it under reads, and checks that the log has one line for each.
func TestLogOfFailingUpstream(t *testing.T) {
	t.Parallel()
	var code, calls atomic.Int32
	code.Store(http.StatusOK)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(int(code.Load()))
		_, _ = io.WriteString(w, `{"entities":[`+systemtest.Incident("a", "alert.police", 0, "")+`]}`)
	}))
	t.Cleanup(server.Close)
	s := systemtest.StartService(t, systemtest.Unlimited+systemtest.UpstreamTable("city", server.URL, "s3cret-of-city", "incidents"))
	guest := &systemtest.Client{Service: s}
	radius := 1000
	read := func(n int) { // each radius has a separate window key, for which the upstream is called
		t.Helper()
		before := calls.Load()
		systemtest.Eventually(t, "the upstream is called", func() bool {
			radius += 150
			if radius > 40_000 {
				radius = 1000
			}
			guest.Look(radius)
			return calls.Load() >= before+int32(n)
		})
	}
	count := func(text string) int { return strings.Count(s.Log.String(), text) }
	read(5)
	if count("the upstream")+count(`"upstream":`) != 0 {
		t.Errorf("an upstream that is well is in the log:\n%s", s.Log)
	}
	code.Store(http.StatusServiceUnavailable)
	read(10)
	systemtest.Eventually(t, "the failure is in the log", func() bool { return count(`"msg":"the upstream fails"`) == 1 })
	code.Store(http.StatusOK)
	read(10)
	systemtest.Eventually(t, "the recovery is in the log", func() bool { return count(`"msg":"the upstream is well again"`) == 1 })
	if n := count(`"upstream":"city"`); n != 2 {
		t.Errorf("%d lines about the upstream:\n%s", n, s.Log)
	}
	if !strings.Contains(s.Log.String(), `"outcome":"http_status","status":503`) || strings.Contains(s.Log.String(), "s3cret") {
		t.Errorf("the log does not say what failed, or contains a secret:\n%s", s.Log)
	}
}
