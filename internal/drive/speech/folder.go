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
	blockSize = 4 << 10   // assumed minimum size of a file on disk, in bytes; it bounds the number of files
	// touchInterval is how old a file's modification time may get before it is set again. A restart takes the time of
	// last use from it.
	touchInterval = time.Hour
)

// temporary begins the names of files that are being written.
const temporary = ".new-"

// folder keeps clips as files, and removes the least recently used ones first. It is safe for concurrent use.
type folder struct {
	path string
	most int64 // bytes
	now  func() time.Time

	mu     sync.Mutex
	byName map[string]*list.Element // of *clipFile
	recent *list.List               // the most recently used first
	bytes  int64
}

// clipFile is a file of the folder.
type clipFile struct {
	name    string // without its extension
	format  format
	bytes   int64 // on disk
	touched time.Time
}

// openFolder creates the folder, or reads its contents. It leaves files that are not clips alone, except temporary files
// of a killed process.
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

// fileOf returns the file of an element of folder.recent.
func fileOf(e *list.Element) *clipFile {
	c, _ := e.Value.(*clipFile) // the list contains nothing else
	return c
}

func onDisk(size int64) int64 { return (size + blockSize - 1) / blockSize * blockSize }

// splitName returns the name and the format of a clip, or no format if the file is not a clip.
func splitName(file string) (name string, f format) {
	for _, f := range formats() {
		if name, ok := strings.CutSuffix(file, f.ending); ok && len(name) == nameLength && strings.Trim(name, "0123456789abcdef") == "" {
			return name, f
		}
	}
	return "", format{}
}

// add records a file as the most recently used one. The caller must hold f.mu.
func (f *folder) add(c *clipFile) {
	if e := f.byName[c.name]; e != nil {
		f.drop(e)
	}
	f.byName[c.name] = f.recent.PushFront(c)
	f.bytes += c.bytes
}

// drop forgets a file. The caller must hold f.mu.
func (f *folder) drop(e *list.Element) {
	c := fileOf(e)
	f.recent.Remove(e)
	delete(f.byName, c.name)
	f.bytes -= c.bytes
}

// shrink removes the least recently used files beyond the bound. The caller must hold f.mu.
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

// open opens a clip for reading. It returns nil if there is none.
func (f *folder) open(name string) (*os.File, format) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.byName[name]
	if e == nil {
		return nil, format{}
	}
	c := fileOf(e)
	file, err := os.Open(f.file(c))
	if err != nil { // the file was removed by someone else and must be made again
		f.drop(e)
		return nil, format{}
	}
	f.recent.MoveToFront(e)
	if now := f.now(); now.Sub(c.touched) > touchInterval {
		c.touched = now
		_ = os.Chtimes(f.file(c), time.Time{}, now) // with a wrong time the clip is only removed earlier
	}
	return file, c.format
}

// keep stores a clip, either completely or not at all.
func (f *folder) keep(name string, kind format, audio []byte) error {
	fresh, err := os.CreateTemp(f.path, temporary+"*") // has mode 0600
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
