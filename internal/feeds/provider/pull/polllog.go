package pull

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/mapdata"
)

// linesPerMinute bounds the log lines about feeds that fail: one line when a feed begins to fail, one when it is
// deactivated, one when it is well again. Many feeds fail together where a large host or a network does; further lines
// are only counted.
const linesPerMinute = 60

// pollLog writes these lines. The store counts the failures of a feed, so that any node may poll it.
type pollLog struct {
	log *slog.Logger

	mu      sync.Mutex
	minute  time.Time // when the current minute began
	lines   int       // lines written in it
	omitted int       // lines omitted in it
	ours    bool      // this node's own network was at fault at the last failure
}

// failed logs the consequences of a recorded failure. before is the feed's number of failures until then; ours means
// that this node's own network is at fault, so that the failure does not count (D6.11).
func (l *pollLog) failed(f *mapdata.Feed, failure *trial.Failure, record *mapdata.PollFailed, ours bool, now time.Time) {
	if failure.Connected || ours {
		l.network(ours, now)
	}
	if ours {
		return
	}
	attrs := []slog.Attr{slog.String("feed", f.ID.String()), slog.String("outcome", string(failure.Outcome))}
	if failure.Status != 0 {
		attrs = append(attrs, slog.Int("status", failure.Status))
	}
	if failure.Reason != "" {
		attrs = append(attrs, slog.String("reason", string(failure.Reason)))
	}
	switch {
	case !record.Active:
		attrs = append(attrs, slog.Int("failures", record.Polling.ConsecutiveFailures))
		l.write(now, slog.LevelWarn, "the feed is deactivated: all its last polls failed", attrs...)
	case f.Polling.ConsecutiveFailures == 0:
		l.write(now, slog.LevelWarn, "polls of the feed fail", attrs...)
	}
}

// succeeded logs that a feed which failed before is well again.
func (l *pollLog) succeeded(f *mapdata.Feed, now time.Time) {
	l.network(false, now)
	if n := f.Polling.ConsecutiveFailures; n > 0 {
		l.write(now, slog.LevelInfo, "polls of the feed are well again", slog.String("feed", f.ID.String()), slog.Int("failures", n))
	}
}

// network logs when this node's own network begins to be at fault, and when it no longer is.
func (l *pollLog) network(ours bool, now time.Time) {
	l.mu.Lock()
	changed := l.ours != ours
	l.ours = ours
	l.mu.Unlock()
	switch {
	case !changed:
	case ours:
		l.write(now, slog.LevelWarn, "no poll of this node connects to any host: its own network is at fault, and failures do not count")
	default:
		l.write(now, slog.LevelInfo, "polls of this node connect to hosts again")
	}
}

func (l *pollLog) write(now time.Time, level slog.Level, text string, attrs ...slog.Attr) {
	l.summarize(now)
	l.mu.Lock()
	omit := l.lines >= linesPerMinute
	if omit {
		l.omitted++
	} else {
		l.lines++
	}
	l.mu.Unlock()
	if !omit {
		l.log.LogAttrs(context.Background(), level, text, attrs...)
	}
}

// summarize begins a new minute once the last one is over, and logs how many lines were omitted in that.
func (l *pollLog) summarize(now time.Time) {
	l.mu.Lock()
	if now.Sub(l.minute) < time.Minute {
		l.mu.Unlock()
		return
	}
	omitted := l.omitted
	l.minute, l.lines, l.omitted = now, 0, 0
	l.mu.Unlock()
	if omitted > 0 {
		l.log.Warn("more feeds began to fail or are well again than the log lists; wayside feed list shows them", "lines_omitted", omitted)
	}
}
