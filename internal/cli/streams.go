package cli

import (
	"time"

	"wayside/internal/stream"
)

// newStreams makes the hub of streams. What wakes them is wired where it happens: the follower and the live incidents tell.
func (s *server) newStreams(now func() time.Time) *stream.Hub {
	c := stream.Config{Now: now}
	if s.live != nil {
		c.Locate = s.live.relay.Find
	}
	return stream.New(c)
}
