package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// The position at which live incidents are measured: in an ocean, far from other entities.
const (
	spotLat, spotLng = 30.0, -40.0
	spotRadius       = 5000 // metres, of a read that finds all of them
)

// Numbers of entities at the spot. Each pair is a live incident and an entity of a feed for one event.
const (
	pairs     = 150
	liveAlone = 150
	feedAlone = 150
	sites     = pairs + liveAlone + feedAlone
	spacing   = 405.0 // metres between two sites, more than any merge distance
)

// liveConfig adds an upstream to the service's configuration, for the ocean around the spot.
const liveConfig = `
[[upstreams]]
name = "bench"
url = "http://%s"
secret = %q
form = "incidents"
area = [-60, 10, -20, 40]
`

// startLive restarts the service with an upstream, and pushes the entities at the spot.
func (b *bench) startLive(ctx context.Context) error {
	if err := b.stop(); err != nil {
		return err
	}
	if err := b.configure(fmt.Sprintf(liveConfig, b.relay.listener.Addr(), relaySecret)); err != nil {
		return err
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	said, pushed := spot()
	body := append([]byte(`{"entities":`), rows(said)...)
	body = append(body, `,"fetched_at_utc":null}`...)
	b.relay.body.Store(&body)
	var err error
	if b.liveFeed, err = b.register(ctx, "Bench beside live incidents"); err != nil {
		return err
	}
	if err := b.push(ctx, b.liveFeed, rows(pushed), len(pushed)); err != nil {
		return err
	}
	durable, _ := b.spotPaths()
	for range 100 { // it takes a moment until the approval by another process is visible
		if err = b.pins(ctx, durable, pairs+feedAlone, 0); err == nil {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return err
}

// spotPaths returns the compared reads: of the feed alone, and of the feed with live incidents.
func (b *bench) spotPaths() (durable, both string) {
	durable = fmt.Sprintf("/v2/entities/nearby?lat=%.5f&lng=%.5f&radius=%d&limit=1000&sources=feed:%s", spotLat, spotLng, spotRadius, b.liveFeed.ID)
	return durable, durable + ",incidents"
}

// spot generates the upstream's answer and the feed's rows, always the same: sites on a triangular grid, shuffled.
func spot() (said, pushed []entity) {
	kinds := []string{
		"alert.police", "traffic.jam", "alert.accident", "alert.hazard", "alert.construction", "alert.hazard.object_on_road",
		"traffic.jam", "alert.road_closed", "alert.hazard.pothole",
	}
	rng := rand.New(rand.NewPCG(20261121, 2))
	places := grid()
	rng.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	for i, p := range places {
		kind := kinds[i%len(kinds)]
		if i < pairs+liveAlone {
			said = append(said, at("live", i, kind, p))
		}
		if i < pairs {
			angle, metres := rng.Float64()*2*math.Pi, 30+rng.Float64()*30
			p = [2]float64{p[0] + metres*math.Cos(angle), p[1] + metres*math.Sin(angle)}
		}
		if i < pairs || i >= pairs+liveAlone {
			pushed = append(pushed, at("spot", i, kind, p))
		}
	}
	return said, pushed
}

// grid returns the sites nearest to the spot, in metres north and east of it.
func grid() [][2]float64 {
	const reach = 15
	var places [][2]float64
	for row := -reach; row <= reach; row++ {
		for column := -reach; column <= reach; column++ {
			places = append(places, [2]float64{float64(row) * spacing * math.Sqrt(3) / 2, (float64(column) + float64(row&1)/2) * spacing})
		}
	}
	slices.SortStableFunc(places, func(a, b [2]float64) int {
		return int(math.Hypot(a[0], a[1])) - int(math.Hypot(b[0], b[1]))
	})
	return places[:sites]
}

// at returns an entity at a position in metres north and east of the spot.
func at(prefix string, number int, kind string, place [2]float64) entity {
	const degree = 111_195.0 // metres
	return entity{prefix, number, kind, spotLat + place[0]/degree, spotLng + place[1]/degree/math.Cos(spotLat*math.Pi/180)}
}

func rows(entities []entity) []byte {
	dst := []byte{'['}
	for i, e := range entities {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendEntity(dst, e, 0)
	}
	return append(dst, ']')
}

// liveReads compares a read of a feed and live incidents with the same read of the feed alone, in alternating rounds.
func (b *bench) liveReads(ctx context.Context) error {
	durable, both := b.spotPaths()
	check := func() error {
		for path, want := range map[string][2]int{durable: {pairs + feedAlone, 0}, both: {sites, pairs}} {
			if err := b.pins(ctx, path, want[0], want[1]); err != nil {
				return err
			}
		}
		return nil
	}
	if err := check(); err != nil {
		return err
	}
	calls := b.relay.calls.Load()
	var ratios, with, without []float64
	var sizes [2]int
	for range b.rounds {
		feed, err := load(ctx, b.addr, []string{durable}, b.round)
		if err != nil {
			return err
		}
		profiled := b.profile(ctx, "live")
		live, err := load(ctx, b.addr, []string{both}, b.round)
		err = errors.Join(err, profiled())
		if err != nil {
			return err
		}
		ratios = append(ratios, live.perSecond()/feed.perSecond())
		with, without = append(with, live.perSecond()), append(without, feed.perSecond())
		sizes = [2]int{live.size(), feed.size()}
	}
	calls = b.relay.calls.Load() - calls
	if err := check(); err != nil {
		return err
	}
	ratio := median(ratios)
	b.table.add(fmt.Sprintf("nearby, 300 of a feed and 300 live, %d merge / without live", pairs), "≥ 50 %",
		fmt.Sprintf("%.0f %% (%.0f of %.0f/s; %d and %d bytes; %d calls)", ratio*100, median(with), median(without), sizes[0], sizes[1], calls), ratio >= 0.5)
	return nil
}

// pins reads as a guest and checks the number of pins and of merged pins.
func (b *bench) pins(ctx context.Context, path string, want, wantMerged int) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.addr+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // read only
	var answer struct {
		Entities []struct {
			Properties struct {
				MergedFrom []json.RawMessage `json:"merged_from"`
			}
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	merged := 0
	for _, e := range answer.Entities {
		if len(e.Properties.MergedFrom) == 1 {
			merged++
		}
	}
	if len(answer.Entities) != want || merged != wantMerged {
		return fmt.Errorf("%s: %d pins, %d of them merged; want %d and %d (%s)", path, len(answer.Entities), merged, want, wantMerged, resp.Status)
	}
	return nil
}
