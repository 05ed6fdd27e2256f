package region

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Modes of the regions. Only the account of the service may read them, like everything else in the data directory,
// unless the operator opens the folder to others by its mode. Then the files get the same read permissions.
const (
	folderMode = 0o700
	fileMode   = 0o600
	// formerMode is the mode of folders that earlier versions made, readable for everybody. It does not count as the
	// operator's choice, because it cannot be distinguished from the old default.
	formerMode = 0o755
	readBits   = 0o044
)

// admit gives a new file the mode that follows from the folder's and, if root imports for the account of a service, the
// folder's owner.
func (f Folder) admit(file *os.File) error {
	info, err := os.Stat(string(f))
	if err != nil {
		return err
	}
	mode := fs.FileMode(fileMode)
	if perm := info.Mode().Perm(); perm != formerMode {
		mode |= perm & readBits
	}
	return errors.Join(file.Chmod(mode), giveTo(file.Name(), string(f)))
}

// tighten closes a folder of an earlier version, and the files in it, to other accounts.
func (f Folder) tighten() error {
	info, err := os.Stat(string(f))
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().Perm() != formerMode {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.Name() == currentFile || strings.HasSuffix(entry.Name(), suffix) {
			err = errors.Join(err, os.Chmod(filepath.Join(string(f), entry.Name()), fileMode))
		}
	}
	return errors.Join(err, os.Chmod(string(f), folderMode)) // last, so that the next start repeats an interrupted run
}
