package region

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Names in a folder of regions.
const (
	suffix      = ".region"
	currentFile = "current" // contains the ID of the current region
	lockFile    = "import.lock"
	importing   = ".import-" // begins the name of a file that is being written
	switching   = ".current-"
)

// maxCurrent is the maximum size of the file that names the current region, in bytes.
const maxCurrent = 64

// Folder is a folder of region files, of which one is current.
type Folder string

// ErrUnknown is returned for a region that does not exist.
var ErrUnknown = errors.New("there is no such region: wayside region list names those that are there")

// ErrNone is returned if no region is current.
var ErrNone = errors.New("no region is current: import one with wayside region import")

// ErrBusy is returned while another process imports or removes a region.
var ErrBusy = errors.New("another import is under way in this data directory: wait until it ends")

// Path returns the path of a region's file.
func (f Folder) Path(id string) string { return filepath.Join(string(f), id+suffix) }

// Current returns the ID of the current region, or "" if there is none.
func (f Folder) Current() (string, error) {
	in, err := os.Open(filepath.Join(string(f), currentFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	text := make([]byte, maxCurrent+1)
	n, err := in.Read(text)
	if err = errors.Join(err, in.Close()); err != nil && n == 0 {
		return "", fmt.Errorf("read which region is current: %w", err)
	}
	id := strings.TrimSpace(string(text[:n]))
	if !ValidID(id) {
		return "", fmt.Errorf("the file %s names no region: import one again", filepath.Join(string(f), currentFile))
	}
	return id, nil
}

// Choose returns the ID of an existing region: the current one if id is empty.
func (f Folder) Choose(id string) (string, error) {
	if id == "" {
		current, err := f.Current()
		if err == nil && current == "" {
			err = ErrNone
		}
		return current, err
	}
	if !ValidID(id) {
		return "", ErrUnknown
	}
	if _, err := os.Stat(f.Path(id)); errors.Is(err, fs.ErrNotExist) {
		return "", ErrUnknown
	} else if err != nil {
		return "", err
	}
	return id, nil
}

// Listed is a region file of a folder.
type Listed struct {
	ID       string
	Current  bool
	Bytes    int64
	Imported time.Time
	About    *About // nil: the file cannot be read
	Err      error  // why
}

// List lists the regions of a folder by the time of their import, the newest first. It verifies only the parts of the
// files that it reads.
func (f Folder) List(ctx context.Context) ([]Listed, error) {
	entries, err := os.ReadDir(string(f))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	current, err := f.Current()
	if err != nil {
		current = "" // the name is damaged, so none is current
	}
	var all []Listed
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), suffix)
		if !ok || !ValidID(id) {
			continue
		}
		info, err := entry.Info()
		if err != nil {
			continue // the file was removed meanwhile
		}
		one := Listed{ID: id, Current: id == current, Bytes: info.Size(), Imported: info.ModTime()}
		one.About, one.Err = readAbout(ctx, f.Path(id))
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b Listed) int { return b.Imported.Compare(a.Imported) })
	return all, nil
}

// Shown is a region with the sizes of its sections.
type Shown struct {
	Listed
	Sections []SectionSize
}

// Show verifies every byte of the file of a region and describes it.
func Show(ctx context.Context, path string) (_ *Shown, err error) {
	in, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	if err := in.verify(ctx); err != nil {
		return nil, err
	}
	text, err := in.read(ctx, aboutSection)
	if err != nil {
		return nil, err
	}
	out := &Shown{Listed: Listed{Bytes: in.info.Size(), Imported: in.info.ModTime()}}
	for _, s := range in.sections {
		out.Sections = append(out.Sections, SectionSize{s.name, s.length})
	}
	if out.About, err = parseAbout(text); err != nil {
		return nil, err
	}
	out.ID = out.About.ID
	return out, nil
}

// Show verifies every byte of a region and describes it.
func (f Folder) Show(ctx context.Context, id string) (*Shown, error) {
	current, err := f.Current()
	if err != nil {
		return nil, err
	}
	out, err := Show(ctx, f.Path(id))
	if err != nil {
		return nil, err
	}
	out.Current = id == current
	return out, nil
}

// readAbout reads the description in a file.
func readAbout(ctx context.Context, path string) (_ *About, err error) {
	in, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.close()) }()
	text, err := in.read(ctx, aboutSection)
	if err != nil {
		return nil, err
	}
	return parseAbout(text)
}

// Remove removes a region. If it is the current one, no region is current afterwards. A service that has it mapped can
// go on reading it.
func (f Folder) Remove(id string) (wasCurrent bool, err error) {
	if id, err = f.Choose(id); err != nil {
		return false, err
	}
	release, err := f.lock()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, release()) }()
	current, err := f.Current()
	if err == nil && current == id {
		wasCurrent = true
		if err := os.Remove(filepath.Join(string(f), currentFile)); err != nil {
			return false, err
		}
	}
	if err := os.Remove(f.Path(id)); errors.Is(err, fs.ErrNotExist) {
		return wasCurrent, ErrUnknown
	} else if err != nil {
		return wasCurrent, err
	}
	return wasCurrent, syncFolder(string(f))
}

// RemoveOld removes all regions except the current one, and returns their IDs. It removes none if no region is current.
func (f Folder) RemoveOld() (removed []string, err error) {
	if _, err := os.Stat(string(f)); errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	release, err := f.lock()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	current, err := f.Choose("")
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), suffix)
		if !ok || !ValidID(id) || id == current {
			continue
		}
		if err := os.Remove(f.Path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed = append(removed, id)
	}
	return removed, syncFolder(string(f))
}

// Sweep removes the temporary files of a killed import. It does nothing while an import is running.
func (f Folder) Sweep() error {
	if _, err := os.Stat(string(f)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	release, err := f.lock()
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	return release()
}

// lockTimeout is how long lock waits for a starting service that removes leftovers, which takes milliseconds.
const (
	lockTimeout = 300 * time.Millisecond
	lockRetry   = 10 * time.Millisecond
)

// lock locks the folder for one import or removal, and removes the leftovers of an earlier one. The operating system
// ends the lock with its process. The lock file is removed with the lock, so that a failed import leaves nothing. So
// after locking, a process must check that its file is still the one with this name.
func (f Folder) lock() (release func() error, err error) {
	path := filepath.Join(string(f), lockFile)
	for {
		lock := flock.New(path, flock.SetPermissions(0o600))
		ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
		taken, err := lock.TryLockContext(ctx, lockRetry)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, fmt.Errorf("lock the folder of regions: %w", errors.Join(err, lock.Close()))
		}
		if !taken {
			return nil, errors.Join(ErrBusy, lock.Close())
		}
		mine, err := lock.Stat()
		if err != nil {
			return nil, errors.Join(err, lock.Close())
		}
		if named, err := os.Stat(path); err != nil || !os.SameFile(mine, named) {
			if err := lock.Close(); err != nil {
				return nil, err
			}
			continue // the file was removed between opening and locking
		}
		if err := f.removeLeftovers(); err != nil {
			return nil, errors.Join(err, lock.Close())
		}
		return func() error { return errors.Join(os.Remove(path), lock.Close()) }, nil
	}
}

// removeLeftovers removes temporary files. The caller must have the lock.
func (f Folder) removeLeftovers() error {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), importing) || strings.HasPrefix(entry.Name(), switching) || strings.HasPrefix(entry.Name(), serving) {
			err = errors.Join(err, os.Remove(filepath.Join(string(f), entry.Name())))
		}
	}
	return err
}

// setCurrent makes a region the current one, durably.
func (f Folder) setCurrent(id string) (err error) {
	fresh, err := os.CreateTemp(string(f), switching+"*")
	if err != nil {
		return err
	}
	_, err = fresh.WriteString(id + "\n")
	if err = errors.Join(err, f.admit(fresh), fresh.Sync(), fresh.Close()); err == nil {
		err = os.Rename(fresh.Name(), filepath.Join(string(f), currentFile))
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh.Name()))
	}
	return syncFolder(string(f))
}

// syncFolder flushes the entries of a folder to the disk.
func syncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
