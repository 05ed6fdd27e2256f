package basemap

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// headerSize is the length of the header in bytes, at the start of the file.
const headerSize = 127

const (
	magic   = "PMTiles"
	version = 3
)

// compression is the compression of directories, metadata or tiles.
type compression uint8

const (
	compressionUnknown compression = iota
	compressionNone
	compressionGzip
)

// TileType is the format of the tiles of an archive.
type TileType uint8

// The types that browsers can draw, with their numbers in PMTiles.
const (
	MVT  TileType = 1 + iota // vector tiles (Mapbox Vector Tile, version 2)
	PNG                      // raster, like all that follow
	JPEG                     // without transparency
	WebP
	AVIF
)

// MediaType returns the media type for HTTP, or "" for an unknown type.
func (t TileType) MediaType() string {
	switch t {
	case MVT:
		return "application/vnd.mapbox-vector-tile"
	case PNG:
		return "image/png"
	case JPEG:
		return "image/jpeg"
	case WebP:
		return "image/webp"
	case AVIF:
		return "image/avif"
	}
	return ""
}

// section is a byte range of the file.
type section struct{ offset, length uint64 }

// within reports whether the section lies in a file of size bytes.
func (s section) within(size int64) bool {
	return s.offset <= uint64(size) && s.length <= uint64(size)-s.offset
}

// header is the decoded header.
type header struct {
	root, metadata, leaves, tiles section

	addressed, entries, contents uint64 // counts of tiles, of entries of directories and of different tiles

	clustered          bool // tiles are stored in the order of their ids
	internal, tileData compression
	tileType           TileType
	minZoom, maxZoom   uint8
	bounds             Bounds
	centerZoom         uint8
	centerLng          float64
	centerLat          float64
}

// Bounds is a rectangle in degrees.
type Bounds struct{ West, South, East, North float64 }

// e7 is the number of units of a position in a degree.
const e7 = 1e7

// parseHeader parses a header and checks it against the size of the file.
func parseHeader(b []byte, size int64) (header, error) {
	if len(b) < headerSize || string(b[:len(magic)]) != magic {
		return header{}, errors.New("is not a PMTiles archive: it does not begin like one")
	}
	if v := b[7]; v != version {
		return header{}, fmt.Errorf("is a PMTiles archive of version %d; version 3 is needed", v)
	}
	u := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	degrees := func(at int) float64 { return float64(int32(binary.LittleEndian.Uint32(b[at:]))) / e7 }
	h := header{
		root: section{u(8), u(16)}, metadata: section{u(24), u(32)}, leaves: section{u(40), u(48)}, tiles: section{u(56), u(64)},
		addressed: u(72), entries: u(80), contents: u(88),
		clustered: b[96] == 1, internal: compression(b[97]), tileData: compression(b[98]), tileType: TileType(b[99]),
		minZoom: b[100], maxZoom: b[101],
		bounds:     Bounds{degrees(102), degrees(106), degrees(110), degrees(114)},
		centerZoom: b[118], centerLng: degrees(119), centerLat: degrees(123),
	}
	return h, h.check(size)
}

// check returns why a header is invalid.
func (h *header) check(size int64) error {
	for _, part := range []struct {
		name string
		section
	}{{"root directory", h.root}, {"metadata", h.metadata}, {"leaf directories", h.leaves}, {"tiles", h.tiles}} {
		if !part.within(size) {
			return fmt.Errorf("is cut short or damaged: its %s would end beyond the file's end", part.name)
		}
	}
	if h.root.length == 0 {
		return errors.New("has no directory")
	}
	if h.tileType.MediaType() == "" {
		return fmt.Errorf("has tiles of type %d, which no browser draws; vector tiles (MVT), PNG, JPEG, WebP and AVIF are taken", h.tileType)
	}
	if h.internal != compressionNone && h.internal != compressionGzip {
		return errors.New("has directories that are not compressed with gzip; write it with gzip")
	}
	if h.tileType != MVT && h.tileData == compressionUnknown {
		h.tileData = compressionNone // some tools state unknown for raster tiles, whose formats are compressed already
	}
	if h.tileData != compressionNone && h.tileData != compressionGzip {
		return errors.New("has tiles that are compressed neither with gzip nor not at all; write it with gzip")
	}
	if h.minZoom > h.maxZoom || h.maxZoom > MaxZoom {
		return fmt.Errorf("says zooms %d to %d; 0 to %d can be", h.minZoom, h.maxZoom, MaxZoom)
	}
	b := h.bounds
	if b.West < -180 || b.East > 180 || b.South < -90 || b.North > 90 || b.West > b.East || b.South > b.North {
		return errors.New("says bounds that are not on Earth")
	}
	if h.centerLng < -180 || h.centerLng > 180 || h.centerLat < -90 || h.centerLat > 90 {
		return errors.New("says a centre that is not on Earth")
	}
	return nil
}

// append encodes the header in the form that parseHeader parses.
func (h *header) append(b []byte) []byte {
	b = append(append(b, magic...), version)
	for _, n := range []uint64{
		h.root.offset, h.root.length, h.metadata.offset, h.metadata.length, h.leaves.offset, h.leaves.length,
		h.tiles.offset, h.tiles.length, h.addressed, h.entries, h.contents,
	} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	clustered := byte(0)
	if h.clustered {
		clustered = 1
	}
	b = append(b, clustered, byte(h.internal), byte(h.tileData), byte(h.tileType), h.minZoom, h.maxZoom)
	degrees := func(b []byte, v float64) []byte {
		return binary.LittleEndian.AppendUint32(b, uint32(int32(v*e7)))
	}
	for _, v := range []float64{h.bounds.West, h.bounds.South, h.bounds.East, h.bounds.North} {
		b = degrees(b, v)
	}
	b = append(b, h.centerZoom)
	return degrees(degrees(b, h.centerLng), h.centerLat)
}
