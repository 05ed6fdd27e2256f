package sqlite

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"wayside/internal/ground/mapdata"
)

// TestReplacedPlacesLeaveTheFiles replaces and deletes an account's saved places while checkpoints run, and checks that the sealed bytes
// disappear from all files of the data directory: replaced ones as soon as deleted ones, not only when the log is emptied once a minute
// (D11.11).
func TestReplacedPlacesLeaveTheFiles(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, db *DB, id mapdata.AccountID) error{
		"replaced": func(ctx context.Context, db *DB, id mapdata.AccountID) error {
			return db.SetSavedPlaces(ctx, id, bytes.Repeat([]byte("new"), 100))
		},
		"deleted": func(ctx context.Context, db *DB, id mapdata.AccountID) error { return db.DeleteSavedPlaces(ctx, id) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			db := openAt(t, filepath.Join(dir, "wayside.db"), Options{})
			account := &mapdata.Account{ID: mapdata.AccountID{1}, Email: "ada@example.org", CreatedAt: start}
			if err := db.CreateAccount(t.Context(), account); err != nil {
				t.Fatal(err)
			}
			mark := bytes.Repeat([]byte("sealed-before-"), 20)
			if err := db.SetSavedPlaces(t.Context(), account.ID, mark); err != nil {
				t.Fatal(err)
			}
			if err := db.removeTraces(t.Context(), db.writer); err != nil {
				t.Fatal(err)
			}
			if len(filesWith(t, dir, mark[:14])) == 0 {
				t.Fatal("no file holds the places that are kept")
			}
			if err := end(t.Context(), db, account.ID); err != nil {
				t.Fatal(err)
			}
			if !db.erased.Load() {
				t.Fatal("the log would be emptied only with the minute's other checkpoints")
			}
			ctx, cancel := context.WithCancel(t.Context())
			var job sync.WaitGroup
			job.Go(func() {
				if err := db.RunCheckpoints(ctx); err != nil {
					t.Error(err)
				}
			})
			defer job.Wait()
			defer cancel()
			for deadline := time.After(time.Minute); len(filesWith(t, dir, mark[:14])) > 0; {
				select {
				case <-deadline:
					t.Fatalf("%v hold them after a minute", filesWith(t, dir, mark[:14]))
				case <-time.After(10 * time.Millisecond):
				}
			}
		})
	}
}

// filesWith lists the files of a directory that contain a text.
func filesWith(t *testing.T, dir string, text []byte) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the database removed it in the meantime
		}
		if bytes.Contains(content, text) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
