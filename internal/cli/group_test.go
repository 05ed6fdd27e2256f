package cli

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

// diary notes what happens, from many goroutines.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) note(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

// slow is a job that takes a second to stop.
func (d *diary) slow(name string) job {
	return job{name, func(ctx context.Context) error {
		<-ctx.Done()
		d.note(name + " told")
		time.Sleep(time.Second)
		d.note(name + " ended")
		return nil
	}}
}

func TestJobsStopInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d diary
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := runGroup(ctx, slog.New(slog.DiscardHandler), []job{d.slow("a"), d.slow("b"), d.slow("c")}); err != nil {
			t.Error(err)
		}
		want := []string{"a told", "a ended", "b told", "b ended", "c told", "c ended"}
		if diff := cmp.Diff(want, d.lines); diff != "" {
			t.Error(diff)
		}
	})
}

func TestAFailureStopsAll(t *testing.T) {
	tests := []struct {
		name string
		run  func(context.Context) error
		want string
	}{
		{"an error", func(context.Context) error { return errors.New("broken") }, "b: broken"},
		{"an end that nobody asked for", func(context.Context) error { return nil }, "b ended by itself"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var d diary
				err := runGroup(t.Context(), slog.New(slog.DiscardHandler), []job{d.slow("a"), {"b", tt.run}, d.slow("c")})
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

func TestAFailureWhileStoppingIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := runGroup(ctx, slog.New(slog.DiscardHandler), []job{{"a", func(ctx context.Context) error {
			<-ctx.Done()
			return errors.New("cannot close")
		}}})
		if err == nil || err.Error() != "a: cannot close" {
			t.Errorf("got %v", err)
		}
	})
}
