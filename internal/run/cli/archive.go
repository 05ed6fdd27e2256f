package cli

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
)

// An archive is a .tar.gz of a manifest, followed by the files that the manifest lists, in its order.
const (
	archiveFormat = 1
	manifestFile  = "manifest.json"
	manifestBytes = 64 << 10 // a longer manifest is invalid
)

// manifest lists the contents of an archive.
type manifest struct {
	Format    int            `json:"format"`
	Version   string         `json:"version"` // of the program that wrote it
	CreatedAt time.Time      `json:"created_at"`
	Files     []archivedFile `json:"files"`
}

// holds reports whether a file of this name is in the archive.
func (m *manifest) holds(name string) bool {
	return slices.ContainsFunc(m.Files, func(f archivedFile) bool { return f.Name == name })
}

// archivedFile is one file of an archive.
type archivedFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// writeArchive writes a manifest and the named files of dir. It calls progress with the number of bytes written.
func writeArchive(ctx context.Context, w io.Writer, dir string, names []string, now time.Time, progress func(int)) error {
	m := manifest{Format: archiveFormat, Version: version, CreatedAt: now.UTC().Truncate(time.Second)}
	for _, name := range names {
		size, sum, err := hashFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		m.Files = append(m.Files, archivedFile{name, size, sum})
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	zipped, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(zipped)
	if err := addToArchive(ctx, archive, manifestFile, int64(len(text)), bytes.NewReader(text), m.CreatedAt); err != nil {
		return err
	}
	for _, f := range m.Files {
		file, err := os.Open(filepath.Join(dir, f.Name))
		if err != nil {
			return err
		}
		err = addToArchive(ctx, archive, f.Name, f.Size, counted{ctx, file, progress}, m.CreatedAt)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

func addToArchive(ctx context.Context, archive *tar.Writer, name string, size int64, from io.Reader, at time.Time) error {
	if err := archive.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o600, ModTime: at, Format: tar.FormatPAX}); err != nil {
		return err
	}
	if _, err := io.Copy(archive, from); err != nil {
		return fmt.Errorf("archive %s: %w", name, err)
	}
	return ctx.Err()
}

// readArchive extracts an archive into dir and checks each file against the manifest: name, size and checksum. The names must be
// exactly one of the wanted lists. After an error, dir may contain some of the files.
func readArchive(ctx context.Context, r io.Reader, dir string, want [][]string, progress func(int)) (*manifest, error) {
	zipped, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("not a backup of wayside: %w", err)
	}
	archive := tar.NewReader(zipped)
	m, err := readManifest(archive)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(m.Files))
	for i, f := range m.Files {
		names[i] = f.Name
	}
	if !slices.ContainsFunc(want, func(list []string) bool { return slices.Equal(names, list) }) {
		expected := make([]string, len(want))
		for i := range want {
			expected[i] = fmt.Sprintf("%q", want[i])
		}
		return nil, fmt.Errorf("the backup holds %q where %s are expected", names, strings.Join(expected, " or "))
	}
	for _, f := range m.Files {
		header, err := archive.Next()
		if err != nil {
			return nil, fmt.Errorf("the backup is damaged: %s: %w", f.Name, err)
		}
		if header.Name != f.Name || header.Typeflag != tar.TypeReg || header.Size != f.Size {
			return nil, fmt.Errorf("the backup is damaged: %s of %d bytes stands where %s of %d should", header.Name, header.Size, f.Name, f.Size)
		}
		if err := restoreFile(filepath.Join(dir, f.Name), counted{ctx, archive, progress}, f.SHA256); err != nil {
			return nil, fmt.Errorf("the backup is damaged: %s: %w", f.Name, err)
		}
	}
	// Reading to the end verifies gzip's checksum, and that nothing follows.
	if _, err := archive.Next(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the backup is damaged: there is more in it than its manifest lists")
	}
	return m, nil
}

func readManifest(archive *tar.Reader) (*manifest, error) {
	header, err := archive.Next()
	if err != nil || header.Name != manifestFile || header.Size > manifestBytes {
		return nil, errors.New("not a backup of wayside: it does not begin with " + manifestFile)
	}
	var m manifest
	if err := json.NewDecoder(archive).Decode(&m); err != nil {
		return nil, fmt.Errorf("the backup is damaged: %s: %w", manifestFile, err)
	}
	if m.Format != archiveFormat {
		return nil, fmt.Errorf("the backup has format %d, written by wayside %s; this program reads format %d", m.Format, m.Version, archiveFormat)
	}
	return &m, nil
}

// restoreFile writes a new file durably and checks its content.
func restoreFile(path string, from io.Reader, sum string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(file, hash), from)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != sum {
		return errors.New("its checksum is wrong")
	}
	return nil
}

func hashFile(path string) (size int64, sum string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	hash := sha256.New()
	size, err = io.Copy(hash, file)
	return size, hex.EncodeToString(hash.Sum(nil)), errors.Join(err, file.Close())
}

// counted reports the bytes read through it, and fails when ctx ends.
type counted struct {
	ctx      context.Context
	from     io.Reader
	progress func(int)
}

func (c counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.from.Read(p)
	c.progress(n)
	return n, err
}
