package service

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// recorder records events, from many goroutines.
type recorder struct {
	mu    sync.Mutex
	lines []string
}

func (d *recorder) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

// slow returns a job that takes a second to stop.
func (d *recorder) slow(name string) Job {
	return Job{name, func(ctx context.Context) error {
		<-ctx.Done()
		d.note(name + " told")
		time.Sleep(time.Second)
		d.note(name + " ended")
		return nil
	}}
}

func TestJobsStopInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d recorder
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := RunJobs(ctx, slog.New(slog.DiscardHandler), []Job{d.slow("a"), d.slow("b"), d.slow("c")}); err != nil {
			t.Error(err)
		}
		want := []string{"a told", "a ended", "b told", "b ended", "c told", "c ended"}
		if diff := cmp.Diff(want, d.lines); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFailureStopsAllJobs(t *testing.T) {
	tests := []struct {
		name string
		run  func(context.Context) error
		want string
	}{
		{"an error", func(context.Context) error { return errors.New("broken") }, "b: broken"},
		{"a return before the end", func(context.Context) error { return nil }, "b ended by itself"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var d recorder
				err := RunJobs(t.Context(), slog.New(slog.DiscardHandler), []Job{d.slow("a"), {"b", tt.run}, d.slow("c")})
				if err == nil || err.Error() != tt.want {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				if got := strings.Join(d.lines, ", "); got != "a told, a ended, c told, c ended" {
					t.Error(got)
				}
			})
		})
	}
}

func TestFailureWhileStoppingIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := RunJobs(ctx, slog.New(slog.DiscardHandler), []Job{{"a", func(ctx context.Context) error {
			<-ctx.Done()
			return errors.New("cannot close")
		}}})
		if err == nil || err.Error() != "a: cannot close" {
			t.Errorf("got %v", err)
		}
	})
}
