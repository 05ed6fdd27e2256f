package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"time"

	"wayside/internal/roads/graph"
)

const (
	searchesMeasured = 5_000
	shortestTyped    = 3 // letters of a name that is being typed
	typoFrom         = 5 // letters of a word in which a typo is made
)

// searchPaths returns requests for names of roads as a driver types them: cut off somewhere behind the first letters, half of them
// with a typo.
func searchPaths(g *graph.Graph, count int) []string {
	random := rand.New(rand.NewPCG(7, 8))
	paths := make([]string, 0, count)
	for len(paths) < count {
		piece := g.Arcs[randomArc(g, random)].Piece
		name := []rune(g.Text(g.Ways[g.Pieces[piece].Way].Name))
		if len(name) < shortestTyped {
			continue
		}
		if len(paths)%2 == 1 {
			name = misspell(random, name)
		}
		at := g.PieceLine(piece)[0].Point()
		typed := string(name[:shortestTyped+random.IntN(len(name)-shortestTyped+1)])
		paths = append(paths, "/v2/geocode/api?limit=10&lat="+fmt.Sprintf("%.5f&lon=%.5f&", at.Lat, at.Lng)+url.Values{"q": {typed}}.Encode())
	}
	return paths
}

// misspell swaps two letters of the last long word.
func misspell(random *rand.Rand, name []rune) []rune {
	name = slices.Clone(name)
	end := len(name)
	for start := len(name) - 1; start >= 0; start-- {
		switch {
		case name[start] == ' ':
			end = start
		case end-start >= typoFrom && (start == 0 || name[start-1] == ' '):
			i := start + random.IntN(end-start-1)
			name[i], name[i+1] = name[i+1], name[i]
			return name
		}
	}
	return name
}

// httpSearch compares searches of partly typed names with answers of the baseline handler, in turns.
func (n *navigation) httpSearch(ctx context.Context) error {
	paths := searchPaths(n.region.Graph, searchesMeasured)
	for _, path := range paths[:roundRequests] {
		if err := n.found(ctx, path); err != nil {
			return err
		}
	}
	_, size, err := oneByOne(ctx, n.addr, paths[:roundRequests])
	if err != nil {
		return err
	}
	size /= roundRequests
	bare, err := startBare(ctx, size)
	if err != nil {
		return err
	}
	defer bare.stop()
	slashes := slices.Repeat([]string{"/"}, roundRequests)
	var ours, theirs []time.Duration
	profiled := n.profile(ctx, "search")
	for round := range slices.Chunk(paths, roundRequests) {
		fixed, _, err := oneByOne(ctx, bare.addr, slashes)
		if err != nil {
			return err
		}
		searches, _, err := oneByOne(ctx, n.addr, round)
		if err != nil {
			return err
		}
		ours, theirs = append(ours, searches...), append(theirs, fixed...)
	}
	if err := profiled(); err != nil {
		return err
	}
	p50, p99 := quantiles(ours)
	bare50, bare99 := quantiles(theirs)
	const goal50, goal99 = time.Millisecond, 5 * time.Millisecond
	n.table.add(fmt.Sprintf("search while typing, with typos (%d bytes) above a bare handler, p50 / p99", size), "≤ 1 / 5 ms",
		fmt.Sprintf("%.2f / %.2f ms (%.2f / %.2f less %.2f / %.2f)", ms(p50-bare50), ms(p99-bare99), ms(p50), ms(p99), ms(bare50), ms(bare99)),
		p50-bare50 <= goal50 && p99-bare99 <= goal99)
	for _, p := range n.region.Products {
		if p.Name == "search" {
			share := float64(p.Bytes) / float64(n.bytes)
			n.table.add("index of the search", "≤ 25 % of the extract", fmt.Sprintf("%.1f %% (%.2f MB)", 100*share, float64(p.Bytes)/1e6), share <= 0.25)
		}
	}
	return nil
}
