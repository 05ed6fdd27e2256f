package pull

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
)

// loggingTo returns an option that writes the log, without times, to a buffer.
func loggingTo(log *bytes.Buffer) func(*Options) {
	return func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	}
}

// TestLogOfFailingFeed checks that a feed that fails, recovers and is deactivated has a log line at each change, and
// none in between.
func TestLogOfFailingFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(t)
		var broken atomic.Bool
		w := &web{answer: func(context.Context, safehttp.Request) (string, error) {
			if broken.Load() {
				return "", &safehttp.Error{Outcome: mapdata.OutcomeHTTPStatus, Status: 503, Advice: "Mend it.", Connected: true}
			}
			return "[]", nil
		}}
		var log bytes.Buffer
		stop := run(t, m.poller(w, loggingTo(&log)))
		id := m.add("a.example.org", 30*time.Second).String()
		time.Sleep(5 * time.Minute)
		broken.Store(true)
		time.Sleep(3 * time.Minute)
		broken.Store(false)
		time.Sleep(time.Hour)
		broken.Store(true)
		time.Sleep(48 * time.Hour)
		stop()
		want := []string{
			`level=WARN msg="polls of the feed fail" feed=` + id + " outcome=http_status status=503",
			`level=INFO msg="polls of the feed are well again" feed=` + id + " failures=",
			`level=WARN msg="polls of the feed fail" feed=` + id + " outcome=http_status status=503",
			`level=WARN msg="the feed is deactivated: all its last polls failed" feed=` + id + " outcome=http_status status=503 failures=20",
		}
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != len(want) {
			t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want), log.String())
		}
		for i := range want {
			if !strings.HasPrefix(lines[i], want[i]) {
				t.Errorf("line %d: %s\nwant %s", i, lines[i], want[i])
			}
		}
	})
}

// TestLogOfManyFailingFeeds checks that simultaneous failures are counted, not listed, beyond some lines a minute.
func TestLogOfManyFailingFeeds(t *testing.T) {
	for _, connected := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m, w := newMemory(t), failing(mapdata.OutcomeConnectionError, connected)
			var log bytes.Buffer
			stop := run(t, m.poller(w, loggingTo(&log)))
			for i := range 500 {
				m.add(fmt.Sprintf("h%d.example.org", i%10), 30*time.Second)
			}
			time.Sleep(20 * time.Minute)
			stop()
			failed := strings.Count(log.String(), "polls of the feed fail")
			if connected && (failed != linesPerMinute || !strings.Contains(log.String(), fmt.Sprintf("lines_omitted=%d", 500-linesPerMinute))) {
				t.Errorf("%d lines:\n%s", failed, log.String())
			}
			// Before the fifth failure nothing indicates that the node's own network is at fault.
			if !connected && (failed > networkFeeds || strings.Count(log.String(), "its own network is at fault") != 1) {
				t.Errorf("%d lines:\n%s", failed, log.String())
			}
		})
	}
}
