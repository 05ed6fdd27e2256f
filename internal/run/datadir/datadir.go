// Package datadir manages the contents of a data directory: the embedded database, the lock of the process that serves it, the
// secret key and the keys derived from it, and folders for e-mails, for bodies of polls and for regions.
package datadir

import (
	"bytes"
	"context"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// The contents of a data directory.
const (
	DatabaseFile   = "wayside.db" // the embedded database
	LockFile       = "serve.lock"
	KeyFile        = "secret.key"
	NextKeyFile    = "secret.key.next" // while the key is replaced
	OutboxFolder   = "outbox"          // e-mails as files
	SpoolFolder    = "spool"           // bodies of polls under way
	RegionFolder   = "region"          // region files; see package region
	SpeechFolder   = "speech"          // announcements as sound; see package speech
	ExtractsFolder = "extracts"        // extracts that admins can import from a page
)

// KeyBytes is the length of the secret key and of derived keys.
const KeyBytes = 32

// Make makes the data directory, for its owner alone, unless it exists.
func Make(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	return nil
}

// NoDataError is the error for a data directory without data.
type NoDataError struct {
	Dir  string // as in the configuration
	File string // what is missing in it; empty: the directory itself
}

func (e *NoDataError) Error() string {
	where := e.Dir
	if absolute, err := filepath.Abs(e.Dir); err == nil && absolute != e.Dir {
		where += " (" + absolute + ")"
	}
	if e.File != "" {
		where += ": there is no " + e.File + " in it"
	}
	return "no data in " + where + "; use --data-dir or --config to say where it is, or begin with wayside setup"
}

// Require fails with a *NoDataError unless the data directory has the file; with an empty name, unless the directory exists.
func Require(dir, file string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &NoDataError{Dir: dir}
	case err != nil:
		return fmt.Errorf("look into the data directory: %w", err)
	case !info.IsDir():
		return fmt.Errorf("the data directory %s is a file", dir)
	case file == "":
		return nil
	}
	if _, err = os.Stat(filepath.Join(dir, file)); errors.Is(err, fs.ErrNotExist) {
		return &NoDataError{Dir: dir, File: file}
	}
	return err
}

// lockTimeout is how long Lock waits for commands that test whether the lock is taken, which takes microseconds.
const (
	lockTimeout = 300 * time.Millisecond
	lockRetry   = 10 * time.Millisecond
)

// Lock takes the data directory for the one process that serves or restores it. Commands that work beside a running
// service do not take it. The operating system releases the lock when the process ends.
func Lock(dir string) (release func() error, err error) {
	lock := flock.New(filepath.Join(dir, LockFile), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	taken, err := lock.TryLockContext(ctx, lockRetry)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	if !taken {
		return nil, fmt.Errorf("the data directory %s is in use by another wayside serve; stop it first, or name another with --data-dir", dir)
	}
	return lock.Close, nil
}

// SecretKey reads the key that secrets are sealed with (D5.2), and makes it at the first start. It lies outside the
// database, so that a copy of the database alone reveals no secret. It fails while the key is being replaced.
func SecretKey(dir string) ([]byte, error) {
	if _, err := os.Lstat(filepath.Join(dir, NextKeyFile)); !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("%s is there: replacing the secret key was interrupted; run wayside key rotate once more",
			filepath.Join(dir, NextKeyFile)), err)
	}
	return readOrMakeKey(filepath.Join(dir, KeyFile))
}

// HasKey reports whether there is a secret key.
func HasKey(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, KeyFile))
	return !errors.Is(err, fs.ErrNotExist)
}

// BeginRotation reads the secret key, nil if there is none, and makes the next key durably. If an interrupted rotation has made
// that already, it is read and resumed is true. Until EndRotation, SecretKey returns neither.
func BeginRotation(dir string) (current, next []byte, resumed bool, err error) {
	if HasKey(dir) {
		if current, err = readKey(filepath.Join(dir, KeyFile)); err != nil {
			return nil, nil, false, err
		}
	}
	path := filepath.Join(dir, NextKeyFile)
	_, err = os.Lstat(path)
	resumed = !errors.Is(err, fs.ErrNotExist)
	next, err = readOrMakeKey(path)
	return current, next, resumed, err
}

// DropRotation removes a new key with which nothing is sealed.
func DropRotation(dir string) error { return os.Remove(filepath.Join(dir, NextKeyFile)) }

// EndRotation replaces the secret key by the new one, with which everything is sealed by now.
func EndRotation(dir string) error {
	if err := os.Rename(filepath.Join(dir, NextKeyFile), filepath.Join(dir, KeyFile)); err != nil {
		return fmt.Errorf("replace the secret key: %w", err)
	}
	return syncFolder(dir)
}

func readOrMakeKey(path string) ([]byte, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := makeKey(path); err != nil {
			return nil, fmt.Errorf("make the secret key: %w", err)
		}
	}
	return readKey(path)
}

func readKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the secret key: %w", err)
	}
	key, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(key) != KeyBytes {
		return nil, fmt.Errorf("%s is damaged: it must hold %d hexadecimal digits; put it back from a backup", path, 2*KeyBytes)
	}
	return key, nil
}

// makeKey writes a new key to a temporary file and links it to path. The link is atomic, so that two processes that start
// at the same time read the same complete key.
func makeKey(path string) error {
	key := make([]byte, KeyBytes)
	_, _ = rand.Read(key) // never fails
	fresh, err := os.CreateTemp(filepath.Dir(path), KeyFile+".*")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(fresh, "%x\n", key)
	err = errors.Join(err, fresh.Sync(), fresh.Close())
	if err == nil {
		if err = os.Link(fresh.Name(), path); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	return errors.Join(err, os.Remove(fresh.Name()), syncFolder(filepath.Dir(path)))
}

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// DeriveKey derives a key for one use, so that different uses have independent keys.
func DeriveKey(secret []byte, use string) ([]byte, error) {
	return hkdf.Key(sha256.New, secret, nil, "wayside "+use, KeyBytes)
}
