package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	modernc "modernc.org/sqlite"

	"wayside/internal/ground/mapdata"
	"wayside/internal/store"
)

// backupPages is the number of pages that are copied between two checks of the context: 2 MiB.
const backupPages = 500

const newEpoch = `UPDATE state SET epoch = lower(hex(randomblob(16))) WHERE id = 1`

// Backup writes a copy of the database as of this moment to a new file, while reads and writes continue. The copy is
// rebuilt from its rows, because free pages, and the unused parts of others, may contain deleted data (D11.11). It
// calls progress with the numbers of copied and of all pages; nil: not reported. The file appears under its name once
// it is complete and durable. Backup fails with mapdata.ErrConflict when the file exists already. The disk needs room
// for two copies.
//
// To put a copy into the database's place, first remove the files whose names end in "-wal" and "-shm", and call
// NewEpoch once it is open.
func (db *DB) Backup(ctx context.Context, destFile string, progress func(done, total int)) (err error) {
	if _, err := os.Lstat(destFile); !errors.Is(err, os.ErrNotExist) {
		return failure("back up", errors.Join(mapdata.Describe(mapdata.ErrConflict, "There is a file of this name already."), err))
	}
	full, err := filepath.Abs(destFile)
	if err != nil {
		return failure("back up", err)
	}
	copied, part := full+".copy", full+".part"
	for _, path := range []string{copied, part} {
		if err := makePrivate(path); err != nil {
			return failure("back up", err)
		}
		defer func() {
			if removeErr := os.Remove(path); !errors.Is(removeErr, os.ErrNotExist) {
				err = errors.Join(err, removeErr)
			}
		}()
	}
	if err := db.copyTo(ctx, copied, progress); err != nil {
		return err
	}
	if err := rebuild(ctx, copied, part); err != nil {
		return failure("back up", err)
	}
	if err := syncFile(part); err != nil {
		return failure("back up", err)
	}
	if err := os.Rename(part, destFile); err != nil {
		return failure("back up", err)
	}
	if err := syncFile(filepath.Dir(destFile)); err != nil {
		return failure("back up", err)
	}
	return nil
}

// makePrivate creates an empty file that only its owner can read, because a copy contains the same data as the
// database.
func makePrivate(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_RDWR, filePermissions)
	if err != nil {
		return err
	}
	return errors.Join(file.Chmod(filePermissions), file.Close())
}

// syncFile makes a file, or the names in a directory, durable.
func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// copyTo copies page by page within one read transaction, so that concurrent writes neither show in the copy nor
// restart it.
func (db *DB) copyTo(ctx context.Context, path string, progress func(done, total int)) error {
	return db.read(ctx, "back up", func(r *readTx) error {
		// A transaction begins at its first read.
		if _, err := db.StateIn(ctx, r); err != nil {
			return err
		}
		return r.conn.Raw(func(raw any) error {
			source, ok := raw.(interface {
				NewBackup(uri string) (*modernc.Backup, error)
			})
			if !ok {
				return fmt.Errorf("driver connection %T cannot back up", raw)
			}
			backup, err := source.NewBackup(dsn(path, url.Values{}, "journal_mode(OFF)", "synchronous(OFF)"))
			if err != nil {
				return err
			}
			err = copyPages(ctx, backup, progress)
			return errors.Join(err, backup.Finish())
		})
	})
}

// rebuild writes the rows of a database file, which no other connection has open, into an empty file. The copying
// before it takes a fraction of the time, during which the write-ahead log cannot restart from its beginning.
func rebuild(ctx context.Context, from, to string) (err error) {
	db, err := sql.Open("sqlite", dsn(from, url.Values{}, "journal_mode(OFF)", "synchronous(OFF)"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, `VACUUM INTO ?`, to)
	return err
}

func copyPages(ctx context.Context, backup *modernc.Backup, progress func(done, total int)) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := backup.Step(backupPages)
		if err != nil {
			return err
		}
		if progress != nil {
			total := backup.PageCount()
			progress(total-backup.Remaining(), total)
		}
		if !more {
			return nil
		}
	}
}

// NewEpoch makes every follower reload everything, because revisions have another meaning after a restore.
func (db *DB) NewEpoch(ctx context.Context) error {
	return db.backend.Write(ctx, "begin a new epoch", func(tx *store.Tx) error {
		_, err := tx.Exec(ctx, newEpoch)
		return err
	})
}
