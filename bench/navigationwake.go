package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"wayside/internal/ground/geo"
)

const (
	wakesMeasured = 60
	wakeGoal      = 100 * time.Millisecond
	longestRest   = 1200 * time.Millisecond // between the opening of a session and the push of a closure: longer than a session rests after it was judged
)

// wakes leads drivers one after the other, pushes a closure on each one's way some time after the start, and measures how long after the
// push the event with the way around arrives.
func (n *navigation) wakes(ctx context.Context) error {
	random := rand.New(rand.NewPCG(31, 3))
	var waits []time.Duration
	unseen := 0
	for i := 0; len(waits)+unseen < wakesMeasured && i < 10*wakesMeasured; i++ {
		on, ok, err := n.middleOfRoute(ctx, n.routes[i%len(n.routes)]+"&geometries=geojson")
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		wait, err := n.wake(ctx, n.places[i%len(n.places)], on, time.Duration(random.Int64N(int64(longestRest))))
		if err != nil {
			return err
		}
		if wait < 0 {
			unseen++
			continue
		}
		waits = append(waits, wait)
	}
	if len(waits) == 0 {
		return errors.New("no driver was ever led around a closure")
	}
	p50, p99 := quantiles(waits)
	n.table.add(n.name+"from the push of a closure to the event of the driver led around it, p99", fmt.Sprintf("≤ %.0f ms", ms(wakeGoal)),
		fmt.Sprintf("%.1f ms (median %.1f; %d of %d never)", ms(p99), ms(p50), unseen, wakesMeasured), p99 <= wakeGoal && unseen == 0)
	return nil
}

// wake leads a driver between two places, pushes a closure after a rest, and returns how long after the push the driver's route changed;
// -1: it did not in time. It removes the closure again.
func (n *navigation) wake(ctx context.Context, ends [2]geo.Point, on segment, rest time.Duration) (took time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, longestRest+closureTimeout)
	defer cancel()
	var drive struct {
		ID string `json:"id"`
	}
	begin := map[string]any{"coordinates": [][]float64{{ends[0].Lng, ends[0].Lat}, {ends[1].Lng, ends[1].Lat}}}
	if err := n.call(ctx, http.MethodPost, "/v2/navigation/sessions", begin, &drive); err != nil {
		return 0, err
	}
	path := "/v2/navigation/sessions/" + drive.ID
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+n.addr+path+"/events", http.NoBody)
	if err != nil {
		return 0, err
	}
	events, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer events.Body.Close() //nolint:errcheck // its end is the end of the measurement
	lines := bufio.NewScanner(events.Body)
	lines.Buffer(nil, 16<<20)
	if !lines.Scan() {
		return 0, fmt.Errorf("events of a session: %s, %w", events.Status, lines.Err())
	}
	pause(ctx, rest)
	began := time.Now()
	if err := n.push(ctx, n.feeds[0], closureRow(on.middle()), 1); err != nil {
		return 0, err
	}
	took = -1
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "event: reroute") {
			took = time.Since(began)
			break
		}
	}
	after := context.WithoutCancel(ctx)
	return took, errors.Join(n.call(after, http.MethodDelete, path, nil, nil), n.push(after, n.feeds[0], closureRow(geo.Point{}), 1))
}
