package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// AddressFile holds the address of the service that serves the data directory, for commands that print links.
const AddressFile = "serve.address"

// maxAddressFile is the largest address file that is read, in bytes.
const maxAddressFile = 4 << 10

// Address is where callers reach the running service. The file has one URL on each line.
type Address struct {
	BaseURL string // as in links and e-mails
	Local   string // URL of the node from its own machine
}

// WriteAddress writes the address of the service that holds the lock, atomically.
func WriteAddress(dir string, a Address) error {
	return replaceFile(filepath.Join(dir, AddressFile), []byte(a.BaseURL+"\n"+a.Local+"\n"))
}

// RemoveAddress removes the address when the service stops.
func RemoveAddress(dir string) error {
	if err := os.Remove(filepath.Join(dir, AddressFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RunningAddress returns the address of the service that serves the data directory; ok is false if none runs. A file that a
// killed service left is ignored: the operating system has released its lock.
func RunningAddress(dir string) (a Address, ok bool, err error) {
	path := filepath.Join(dir, AddressFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Address{}, false, nil
	}
	if err != nil || info.Size() > maxAddressFile {
		return Address{}, false, err
	}
	lock := flock.New(filepath.Join(dir, LockFile), flock.SetPermissions(0o600))
	free, err := lock.TryRLock()
	if err != nil || free {
		return Address{}, false, errors.Join(err, lock.Close())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Address{}, false, err
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "http") { // a damaged file counts as missing: the configuration is used
		return Address{}, false, nil
	}
	return Address{BaseURL: lines[0], Local: lines[1]}, true, nil
}

// replaceFile replaces a file atomically: readers see all of it or nothing.
func replaceFile(path string, text []byte) error {
	fresh, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = fresh.Write(text)
	if err = errors.Join(err, fresh.Close()); err == nil {
		err = os.Rename(fresh.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh.Name()))
	}
	return nil
}
