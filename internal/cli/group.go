package cli

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
)

// job is something that runs for as long as the service does.
type job struct {
	name string
	run  func(ctx context.Context) error // blocks until ctx ends; an error before that ends the service
}

// runGroup runs all jobs until ctx ends or one of them fails, and then stops them one after the other, in the order in
// which they are listed: each is waited for before the next is told. It returns the first failure.
func runGroup(ctx context.Context, log *slog.Logger, jobs []job) error {
	var (
		failed  = make(chan error, len(jobs))
		stops   = make([]context.CancelFunc, len(jobs))
		endings = make([]sync.WaitGroup, len(jobs))
	)
	for i, j := range jobs {
		// Stopping is ordered, so a job's context must not end with ctx by itself.
		jobCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
		stops[i] = stop
		endings[i].Go(func() {
			err := j.run(jobCtx)
			switch {
			case err != nil:
				failed <- fmt.Errorf("%s: %w", j.name, err)
			case jobCtx.Err() == nil:
				failed <- fmt.Errorf("%s ended by itself", j.name)
			}
		})
	}
	var first error
	select {
	case <-ctx.Done():
		log.Info("stopping")
	case first = <-failed:
		log.Error("stopping because of a failure", "error", first)
	}
	for i, j := range jobs {
		stops[i]()
		endings[i].Wait()
		log.Debug("stopped", "job", j.name)
	}
	close(failed)
	for err := range failed {
		if first == nil {
			first = err
		}
	}
	return first
}
