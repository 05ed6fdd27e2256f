package stream_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/entities/stream"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// appsRecorder records the changes of apps that a stream's client received, and when.
type appsRecorder struct {
	mu   sync.Mutex
	told []stream.AppsChange
	at   []time.Time
}

func (r *appsRecorder) tell(_ context.Context, change stream.AppsChange) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told, r.at = append(r.told, change), append(r.at, time.Now())
	return nil
}

// TestStreamsAreToldOfApps checks which clients receive changes of apps, how often, and how many apps they name.
func TestStreamsAreToldOfApps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		var watching, other appsRecorder
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for n, r := range []*appsRecorder{&watching, &other} {
			s, err := h.Open(callerKey(byte(n)), geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 1000})
			if err != nil {
				t.Fatal(err)
			}
			if r == &watching {
				s.WatchApps()
			}
			running.Go(func() {
				defer s.Close()
				err := s.Run(ctx, time.Time{}, stream.Client{
					Update:    func(context.Context, stream.Cause) (time.Time, error) { return time.Time{}, nil },
					Heartbeat: func(context.Context) error { return nil }, Apps: r.tell,
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		h.AppsChanged(1, []mapdata.AppID{{1}})
		synctest.Wait()
		if len(watching.told) != 1 || watching.told[0].Revision != 1 || len(watching.told[0].Changed) != 1 || !watching.at[0].Equal(began) {
			t.Errorf("told %+v at %v, want one app at once", watching.told, watching.at)
		}
		for i := range 1000 { // a developer's name that changes a hundred times a second
			h.AppsChanged(int64(2+i), []mapdata.AppID{{2}})
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(watching.told); n < 20 || n > 23 {
			t.Errorf("told %d times within ten seconds, want 21: twice a second", n)
		}
		if last := watching.told[len(watching.told)-1]; last.Revision != 1001 {
			t.Errorf("the last revision told is %d, want 1001", last.Revision)
		}
		h.AppsChanged(2000, make([]mapdata.AppID, 51))
		synctest.Wait()
		if last := watching.told[len(watching.told)-1]; last.Revision != 2000 || len(last.Changed) != 0 {
			t.Errorf("of 51 apps %+v is told, want none by name", last)
		}
		if len(other.told) > 0 {
			t.Errorf("a stream that does not watch apps is told %+v", other.told)
		}
		stop()
		running.Wait()
		if got := stream.Contents(h); got != "0 callers, 0 cubes, 0 watchers of apps" {
			t.Errorf("left: %s", got)
		}
	})
}
