package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// viewsRead is the number of views that are read, one after the other.
const viewsRead = 2000

// views measures reads of map views of every size, in the form of the page for cars, one after the other.
func (b *bench) views(ctx context.Context) error {
	const goal = 5 * time.Millisecond
	rng := rand.New(rand.NewPCG(7, 8))
	var clusters, pins []time.Duration
	largest := 0
	for i := range viewsRead {
		zoom := i % 15
		width := min(359.9, 1280.0/512*360/float64(int(1)<<zoom))
		lat, lng := 46+6*rng.Float64(), 2+10*rng.Float64()
		west, east := lng-width/2, lng+width/2
		if west < -180 {
			west += 360
		}
		if east > 180 {
			east -= 360
		}
		path := fmt.Sprintf("/v2/overlay/view?bbox=%.5f,%.5f,%.5f,%.5f&zoom=%d", west, max(-85, lat-width*0.2), east, min(85, lat+width*0.2), zoom)
		var answer json.RawMessage
		began := time.Now()
		if err := b.call(ctx, http.MethodGet, path, nil, &answer); err != nil {
			return err
		}
		spent := time.Since(began)
		var view struct{ Clusters []struct{ Count int } }
		if err := json.Unmarshal(answer, &view); err != nil {
			return err
		}
		if view.Clusters == nil {
			pins = append(pins, spent)
			continue
		}
		count := 0
		for _, c := range view.Clusters {
			count += c.Count
		}
		clusters = append(clusters, spent)
		largest = max(largest, count)
	}
	for _, row := range []struct {
		what string
		took []time.Duration
	}{{fmt.Sprintf("clusters of map views, %d entities at most", largest), clusters}, {"pins of map views, 500 at most", pins}} {
		slices.Sort(row.took)
		p99 := row.took[len(row.took)*99/100]
		b.table.add(row.what+", p99", "≤ 5 ms", fmt.Sprintf("%.1f ms (median %.1f)", ms(p99), ms(row.took[len(row.took)/2])), p99 <= goal)
	}
	return nil
}
