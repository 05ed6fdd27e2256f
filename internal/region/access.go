package region

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Who may read the regions: the account of the service alone, as with everything else in the data directory, unless the operator opens
// the folder to others by its mode. Then the files are readable for whom it is.
const (
	folderMode = 0o700
	fileMode   = 0o600
	// formerMode is that of folders which earlier versions made, readable for everybody. No operator's choice tells from it, so it is none.
	formerMode = 0o755
	readBits   = 0o044
)

// admit gives a new file the mode that the folder's asks for, and the folder's owner where root imports for the account of a service.
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
	return errors.Join(err, os.Chmod(string(f), folderMode)) // last: an interruption is made up for at the next start
}
