package basemap

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Plan describes an archive to be written.
type Plan struct {
	Type        TileType
	Bounds      Bounds
	Center      [3]float64 // longitude, latitude, zoom
	Name        string
	Attribution string        // plain text
	Layers      []VectorLayer // nil: raster tiles
}

// Tile is one tile to be written.
type Tile struct {
	Z    uint8
	X, Y uint32
	Data []byte // uncompressed, unless Packed is set; not empty

	Packed bool  // Data was returned by Pack
	Below  uint8 // number of zooms below in which its whole area has the same tile
}

// Sizes of directories. The format requires header and root directory within the first 16 KiB.
const (
	maxRootBytes = 16<<10 - headerSize
	leafEntries  = 4096
	maxBelow     = 15 // because a run of tiles is counted in 32 bits
)

// Write writes a clustered archive whose directories and vector tiles are compressed with gzip; raster tiles are stored
// unchanged. It fails for an invalid or duplicate tile, and with the error of w.
func Write(w io.Writer, plan Plan, tiles []Tile) error { return write(w, plan, tiles, leafEntries) }

// write is Write with another size of leaf directories.
func write(w io.Writer, plan Plan, tiles []Tile, leafSize int) error {
	h := header{
		clustered: true, internal: compressionGzip, tileData: compressionNone, tileType: plan.Type,
		bounds: plan.Bounds, centerLng: plan.Center[0], centerLat: plan.Center[1], centerZoom: uint8(plan.Center[2]),
	}
	if plan.Type == MVT {
		h.tileData = compressionGzip
	}
	entries, data, err := layOut(&h, tiles)
	if err != nil {
		return err
	}
	root, leaves, err := layDirectories(entries, leafSize)
	if err != nil {
		return err
	}
	about, err := describe(plan, int(h.minZoom), int(h.maxZoom))
	if err != nil {
		return err
	}
	at := uint64(headerSize)
	for _, part := range []struct {
		section *section
		bytes   []byte
	}{{&h.root, root}, {&h.metadata, about}, {&h.leaves, leaves}, {&h.tiles, data}} {
		*part.section = section{at, uint64(len(part.bytes))}
		at += uint64(len(part.bytes))
	}
	for _, b := range [][]byte{h.append(nil), root, about, leaves, data} {
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("write the base map: %w", err)
		}
	}
	return nil
}

// layOut sorts the tiles, deduplicates their contents, and counts them in the header.
func layOut(h *header, tiles []Tile) (entries []entry, data []byte, err error) {
	if len(tiles) == 0 {
		return nil, nil, errors.New("a base map needs a tile")
	}
	type numbered struct {
		id   uint64
		run  uint32
		tile *Tile
	}
	ordered := make([]numbered, 0, len(tiles))
	h.minZoom = MaxZoom
	for i := range tiles {
		t := &tiles[i]
		if _, ok := tileID(t.Z, t.X, t.Y); !ok || len(t.Data) == 0 || t.Z+t.Below > MaxZoom || t.Below > maxBelow {
			return nil, nil, fmt.Errorf("there is no tile %d/%d/%d, or it is empty", t.Z, t.X, t.Y)
		}
		for below := range t.Below + 1 { // a tile's area is contiguous in the order of each zoom below
			run := uint32(1) << (2 * below)
			id, _ := tileID(t.Z+below, t.X<<below, t.Y<<below)
			ordered = append(ordered, numbered{id - (id-firstID(t.Z+below))%uint64(run), run, t})
		}
		h.minZoom, h.maxZoom = min(h.minZoom, t.Z), max(h.maxZoom, t.Z+t.Below)
	}
	slices.SortFunc(ordered, func(a, b numbered) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	known := make(map[[sha256.Size]byte]section)
	for i, n := range ordered {
		h.addressed += uint64(n.run)
		if i > 0 && n.id < ordered[i-1].id+uint64(ordered[i-1].run) {
			return nil, nil, fmt.Errorf("tile %d/%d/%d stands twice", n.tile.Z, n.tile.X, n.tile.Y)
		}
		sum := sha256.Sum256(n.tile.Data)
		place, ok := known[sum]
		if !ok {
			packed := n.tile.Data
			if h.tileData == compressionGzip && !n.tile.Packed {
				if packed, err = Pack(packed); err != nil {
					return nil, nil, err
				}
			}
			place = section{uint64(len(data)), uint64(len(packed))}
			known[sum] = place
			data = append(data, packed...)
		}
		last := len(entries) - 1
		if last >= 0 && entries[last].offset == place.offset && entries[last].id+uint64(entries[last].run) == n.id &&
			n.run <= math.MaxUint32-entries[last].run {
			entries[last].run += n.run
			continue
		}
		entries = append(entries, entry{id: n.id, offset: place.offset, length: uint32(place.length), run: n.run})
	}
	h.entries, h.contents = uint64(len(entries)), uint64(len(known))
	return entries, data, nil
}

// layDirectories encodes a single directory or, if that is too large, a root with leaves.
func layDirectories(entries []entry, leafSize int) (root, leaves []byte, err error) {
	if len(entries) <= leafSize {
		root, err = Pack(appendDirectory(entries))
		if err != nil || len(root) <= maxRootBytes {
			return root, nil, err
		}
	}
	var top []entry
	for leaf := range slices.Chunk(entries, leafSize) {
		packed, err := Pack(appendDirectory(leaf))
		if err != nil {
			return nil, nil, err
		}
		top = append(top, entry{id: leaf[0].id, offset: uint64(len(leaves)), length: uint32(len(packed))})
		leaves = append(leaves, packed...)
	}
	if root, err = Pack(appendDirectory(top)); err != nil || len(root) <= maxRootBytes {
		return root, leaves, err
	}
	return nil, nil, errors.New("too many tiles for one level of leaf directories")
}

// describe encodes the metadata.
func describe(plan Plan, lowest, highest int) ([]byte, error) {
	about := map[string]any{"name": plan.Name, "attribution": html.EscapeString(plan.Attribution), "type": "baselayer"}
	layers := []map[string]any{}
	for _, l := range plan.Layers {
		layers = append(layers, map[string]any{
			"id": l.ID, "fields": l.Fields, "minzoom": max(l.MinZoom, lowest), "maxzoom": min(l.MaxZoom, highest),
		})
	}
	if plan.Type == MVT {
		about["vector_layers"] = layers
	}
	text, err := json.Marshal(about)
	if err != nil {
		return nil, fmt.Errorf("describe the base map: %w", err)
	}
	return Pack(text)
}

// packers keeps writers for reuse, because one has a megabyte of tables and most tiles are small.
var packers = sync.Pool{New: func() any { return NewPacker() }}

// Pack compresses a tile as it is stored in an archive.
func Pack(b []byte) ([]byte, error) {
	p, ok := packers.Get().(*Packer)
	if !ok {
		p = NewPacker()
	}
	defer packers.Put(p)
	return p.Pack(b)
}

// Packer compresses one tile after another with the same tables.
type Packer struct{ z *gzip.Writer }

// NewPacker returns a Packer.
func NewPacker() *Packer { return &Packer{gzip.NewWriter(nil)} }

// Pack compresses a tile as it is stored in an archive.
func (p *Packer) Pack(b []byte) ([]byte, error) {
	var out bytes.Buffer
	p.z.Reset(&out)
	if _, err := p.z.Write(b); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := p.z.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return out.Bytes(), nil
}
