package testenv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	folderPrefix = "wayside-testenv-"
	lockName     = ".lock"
	minAbandoned = time.Minute // a younger folder without a lock may belong to a process that is just creating it
)

// folder holds a server's files. It is locked for as long as the process that created it lives.
type folder struct {
	path string
	lock *os.File
}

// newFolder creates a folder for the user, and removes the folders of processes that were killed.
func newFolder(user *syscall.Credential) (*folder, error) {
	sweep(os.TempDir())
	path, err := os.MkdirTemp("", folderPrefix)
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	f := &folder{path: path}
	if f.lock, err = lockFile(filepath.Join(path, lockName), syscall.LOCK_EX); err == nil && user != nil {
		err = os.Chown(path, int(user.Uid), int(user.Gid))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a folder: %w", err), f.remove())
	}
	return f, nil
}

func (f *folder) remove() error {
	err := os.RemoveAll(f.path)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// lockFile opens a file, creating it if necessary, and locks it. A child process does not inherit the lock.
func lockFile(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), how); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// sweep removes folders that no process has locked. A folder that cannot be removed belongs to another user.
func sweep(in string) {
	all, err := filepath.Glob(filepath.Join(in, folderPrefix+"*"))
	if err != nil { // only a bad pattern fails
		return
	}
	for _, path := range all {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < minAbandoned {
			continue
		}
		lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR, 0)
		switch {
		case errors.Is(err, os.ErrNotExist):
		case err != nil:
			continue
		case syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil:
			lock.Close() //nolint:errcheck // nothing was written
			continue
		default:
			lock.Close() //nolint:errcheck // nothing was written
		}
		os.RemoveAll(path) //nolint:errcheck // the next sweep tries again
	}
}
