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

// views measures reads of map views of every size, as the page for cars asks for them, one at a time.
func (b *bench) views(ctx context.Context) error {
	const goal = 5 * time.Millisecond
	rng := rand.New(rand.NewPCG(7, 8))
	var took []time.Duration
	clustered, largest := 0, 0
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
		took = append(took, time.Since(began))
		var view struct{ Clusters []struct{ Count int } }
		if err := json.Unmarshal(answer, &view); err != nil {
			return err
		}
		count := 0
		for _, c := range view.Clusters {
			count += c.Count
		}
		if count > 0 {
			clustered++
		}
		largest = max(largest, count)
	}
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	b.table.add(fmt.Sprintf("map views of every zoom, %d %% in clusters, %d entities at most, p99", 100*clustered/viewsRead, largest), "≤ 5 ms",
		fmt.Sprintf("%.1f ms (median %.1f)", ms(p99), ms(took[len(took)/2])), p99 <= goal)
	return nil
}
