package service

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
)

// Job is something that runs as long as the service does.
type Job struct {
	Name string
	Run  func(ctx context.Context) error // blocks until ctx ends; returning before that ends the service
}

// RunJobs runs all jobs until ctx ends or one of them fails, and then stops them in their order: it waits for each before it stops
// the next. It returns the first failure.
func RunJobs(ctx context.Context, log *slog.Logger, jobs []Job) error {
	var (
		failed  = make(chan error, len(jobs))
		stops   = make([]context.CancelFunc, len(jobs))
		endings = make([]sync.WaitGroup, len(jobs))
	)
	for i, j := range jobs {
		// Jobs are stopped in order, so a job's context must not end together with ctx.
		jobCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
		stops[i] = stop
		endings[i].Go(func() {
			err := j.Run(jobCtx)
			switch {
			case err != nil:
				failed <- fmt.Errorf("%s: %w", j.Name, err)
			case jobCtx.Err() == nil:
				failed <- fmt.Errorf("%s ended by itself", j.Name)
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
		log.Debug("stopped", "job", j.Name)
	}
	close(failed)
	for err := range failed {
		if first == nil {
			first = err
		}
	}
	return first
}
