package cli

import (
	"time"

	"wayside/internal/stream"
)

// newStreams makes the hub of streams. The follower and the live incidents wake them by the signal Moved.
func (s *server) newStreams(now func() time.Time) *stream.Hub {
	c := stream.Config{Now: now, Moved: s.signals.Moved}
	if s.live != nil {
		c.Locate = s.live.relay.Find
	}
	return stream.New(c)
}
