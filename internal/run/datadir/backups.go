package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// BackupFile holds the time of the last backup that wayside backup made.
const BackupFile = "last-backup"

// NoteBackup records that a backup was made.
func NoteBackup(dir string, at time.Time) error {
	path := filepath.Join(dir, BackupFile)
	if err := replaceFile(path, []byte(at.UTC().Format(time.RFC3339)+"\n")); err != nil {
		return err
	}
	return os.Chmod(path, 0o644) //nolint:gosec // no secret: another account than that of the backup may ask for its age
}

// LastBackup returns when the last backup was made; the zero time if none is known.
func LastBackup(dir string) (time.Time, error) {
	text, err := os.ReadFile(filepath.Join(dir, BackupFile))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, strings.TrimSpace(string(text)))
	if err != nil {
		return time.Time{}, nil //nolint:nilerr // a damaged note is as good as none
	}
	return at, nil
}
