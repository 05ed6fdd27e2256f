package service

import (
	"context"
	"fmt"
	"time"

	"wayside/internal/run/datadir"
)

// releaseAgain is how long poll waits after a failure before it tries to release the leases again.
const releaseAgain = time.Second

// nameNode reads the prefix of the names under which this node leases feeds. Each process appends a suffix.
func (s *Service) nameNode() error {
	name, err := datadir.NodeName(s.config.DataDir)
	if err != nil {
		return fmt.Errorf("name the node: %w", err)
	}
	s.node = name + "."
	return nil
}

// poll releases the leases of the process that served this data directory before, in case it was killed, and then polls. That
// process has ended, because this one holds the lock of the directory.
func (s *Service) poll(ctx context.Context) error {
	for {
		n, err := s.Store.ReleaseNode(ctx, s.node)
		if err == nil && n > 0 {
			s.log.Info("polls that were cut off are repeated", "feeds", n)
		}
		if err == nil {
			return s.poller.Run(ctx)
		}
		if ctx.Err() == nil {
			s.log.Warn("polls that were cut off cannot be repeated yet", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(releaseAgain):
		}
	}
}
