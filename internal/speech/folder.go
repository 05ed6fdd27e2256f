package speech

import (
	"container/list"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	maxFolder = 256 << 20 // bytes of clips that are kept (D15.25)
	blockSize = 4 << 10   // bytes that a small file takes on a disk at least, which bounds the number of files
	// touchInterval is how old the time of a file may be before it is set again, which is what a restart knows of its last use.
	touchInterval = time.Hour
)

// temporary begins the names of files that are being written.
const temporary = ".new-"

// folder keeps clips as files, the least recently used ones go first. It is safe for concurrent use.
type folder struct {
	path string
	most int64 // bytes
	now  func() time.Time

	mu     sync.Mutex
	byName map[string]*list.Element // of *clipFile
	recent *list.List               // the most recently used one first
	bytes  int64
}

// clipFile is one file of the folder.
type clipFile struct {
	name    string // without its ending
	format  format
	bytes   int64 // on the disk
	touched time.Time
}

// openFolder makes the folder or reads what is in it. Files that are not clips are left alone, except those that a killed process left.
func openFolder(path string, most int64, now func() time.Time) (*folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	f := &folder{path: path, most: most, now: now, byName: make(map[string]*list.Element), recent: list.New()}
	var found []*clipFile
	for _, entry := range entries {
		name, kind := splitName(entry.Name())
		info, err := entry.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasPrefix(entry.Name(), temporary):
			if err := os.Remove(filepath.Join(path, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
		case kind != format{}:
			found = append(found, &clipFile{name, kind, onDisk(info.Size()), info.ModTime()})
		}
	}
	slices.SortFunc(found, func(a, b *clipFile) int { return a.touched.Compare(b.touched) })
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range found {
		f.add(c)
	}
	return f, f.shrink()
}

// fileOf is the file of an element of folder.recent.
func fileOf(e *list.Element) *clipFile {
	c, _ := e.Value.(*clipFile) // nothing else is put into the list
	return c
}

func onDisk(size int64) int64 { return (size + blockSize - 1) / blockSize * blockSize }

// splitName returns the name of a clip and its format; no format for a file that is not a clip.
func splitName(file string) (name string, f format) {
	for _, f := range formats() {
		if name, ok := strings.CutSuffix(file, f.ending); ok && len(name) == nameLength && strings.Trim(name, "0123456789abcdef") == "" {
			return name, f
		}
	}
	return "", format{}
}

// add notes a file as the most recently used one. f.mu is locked.
func (f *folder) add(c *clipFile) {
	if e := f.byName[c.name]; e != nil {
		f.drop(e)
	}
	f.byName[c.name] = f.recent.PushFront(c)
	f.bytes += c.bytes
}

// drop forgets a file. f.mu is locked.
func (f *folder) drop(e *list.Element) {
	c := fileOf(e)
	f.recent.Remove(e)
	delete(f.byName, c.name)
	f.bytes -= c.bytes
}

// shrink removes the least recently used files beyond the bound. f.mu is locked.
func (f *folder) shrink() error {
	var errs []error
	for f.bytes > f.most {
		e := f.recent.Back()
		c := fileOf(e)
		if err := os.Remove(f.file(c)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
		f.drop(e)
	}
	return errors.Join(errs...)
}

func (f *folder) file(c *clipFile) string { return filepath.Join(f.path, c.name+c.format.ending) }

func (f *folder) has(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.byName[name] != nil
}

// open opens a clip for reading; nil if there is none.
func (f *folder) open(name string) (*os.File, format) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.byName[name]
	if e == nil {
		return nil, format{}
	}
	c := fileOf(e)
	file, err := os.Open(f.file(c))
	if err != nil { // somebody removed it: it is made anew
		f.drop(e)
		return nil, format{}
	}
	f.recent.MoveToFront(e)
	if now := f.now(); now.Sub(c.touched) > touchInterval {
		c.touched = now
		_ = os.Chtimes(f.file(c), time.Time{}, now) // a wrong time makes the clip go earlier, no more
	}
	return file, c.format
}

// keep stores a clip, whole or not at all.
func (f *folder) keep(name string, kind format, audio []byte) error {
	fresh, err := os.CreateTemp(f.path, temporary+"*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = fresh.Write(audio)
	err = errors.Join(err, fresh.Close())
	c := &clipFile{name, kind, onDisk(int64(len(audio))), f.now()}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		err = os.Rename(fresh.Name(), f.file(c))
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh.Name()))
	}
	f.add(c)
	return f.shrink()
}
