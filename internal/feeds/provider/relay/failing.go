package relay

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
)

// quietTime is how long after an upstream has recovered the log has no further line about its failures. It bounds the
// log where calls fail intermittently: two lines a minute for each upstream.
const quietTime = time.Minute

// condition tracks whether an upstream fails, for the log: one line when it begins to fail, one when it is well again.
type condition struct {
	mu         sync.Mutex
	since      time.Time // of the first failure; zero: the upstream is well
	failures   int
	logged     bool // the log has a line about the failure
	quietUntil time.Time
}

// ended describes a logged period of failures that is over.
type ended struct {
	after    time.Duration
	failures int
}

// note records a call. began is true if the log must now have a line that the upstream fails; over is not nil if the
// log must have a line that it is well again.
func (c *condition) note(now time.Time, ok bool) (began bool, over *ended) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ok {
		if c.logged {
			over = &ended{now.Sub(c.since), c.failures}
			c.quietUntil = now.Add(quietTime)
		}
		c.since, c.failures, c.logged = time.Time{}, 0, false
		return false, over
	}
	if c.failures == 0 {
		c.since = now
	}
	c.failures++
	began = !c.logged && !now.Before(c.quietUntil)
	c.logged = c.logged || began
	return began, nil
}

// report logs the consequence of a call. Only the node that made the call logs it, so that of several nodes one does.
func (s *Service) report(ctx context.Context, u *upstream, now time.Time, outcome mapdata.Outcome, err error) {
	began, over := u.condition.note(now, outcome == mapdata.OutcomeOK)
	switch {
	case began:
		s.Log.LogAttrs(ctx, slog.LevelWarn, failureText(err), append([]slog.Attr{slog.String("upstream", u.Name)}, failureOf(outcome, err)...)...)
	case over != nil:
		s.Log.Info("the upstream is well again", "upstream", u.Name, "failed_for", over.after.Round(time.Second).String(), "failures", over.failures)
	}
}

func failureText(err error) string {
	if refused(err) {
		return "the upstream fails: it refuses the secret, and is called again in five minutes"
	}
	return "the upstream fails"
}

// failureOf describes a failed call without any text of the upstream.
func failureOf(outcome mapdata.Outcome, err error) []slog.Attr {
	attrs := []slog.Attr{slog.String("outcome", string(outcome))}
	var failed *safehttp.Error
	if !errors.As(err, &failed) {
		return attrs
	}
	if failed.Status != 0 {
		attrs = append(attrs, slog.Int("status", failed.Status))
	}
	if failed.Reason != "" {
		attrs = append(attrs, slog.String("reason", string(failed.Reason)))
	}
	return attrs
}
