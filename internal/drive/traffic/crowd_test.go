package traffic_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"wayside/internal/drive/traffic"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// listed is a Reader of a list. It is cheap, so that a benchmark of the follower does not measure the reader.
type listed struct{ hits []mapdata.Hit }

func (l *listed) Read(_ context.Context, _ geo.Circle, within *geo.Box, _ mapdata.KindSet, _ int, each func(*mapdata.Hit)) (bool, error) {
	for i := range l.hits {
		if within == nil || within.Contains(l.hits[i].Point) {
			each(&l.hits[i])
		}
	}
	return false, nil
}

// awaited is a Router that closes full once the arc has count conditions.
type awaited struct {
	arc   uint32
	count int
	full  chan struct{}
}

func (r *awaited) Update(_ context.Context, _ []traffic.Cost, s *traffic.State) error {
	if s.Conditions(r.arc).Len() == r.count {
		close(r.full)
		r.count = -1
	}
	return nil
}

// BenchmarkCrowd measures how long it takes until roadworks that are pushed together on one road of 1 km all count. When
// each round sorted a copy of each arc's list, 2 000 took 0.2 s, 8 000 1.9 s and 32 000 26.6 s.
func BenchmarkCrowd(b *testing.B) {
	for _, count := range []int{2_000, 8_000, 32_000} {
		b.Run(fmt.Sprint(count), func(b *testing.B) {
			for b.Loop() {
				w, r := newWorld(), new(listed)
				for i := range count {
					line := fmt.Sprintf(`{"line":[[9,45.00001],[%v,45.00001]]}`, place(1000+float64(i%100), 0).Lng)
					w.pins.set(fmt.Sprint(i), "alert.construction", line, place(float64(i%1000), 0))
				}
				router := &awaited{w.town.g.Pieces[w.town.roads["4,0 east"]].Forward, count, make(chan struct{})}
				w.Reader, w.Router, w.Now = r, router, time.Now
				ctx, stop := context.WithCancel(b.Context())
				ended := make(chan error)
				go func() { ended <- w.Run(ctx) }()
				<-w.Loaded()
				for _, h := range w.pins.hits {
					r.hits = append(r.hits, h)
				}
				w.moved.Notify(mapdata.Touched{Everywhere: true})
				<-router.full
				stop()
				if err := <-ended; err != nil {
					b.Error(err)
				}
			}
		})
	}
}
