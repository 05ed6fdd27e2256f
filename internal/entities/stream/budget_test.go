package stream_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"wayside/internal/entities/stream"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// TestStreamsOfOneCallerShareBytes checks four streams of one caller whose updates have a megabyte each and are due four times a
// second: together they send 1 MiB a second, and still send heartbeats (F20). The stream of another caller is not slowed.
func TestStreamsOfOneCallerShareBytes(t *testing.T) {
	const size, seconds = 1 << 20, 60
	synctest.Test(t, func(t *testing.T) {
		h := stream.New(stream.Config{Now: time.Now})
		area := geo.Circle{Center: geo.Point{Lat: 52, Lng: 5}, Radius: 1000}
		ctx, cancel := context.WithCancel(t.Context())
		sent, heartbeats := make([]int, stream.MaxPerCaller+1), 0
		ended := make(chan struct{})
		for i := range sent {
			s, err := h.Open(callerKey(byte(i/stream.MaxPerCaller)), area)
			if err != nil {
				t.Fatal(err)
			}
			n := size
			if i == stream.MaxPerCaller {
				n = size / 8
			}
			go func() {
				defer func() { ended <- struct{}{} }()
				err := s.Run(ctx, time.Time{}, stream.Client{
					Update: func(context.Context, stream.Cause) (time.Time, error) {
						s.Sent(n)
						sent[i] += n
						return time.Time{}, nil
					},
					Heartbeat: func(context.Context) error {
						if i == 0 {
							heartbeats++
						}
						return nil
					},
				})
				if err != nil {
					t.Error(err)
				}
			}()
		}
		for range seconds * 10 {
			h.Touched(mapdata.Touched{Areas: []geo.Circle{area}})
			time.Sleep(100 * time.Millisecond)
		}
		cancel()
		for range sent {
			<-ended
		}
		greedy := 0
		for _, n := range sent[:stream.MaxPerCaller] {
			greedy += n
		}
		if got := greedy / size; got < seconds || got > seconds+2*stream.MaxPerCaller {
			t.Errorf("four streams of one caller sent %d MiB in %d s", got, seconds)
		}
		if got := sent[stream.MaxPerCaller] / (size / 8); got < 3*seconds {
			t.Errorf("the other caller got %d updates in %d s", got, seconds)
		}
		if heartbeats != 3 {
			t.Errorf("%d heartbeats in %d s", heartbeats, seconds)
		}
	})
}
