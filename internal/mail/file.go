package mail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	gomail "github.com/wneessen/go-mail"

	"wayside/internal/mapdata"
)

// folder writes e-mails as .eml files, for use without an SMTP server.
type folder struct{ dir string }

// write writes a file atomically, readable by the service's own account only: it may contain a sign-in link. The file's name
// contains time and kind, but not the recipient.
func (f folder) write(_ context.Context, l *mapdata.Email, msg *gomail.Msg, now time.Time) (name string, err error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return "", fmt.Errorf("make outbox folder: %w", err)
	}
	file, err := os.CreateTemp(f.dir, ".letter-*") // with mode 0600
	if err != nil {
		return "", fmt.Errorf("write letter: %w", err)
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
		return "", fmt.Errorf("write letter: %w", err)
	}
	name = fmt.Sprintf("%s-%s-%d.eml", now.Format("20060102T150405.000Z"), l.Kind, l.ID)
	if err = os.Rename(file.Name(), filepath.Join(f.dir, name)); err != nil {
		return "", fmt.Errorf("write letter: %w", err)
	}
	return name, nil
}
