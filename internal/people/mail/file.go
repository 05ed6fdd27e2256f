package mail

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"wayside/internal/ground/mapdata"
)

const (
	keepFiles  = 24 * time.Hour   // they contain addresses and sign-in links (D11.11)
	cleanEvery = 10 * time.Minute // interval of the search for files that are too old
)

// A file's name begins with its time and ends with fileEnding. One that is being written begins with partPrefix.
const (
	fileTime   = "20060102T150405.000Z"
	fileEnding = ".eml"
	partPrefix = ".email-"
)

// folder writes e-mails as .eml files, for use without an SMTP server.
type folder struct{ dir string }

// clean removes files that are older than keepFiles, by the time in their names, and incomplete files of a process that stopped. Other
// files stay.
func (f folder) clean(now time.Time) error {
	entries, err := os.ReadDir(f.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if written, ok := writtenAt(entry); ok && now.Sub(written) >= keepFiles {
			err = errors.Join(err, os.Remove(filepath.Join(f.dir, entry.Name())))
		}
	}
	return err
}

// writtenAt returns when one of this package's files was written. ok is false for other files.
func writtenAt(entry fs.DirEntry) (at time.Time, ok bool) {
	name := entry.Name()
	switch {
	case !entry.Type().IsRegular():
	case strings.HasPrefix(name, partPrefix):
		info, err := entry.Info()
		if err == nil {
			return info.ModTime(), true
		}
	case strings.HasSuffix(name, fileEnding) && len(name) > len(fileTime):
		at, err := time.Parse(fileTime, name[:len(fileTime)])
		return at, err == nil
	}
	return time.Time{}, false
}

// write writes a file atomically, readable only by the service's own account, because it may contain a sign-in link. The file's name
// contains time and kind, but not the recipient.
func (f folder) write(_ context.Context, l *mapdata.Email, msg *gomail.Msg, now time.Time) (name string, err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return "", fmt.Errorf("make outbox folder: %w", err)
	}
	file, err := os.CreateTemp(f.dir, partPrefix+"*") // with mode 0600
	if err != nil {
		return "", fmt.Errorf("write e-mail: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	_, err = msg.WriteTo(file)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("write e-mail: %w", err)
	}
	name = fmt.Sprintf("%s-%s-%d%s", now.Format(fileTime), l.Kind, l.ID, fileEnding)
	if err = os.Rename(file.Name(), filepath.Join(f.dir, name)); err != nil {
		return "", fmt.Errorf("write e-mail: %w", err)
	}
	return name, nil
}
