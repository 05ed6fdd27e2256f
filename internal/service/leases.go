package service

import (
	"context"
	"fmt"
	"time"

	"wayside/internal/datadir"
)

// releaseAgain is how long after a failure leases are given back once more.
const releaseAgain = time.Second

// nameNode finds the name that begins those by which this node leases feeds. Each process adds one of its own.
func (s *Service) nameNode() error {
	name, err := datadir.NodeName(s.config.DataDir)
	if err != nil {
		return fmt.Errorf("name the node: %w", err)
	}
	s.node = name + "."
	return nil
}

// poll gives back the leases of the process that served this data directory before, if it was killed, and polls. The lock of the
// directory says that it has ended.
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
