package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"wayside/internal/roads/basemap/mvt"
)

// tilesMeasured is the number of tiles requested over HTTP, one after the other.
const tilesMeasured = 5000

// baseMap measures the region's map: its size, its largest tile, and tiles over HTTP.
func (n *navigation) baseMap(ctx context.Context) error {
	archive := n.region.Tiles
	if archive == nil {
		return errors.New("the region has no map")
	}
	var paths []string
	largest, most := 0, ""
	b := archive.Bounds()
	lowest, highest := archive.Zooms()
	for z := lowest; z <= highest; z++ {
		west, north := mvt.Mercator(z, b.North, b.West)
		east, south := mvt.Mercator(z, b.South, b.East)
		for x := int(west); x <= int(east); x++ {
			for y := int(north); y <= int(south); y++ {
				tile, ok, err := archive.Tile(uint8(z), uint32(x), uint32(y))
				if err != nil {
					return err
				}
				if !ok {
					continue
				}
				packed, _, err := tile.Packed()
				if err != nil {
					return err
				}
				paths = append(paths, fmt.Sprintf("/map/tiles/%d/%d/%d", z, x, y))
				if len(packed) > largest {
					largest, most = len(packed), fmt.Sprintf("%d/%d/%d", z, x, y)
				}
			}
		}
	}
	if len(paths) == 0 {
		return errors.New("the region's map has no tile")
	}
	random := rand.New(rand.NewPCG(7, 8))
	asked := make([]string, tilesMeasured)
	for i := range asked {
		asked[i] = paths[random.IntN(len(paths))]
	}
	took, _, err := oneByOne(ctx, n.addr, asked)
	if err != nil {
		return err
	}
	const (
		goal99      = 5 // ms
		goalLargest = 500_000
		goalArchive = 2 // times the extract
	)
	p50, p99 := quantiles(took)
	n.table.add("tile of the base map over HTTP, p50 / p99", "p99 ≤ 5 ms", fmt.Sprintf("%.2f / %.2f ms", ms(p50), ms(p99)), ms(p99) <= goal99)
	n.table.add(fmt.Sprintf("largest of %d tiles", len(paths)), "≤ 500 KB", fmt.Sprintf("%.0f KB (%s)", float64(largest)/1e3, most), largest <= goalLargest)
	for _, p := range n.region.Products {
		if p.Name == "tiles" {
			share := float64(p.Bytes) / float64(n.bytes)
			n.table.add("archive of the base map", "≤ 2 × the extract", fmt.Sprintf("%.2f × (%.1f MB)", share, float64(p.Bytes)/1e6), share <= goalArchive)
		}
	}
	return nil
}
