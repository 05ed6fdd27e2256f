package region

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// Region is the result of one import, in memory. It never changes.
//
// Its parts lie in the mapped file. The memory stays mapped while the Region or one of the parts that it points to is
// reachable; slices and texts of them do not count. So a reader must keep the Region until its answer is written.
type Region struct {
	About
	Path     string
	Bytes    int64
	Imported time.Time // when the file was written
	info     os.FileInfo
	parts
}

// load verifies every byte of an open region file, closes the file, and maps it. retire is called with the mapping once
// nothing of the region is reachable.
func load(ctx context.Context, in *file, path string, retire func(*mapping)) (_ *Region, err error) {
	defer func() { err = errors.Join(err, in.close()) }() // the mapping stays
	if err := in.verify(ctx); err != nil {
		return nil, err
	}
	m, err := in.mapped()
	if err != nil {
		return nil, err
	}
	r, err := newRegion(m)
	if err != nil {
		retire(m)
		return nil, err
	}
	if id, ok := strings.CutSuffix(filepath.Base(path), suffix); ok && ValidID(id) && id != r.ID {
		retire(m)
		return nil, damaged(0, "it is region %s under the name of another", r.ID)
	}
	r.Path, r.Bytes, r.Imported, r.info = path, in.info.Size(), in.info.ModTime(), in.info
	r.keep(m, retire)
	return r, nil
}

// newRegion reads all sections of a mapped file.
func newRegion(m *mapping) (*Region, error) {
	about, err := parseAbout(m.section(aboutSection))
	if err != nil {
		return nil, err
	}
	r := &Region{About: *about}
	if r.parts, err = readParts(m, about); err != nil {
		return nil, err
	}
	return r, nil
}

// keep arranges that retire is called with the mapping after the last part of the region is unreachable.
func (r *Region) keep(m *mapping, retire func(*mapping)) {
	left := new(atomic.Int64)
	left.Store(1)
	gone := func(m *mapping) {
		if left.Add(-1) == 0 {
			retire(m)
		}
	}
	r.attach(left, gone, m)
	runtime.AddCleanup(r, gone, m)
}

// Read opens a region for a command, outside of a service. The memory stays mapped until the process ends. It maps the
// file itself, so a program that truncates the file meanwhile ends the command.
func Read(ctx context.Context, path string) (*Region, error) {
	in, err := openFile(path)
	if err != nil {
		return nil, err
	}
	return load(ctx, in, path, func(*mapping) {})
}

// identity distinguishes a file from another one, even with the same name.
type identity struct {
	path string
	info os.FileInfo // nil: there is no file
}

func (i identity) same(other identity) bool {
	if i.path != other.path || (i.info == nil) != (other.info == nil) {
		return false
	}
	return i.info == nil || os.SameFile(i.info, other.info) && i.info.Size() == other.info.Size() && i.info.ModTime().Equal(other.info.ModTime())
}
