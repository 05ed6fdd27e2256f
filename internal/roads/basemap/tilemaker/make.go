package tilemaker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"wayside/internal/roads/basemap"
	"wayside/internal/roads/basemap/mvt"
	"wayside/internal/roads/osmpbf"
)

// Options configure Make.
type Options struct {
	Name, Attribution string // in the archive's metadata, as plain text
}

// Counts are the figures of one call of Make.
type Counts struct {
	Tiles   int // with content, without those covered by an identical tile above
	Largest int // size of the largest tile in bytes, compressed
	LeftOut map[string]int
}

// ErrEmpty is returned for extracts in which nothing is drawn.
var ErrEmpty = errors.New("there is nothing to draw")

// Make makes an archive from extracts. The same extracts in the same order give the same bytes.
func Make(ctx context.Context, files []*osmpbf.File, o Options) ([]byte, *Counts, error) {
	s, err := read(ctx, files)
	if err != nil {
		return nil, nil, err
	}
	features, err := s.draw(ctx)
	if err != nil {
		return nil, nil, err
	}
	m := &maker{bounds: s.bounds, left: s.left}
	s = nil // free nodes and ways
	if err := m.make(ctx, features); err != nil {
		return nil, nil, err
	}
	if len(m.tiles) == 0 {
		return nil, nil, ErrEmpty
	}
	counts := &Counts{Tiles: len(m.tiles), LeftOut: m.left}
	for _, t := range m.tiles {
		counts.Largest = max(counts.Largest, len(t.Data))
	}
	for reason, n := range counts.LeftOut {
		if n == 0 {
			delete(counts.LeftOut, reason)
		}
	}
	var out bytes.Buffer
	if err := basemap.Write(&out, m.plan(o), m.tiles); err != nil {
		return nil, nil, err
	}
	return out.Bytes(), counts, nil
}

// plan describes the archive.
func (m *maker) plan(o Options) basemap.Plan {
	all := emptyBox
	for _, b := range m.bounds {
		all = all.with(spot{b.west, b.north}).with(spot{b.east, b.south})
	}
	degrees := func(s spot) (lat, lng float64) {
		return math.Atan(math.Sinh(math.Pi*(1-2*float64(s.Y)/world))) * 180 / math.Pi, float64(s.X)/world*360 - 180
	}
	north, west := degrees(spot{all.west, all.north})
	south, east := degrees(spot{all.east, all.south})
	lat, lng := degrees(spot{all.west + (all.east-all.west)/2, all.north + (all.south-all.north)/2})
	zoom := 0
	for side := max(all.east-all.west, all.south-all.north, 1); zoom < highestZoom && int64(side)<<(zoom+1) < world*2; zoom++ {
	}
	fields := func(names ...string) map[string]string {
		out := make(map[string]string)
		for _, n := range names {
			out[n] = "String"
		}
		return out
	}
	named := append([]string{"kind", "name"}, languages[:]...)
	places := fields(append(named, "kind_detail")...)
	places["min_zoom"] = "Number"
	return basemap.Plan{
		Type: basemap.MVT, Name: o.Name, Attribution: o.Attribution,
		Bounds: basemap.Bounds{West: west, South: south, East: east, North: north}, Center: [3]float64{lng, lat, float64(zoom)},
		Layers: []basemap.VectorLayer{
			{ID: earthLayer.name(), Fields: fields("kind"), MaxZoom: highestZoom},
			{ID: landuseLayer.name(), Fields: fields("kind"), MinZoom: lowestLand, MaxZoom: highestZoom},
			{ID: waterLayer.name(), Fields: fields(named...), MaxZoom: highestZoom},
			{ID: boundariesLayer.name(), Fields: fields("kind"), MaxZoom: highestZoom},
			{ID: roadsLayer.name(), Fields: fields(append(named, "kind_detail", "ref", "network", "is_bridge", "is_tunnel", "oneway")...), MinZoom: 5, MaxZoom: highestZoom},
			{ID: buildingsLayer.name(), Fields: fields("kind", "addr_housenumber"), MinZoom: highestZoom, MaxZoom: highestZoom},
			{ID: placesLayer.name(), Fields: places, MaxZoom: highestZoom},
			{ID: poisLayer.name(), Fields: fields(append(named, "ref")...), MinZoom: lowestPOI, MaxZoom: highestZoom},
		},
	}
}

// maker makes tiles.
type maker struct {
	bounds []box
	group  *errgroup.Group

	mu      sync.Mutex
	tiles   []basemap.Tile
	left    map[string]int
	packers []*basemap.Packer // not in use by any goroutine
}

// packer returns a packer for one tile.
func (m *maker) packer() *basemap.Packer {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.packers)
	if n == 0 {
		return basemap.NewPacker()
	}
	p := m.packers[n-1]
	m.packers = m.packers[:n-1]
	return p
}

// make makes all tiles of features.
func (m *maker) make(ctx context.Context, features []*feature) error {
	m.group, ctx = errgroup.WithContext(ctx)
	m.group.SetLimit(runtime.GOMAXPROCS(0))
	m.group.Go(func() error { return m.below(ctx, tile{}, features) })
	return m.group.Wait()
}

// below makes a tile and all below it.
func (m *maker) below(ctx context.Context, t tile, features []*feature) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	uniform := t.z < highestZoom && !slices.ContainsFunc(features, func(f *feature) bool { return !f.isUniform(t) })
	if err := m.make1(t, features, uniform); err != nil || uniform || t.z == highestZoom {
		return err
	}
	for _, part := range t.parts() {
		area := part.bounds(false)
		if !slices.ContainsFunc(m.bounds, area.meets) {
			continue
		}
		area = part.bounds(true)
		var own []*feature
		for _, f := range features {
			if clipped := f.clip(area); clipped != nil {
				own = append(own, clipped)
			}
		}
		if len(own) == 0 {
			continue
		}
		if !m.group.TryGo(func() error { return m.below(ctx, part, own) }) {
			if err := m.below(ctx, part, own); err != nil {
				return err
			}
		}
	}
	return nil
}

// isUniform reports whether a feature fills a tile and looks the same at all zooms from there on.
func (f *feature) isUniform(t tile) bool {
	return f.lowest <= t.z && f.covers(t.bounds(true)) && !slices.ContainsFunc(f.attributes.tags, func(g tag) bool { return g.from > t.z })
}

// make1 makes one tile, unless it is empty.
func (m *maker) make1(t tile, features []*feature, uniform bool) error {
	data, crowded := encode(t, features)
	if len(data) == 0 {
		return nil
	}
	packer := m.packer()
	packed, err := packer.Pack(data)
	if err != nil {
		return fmt.Errorf("tile %d/%d/%d: %w", t.z, t.x, t.y, err)
	}
	out := basemap.Tile{Z: t.z, X: t.x, Y: t.y, Data: packed, Packed: true}
	if uniform {
		out.Below = highestZoom - t.z
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.packers = append(m.packers, packer)
	m.tiles = append(m.tiles, out)
	if crowded {
		m.left[crowdedTiles]++
	}
	return nil
}

// maxTile is the maximum size of a tile in bytes, uncompressed. Real ones have a tenth of it.
const maxTile = 2 << 20

// encode encodes a tile. If it becomes too large, encode leaves out layer after layer.
func encode(t tile, features []*feature) (data []byte, crowded bool) {
	for _, without := range []func(*feature) bool{
		func(*feature) bool { return false },
		func(f *feature) bool { return f.attributes.layer == buildingsLayer },
		func(f *feature) bool {
			return f.attributes.layer == buildingsLayer || f.attributes.layer == landuseLayer || f.lowest == highestZoom
		},
		func(f *feature) bool { return f.attributes.layer > waterLayer },
	} {
		if data = encodeWithout(t, features, without); len(data) <= maxTile {
			return data, crowded
		}
		crowded = true
	}
	return nil, true
}

// groupKey identifies features that become one in a tile.
type groupKey struct {
	attributes *attributes
	geometry   geometry
}

func encodeWithout(t tile, features []*feature, without func(*feature) bool) []byte {
	var layers [layerCount]*mvt.Layer
	groups := make(map[groupKey]*mvt.Group)
	tags := make(map[*attributes][]mvt.Tag)
	var cells []mvt.Cell
	for _, f := range features {
		a := f.attributes
		if f.lowest > t.z || without(f) {
			continue
		}
		layer := layers[a.layer]
		if layer == nil {
			layer = mvt.NewLayer(a.layer.name())
			layers[a.layer] = layer
		}
		if f.geometry == dot {
			own, ok := tags[a]
			if !ok {
				own = a.at(t.z)
				tags[a] = own
			}
			at := t.cell(f.parts[0][0].spot)
			layer.Point(mvt.Pixel{X: float64(at.X), Y: float64(at.Y)}, own...)
			continue
		}
		group := groups[groupKey{a, f.geometry}]
		if group == nil {
			if f.geometry == fill {
				group = layer.AreaGroup(a.at(t.z)...)
			} else {
				group = layer.LineGroup(a.at(t.z)...)
			}
			groups[groupKey{a, f.geometry}] = group
		}
		for i, part := range f.parts {
			cells = cells[:0]
			for _, v := range part {
				if v.from <= t.z {
					cells = append(cells, t.cell(v.spot))
				}
			}
			if f.geometry == stroke {
				group.Line(cells)
			} else if !group.Ring(cells, i > 0) && i == 0 {
				break
			}
		}
	}
	var data []byte
	for _, layer := range layers {
		if layer != nil {
			data = layer.AppendTo(data)
		}
	}
	return data
}
