package cli

import (
	"bytes"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// What lies in a data directory beside the database.
const (
	lockFile     = "serve.lock"
	keyFile      = "secret.key"
	outboxFolder = "outbox" // letters as files
	spoolFolder  = "spool"  // bodies of polls under way
)

// keyBytes is the length of the secret key.
const keyBytes = 32

// makeDataDir makes the data directory, for its owner alone, unless it is there.
func makeDataDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	return nil
}

// lockDataDir takes the data directory for one process that serves it, or restores it; commands that work beside a
// running service do not ask. The lock ends with the process, however it ends.
func lockDataDir(dir string) (release func() error, err error) {
	lock := flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))
	taken, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data directory: %w", err)
	}
	if !taken {
		return nil, fmt.Errorf("the data directory %s is in use by another wayside serve; stop it first, or name another with --data-dir", dir)
	}
	return lock.Close, nil
}

// secretKey reads the key that secrets are sealed with (D5.2), and makes it at the first start. It lies outside the
// database, so that a copy of the database alone gives no secret away.
func secretKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, keyFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeKey(path); err != nil {
			return nil, fmt.Errorf("make the secret key: %w", err)
		}
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("read the secret key: %w", err)
	}
	key, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("%s is damaged: it must hold %d hexadecimal digits; put it back from a backup", path, 2*keyBytes)
	}
	return key, nil
}

// makeKey writes a fresh key beside path and gives it its name in one step, so that of two processes that start at the
// same time both read the same whole key.
func makeKey(path string) error {
	key := make([]byte, keyBytes)
	_, _ = rand.Read(key) // never fails
	fresh, err := os.CreateTemp(filepath.Dir(path), keyFile+".*")
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
	return errors.Join(err, os.Remove(fresh.Name()))
}

// derivedKey makes a key for one use, so that no two uses share one.
func derivedKey(secret []byte, use string) ([]byte, error) {
	return hkdf.Key(sha256.New, secret, nil, "wayside "+use, keyBytes)
}
