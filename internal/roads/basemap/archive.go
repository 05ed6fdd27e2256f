package basemap

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Archive is an open PMTiles archive. It is safe for concurrent use until Close.
type Archive struct {
	file  io.ReaderAt
	close func() error
	size  int64
	mod   time.Time
	id    string
	header
	about metadata
	root  []entry
	cache cache
}

// VectorLayer is one layer of vector tiles, as the archive's metadata describes it.
type VectorLayer struct {
	ID      string
	Fields  map[string]string // description of each field
	MinZoom int
	MaxZoom int
}

// metadata is the used part of an archive's metadata.
type metadata struct {
	attribution string
	layers      []VectorLayer
}

// Limits of a single read.
const (
	maxMetadataBytes = 4 << 20
	maxTileBytes     = 8 << 20  // compressed
	maxUnpackedBytes = 32 << 20 // decompressed
	maxDepth         = 4        // directories from the root to a tile
)

// Open opens an archive and reads its header, metadata and root directory. The text of its error is meant to follow the
// name of the file in a sentence.
func Open(name string) (*Archive, error) {
	f, err := os.Open(name)
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, fmt.Errorf("cannot be opened: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is not a file")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	a, err := open(f, info.Size(), info.ModTime())
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	a.close = f.Close
	return a, nil
}

// OpenBytes opens an archive that is in memory. Its tag changes with any byte of it.
func OpenBytes(b []byte) (*Archive, error) {
	a, err := open(bytes.NewReader(b), int64(len(b)), time.Time{})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	a.id = hex.EncodeToString(sum[:6])
	return a, nil
}

// OpenMapped is like OpenBytes for mapped memory, which may be large: it reads only the start. tag identifies the
// content. The memory must stay mapped while the Archive is reachable; readers from Content keep it reachable.
func OpenMapped(b []byte, tag string) (*Archive, error) {
	a, err := open(bytes.NewReader(b), int64(len(b)), time.Time{})
	if err != nil {
		return nil, err
	}
	a.id = tag
	return a, nil
}

// open opens an archive of size bytes.
func open(file io.ReaderAt, size int64, mod time.Time) (*Archive, error) {
	a := &Archive{file: file, size: size, mod: mod, close: func() error { return nil }}
	first := make([]byte, min(size, headerSize))
	if err := a.readAt(first, 0); err != nil {
		return nil, err
	}
	var err error
	if a.header, err = parseHeader(first, size); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(fmt.Appendf(first, "%d %d", size, mod.UnixNano()))
	a.id = hex.EncodeToString(sum[:6])
	if a.about, err = a.readMetadata(); err != nil {
		return nil, fmt.Errorf("has metadata that cannot be read: %w", err)
	}
	if a.root, err = a.readDirectory(a.header.root); err != nil {
		return nil, fmt.Errorf("has a root directory that cannot be read: %w", err)
	}
	return a, nil
}

// Close closes the file.
func (a *Archive) Close() error { return a.close() }

func (a *Archive) readAt(b []byte, offset uint64) error {
	n, err := a.file.ReadAt(b, int64(offset))
	if n == len(b) {
		return nil
	}
	return fmt.Errorf("read the base map: %w", err)
}

// read reads a section of the file and decompresses it.
func (a *Archive) read(s section, c compression, limit int64) ([]byte, error) {
	if !s.within(a.size) || s.length > maxPackedBytes {
		return nil, errDirectory
	}
	b := make([]byte, s.length)
	if err := a.readAt(b, s.offset); err != nil {
		return nil, err
	}
	return unpack(b, c, limit)
}

func (a *Archive) readDirectory(s section) ([]entry, error) {
	b, err := a.read(s, a.internal, maxDirectoryBytes)
	if err != nil {
		return nil, err
	}
	return parseDirectory(b)
}

func (a *Archive) readMetadata() (metadata, error) {
	if a.header.metadata.length == 0 {
		return metadata{}, nil
	}
	b, err := a.read(a.header.metadata, a.internal, maxMetadataBytes)
	if err != nil {
		return metadata{}, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return metadata{}, err
	}
	return metadata{attribution: plainText(members["attribution"]), layers: vectorLayers(members["vector_layers"])}, nil
}

// Tile finds a tile. ok is false if the archive has no such tile. An error means that the archive is damaged or cannot be
// read.
func (a *Archive) Tile(z uint8, x, y uint32) (t Stored, ok bool, err error) {
	id, ok := tileID(z, x, y)
	if !ok || z < a.minZoom || z > a.maxZoom {
		return Stored{}, false, nil
	}
	directory := a.root
	for range maxDepth {
		e := find(directory, id)
		if e == nil {
			return Stored{}, false, nil
		}
		if e.run > 0 {
			s := section{e.offset, uint64(e.length)}
			if !s.within(int64(a.tiles.length)) || s.length > maxTileBytes {
				return Stored{}, false, errors.New("a tile of the base map lies outside of its file or is too large")
			}
			return Stored{archive: a, section: section{a.tiles.offset + s.offset, s.length}}, true, nil
		}
		if directory, err = a.leaf(section{e.offset, uint64(e.length)}); err != nil {
			return Stored{}, false, fmt.Errorf("read a directory of the base map: %w", err)
		}
	}
	return Stored{}, false, errors.New("the base map's directories lead more than four deep")
}

// leaf returns a leaf directory, from the cache if possible.
func (a *Archive) leaf(s section) ([]entry, error) {
	if entries := a.cache.get(s); entries != nil {
		return entries, nil
	}
	if !s.within(int64(a.leaves.length)) {
		return nil, errDirectory
	}
	entries, err := a.readDirectory(section{a.leaves.offset + s.offset, s.length})
	if err == nil {
		a.cache.put(s, entries)
	}
	return entries, err
}

// Stored is the location of a tile in its archive. Its content is not read yet.
type Stored struct {
	archive *Archive
	section section
}

// Tag identifies the content of the tile, as an entity tag does.
func (t Stored) Tag() string {
	return fmt.Sprintf("%s-%x-%x", t.archive.id, t.section.offset, t.section.length)
}

// Packed reads the tile as it is stored, and reports whether that is compressed with gzip.
func (t Stored) Packed() (b []byte, gzip bool, err error) {
	b = make([]byte, t.section.length)
	err = t.archive.readAt(b, t.section.offset)
	return b, t.archive.tileData == compressionGzip, err
}

// Plain reads the tile and decompresses it.
func (t Stored) Plain() ([]byte, error) {
	b, _, err := t.Packed()
	if err != nil {
		return nil, err
	}
	return unpack(b, t.archive.tileData, maxUnpackedBytes)
}

// Tag returns an identifier of the archive's content.
func (a *Archive) Tag() string { return a.id }

// Type returns the format of the tiles.
func (a *Archive) Type() TileType { return a.tileType }

// Zooms returns the lowest and the highest zoom of the tiles.
func (a *Archive) Zooms() (lowest, highest int) { return int(a.minZoom), int(a.maxZoom) }

// Bounds returns the area that the archive covers.
func (a *Archive) Bounds() Bounds { return a.bounds }

// Center returns the initial view: longitude, latitude and zoom.
func (a *Archive) Center() [3]float64 {
	return [3]float64{a.centerLng, a.centerLat, float64(a.centerZoom)}
}

// Attribution returns the attribution that must be displayed, as plain text; empty if the metadata has none.
func (a *Archive) Attribution() string { return a.about.attribution }

// VectorLayers returns the layers of the vector tiles, or nil if the metadata has none.
func (a *Archive) VectorLayers() []VectorLayer { return a.about.layers }

// ModTime returns the modification time of the file when it was opened.
func (a *Archive) ModTime() time.Time { return a.mod }

// Content returns a new reader of the whole file.
func (a *Archive) Content() io.ReadSeeker { return io.NewSectionReader(content{a}, 0, a.size) }

// content reads an archive's file and keeps the archive reachable.
type content struct{ *Archive }

// ReadAt reads the file.
func (c content) ReadAt(b []byte, offset int64) (int, error) { return c.file.ReadAt(b, offset) }
