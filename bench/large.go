package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"wayside/internal/entities/index"
	"wayside/internal/entities/wire"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// Sizes of the compared indexes, and limits of the larger one.
const (
	smallIndex    = 1_000_000
	largeIndex    = 10_000_000
	largeMegabyte = 8000
	largeSlower   = 1.5
)

// indexFigures are the measurements of a process that holds only an index.
type indexFigures struct {
	Megabytes float64         // resident, after a collection
	Nanos     map[int]float64 // per search, by the requested number of hits
}

// indexes compares an index of ten million entities with one of a million, each in its own process.
func (b *bench) indexes(ctx context.Context) error {
	small, err := measureIndex(ctx, smallIndex)
	if err != nil {
		return err
	}
	large, err := measureIndex(ctx, largeIndex)
	if err != nil {
		return err
	}
	b.table.add(fmt.Sprintf("memory of an index of %d entities", largeIndex), fmt.Sprintf("≤ %d MB", largeMegabyte),
		fmt.Sprintf("%.0f MB (of %d: %.0f MB)", large.Megabytes, smallIndex, small.Megabytes), large.Megabytes <= largeMegabyte)
	for _, wanted := range []int{20, 100} {
		ratio := large.Nanos[wanted] / small.Nanos[wanted]
		b.table.add(fmt.Sprintf("search in it, ≈ %d hits / in one of a million", wanted), fmt.Sprintf("≤ %.1f ×", largeSlower),
			fmt.Sprintf("%.2f × (%.1f and %.1f µs)", ratio, large.Nanos[wanted]/1000, small.Nanos[wanted]/1000), ratio <= largeSlower)
	}
	return nil
}

func measureIndex(ctx context.Context, entities int) (*indexFigures, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-index", strconv.Itoa(entities))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	figures := new(indexFigures)
	return figures, json.Unmarshal(out, figures)
}

// printIndex runs a process that holds only an index, and prints its figures as JSON.
func printIndex(entities int) error {
	ix, err := loadIndex(entities)
	if err != nil {
		return err
	}
	figures := indexFigures{Nanos: map[int]float64{}}
	for _, wanted := range []int{20, 100} {
		figures.Nanos[wanted] = timeSearches(ix, wanted)
	}
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	figures.Megabytes = kilobytes(string(status), "VmRSS:") / 1000
	runtime.KeepAlive(ix)
	out := bufio.NewWriter(os.Stdout)
	if err := json.NewEncoder(out).Encode(figures); err != nil {
		return err
	}
	return out.Flush()
}

// loadIndex loads an index in the same way as a starting service.
func loadIndex(entities int) (*index.Index, error) {
	var feeds []*mapdata.Feed
	for i := range entities / feedRows {
		feeds = append(feeds, &mapdata.Feed{ID: mapdata.FeedID{byte(i >> 8), byte(i), 1}, Name: prefix(i), Direction: mapdata.Push, Visibility: mapdata.Public, Active: true, ReviewState: mapdata.Approved})
	}
	ix := index.New(wire.EncodeEntity)
	loader := ix.Load(feeds, 1)
	c := newCountry()
	now := time.Now().Truncate(time.Millisecond)
	for i := range feeds[:len(feeds):len(feeds)] {
		for row := range feedRows {
			lat, lng := c.place()
			kind, known := mapdata.ParseKind(c.kinds[row%len(c.kinds)])
			if !known {
				return nil, fmt.Errorf("no kind %q", c.kinds[row%len(c.kinds)])
			}
			loader.Part(0).Add(&mapdata.Entity{
				Feed: feeds[i].ID, ExternalID: fmt.Sprintf("%s:%07d", prefix(i), row), Kind: kind, Point: geo.Point{Lat: lat, Lng: lng},
				Properties:  fmt.Appendf(nil, `{"street":"Street %d","city":"Town %d","maxspeed_kmh":%d,"version":0}`, row%977, row%towns, 30+row%10*10),
				FirstSeenAt: now, SeenAt: now, ChangedAt: now, Lifetime: 24 * time.Hour,
			})
		}
	}
	loader.Finish(nil)
	return ix, nil
}

// timeSearches returns the nanoseconds of a search that finds about the given number, as the median of some rounds.
func timeSearches(ix *index.Index, wanted int) float64 {
	const places, rounds = 2048, 15
	c := newCountry()
	searches := make([]*mapdata.Search, 0, places)
	var hits []mapdata.Hit
	for len(searches) < places {
		lat, lng := c.place()
		s := &mapdata.Search{
			Center: geo.Point{Lat: lat, Lng: lng}, Radius: 50, Kinds: mapdata.AllKinds, Served: true, AllNetworks: true,
			Now: time.Now(), Limit: 200,
		}
		for hits = hits[:0]; len(hits) < wanted && s.Radius < 20_000; s.Radius *= 1.1 {
			hits, _ = ix.Search(s, hits[:0])
		}
		searches = append(searches, s)
	}
	var nanos []float64
	for range rounds {
		began := time.Now()
		for _, s := range searches {
			hits, _ = ix.Search(s, hits[:0])
		}
		nanos = append(nanos, float64(time.Since(began).Nanoseconds())/places)
	}
	return median(nanos)
}
