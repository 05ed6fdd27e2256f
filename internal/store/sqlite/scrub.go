package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"slices"
)

// selectTrees selects the tables and indexes to scrub. SQLite overwrites deleted data (secure_delete), but not earlier
// copies: when it balances a B-tree, copies of the moved cells remain in the unused space of their former page. After
// an erasure that space is zeroed, in all tables but those that contain no texts about people and may have millions of
// rows.
const selectTrees = `SELECT name FROM sqlite_schema WHERE rootpage > 0
	AND tbl_name NOT IN ('entities', 'votes', 'voted', 'changes', 'live', 'attempts')`

// dbstat walks the pages of one tree only where its name is given.
const (
	selectPages = `SELECT p.pgno, p.data FROM dbstat AS s JOIN sqlite_dbpage AS p ON p.pgno = s.pageno
		WHERE s.name = $1 AND s.pagetype IN ('leaf', 'internal')`
	selectPage = `SELECT data FROM sqlite_dbpage WHERE pgno = $1`
	updatePage = `UPDATE sqlite_dbpage SET data = $1 WHERE pgno = $2`
)

// scrub zeroes the unused space of pages. It finds such pages concurrently with the writers, and holds the write lock
// only while it changes them.
func (db *DB) scrub(ctx context.Context, conn *sql.DB) error {
	pages, err := db.dirtyPages(ctx, conn)
	if err != nil || len(pages) == 0 {
		return failure("look for traces of what was erased", err)
	}
	tx, err := db.writer.BeginTx(ctx, nil)
	if err != nil {
		return failure("remove traces of what was erased", err)
	}
	defer tx.Rollback()
	for _, number := range pages {
		var page []byte
		if err := tx.QueryRowContext(ctx, selectPage, number).Scan(&page); err != nil {
			return failure("remove traces of what was erased", err)
		}
		from, to := unusedSpace(page) // computed again, because the page may have changed, or belong to another tree
		clear(page[from:to])
		if _, err := tx.ExecContext(ctx, updatePage, page, number); err != nil {
			return failure("remove traces of what was erased", err)
		}
	}
	return failure("remove traces of what was erased", tx.Commit())
}

// dirtyPages lists the pages whose unused space is not all zeros.
func (db *DB) dirtyPages(ctx context.Context, conn *sql.DB) (dirty []int64, err error) {
	trees, err := treeNames(ctx, conn)
	if err != nil {
		return nil, err
	}
	for _, name := range trees {
		if dirty, err = appendDirtyPages(ctx, conn, name, dirty); err != nil {
			return nil, err
		}
	}
	return dirty, nil
}

// appendDirtyPages appends the dirty pages of one tree.
func appendDirtyPages(ctx context.Context, conn *sql.DB, tree string, dirty []int64) (_ []int64, err error) {
	rows, err := conn.QueryContext(ctx, selectPages, tree)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var number int64
		var page sql.RawBytes
		if err := rows.Scan(&number, &page); err != nil {
			return nil, err
		}
		from, to := unusedSpace(page)
		if slices.ContainsFunc(page[from:to], func(b byte) bool { return b != 0 }) {
			dirty = append(dirty, number)
		}
	}
	return dirty, rows.Err()
}

func treeNames(ctx context.Context, conn *sql.DB) (names []string, err error) {
	rows, err := conn.QueryContext(ctx, selectTrees)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// Layout of the header of a B-tree page, by SQLite's file format (1.6).
const (
	interiorIndex, interiorTable = 0x02, 0x05
	leafIndex, leafTable         = 0x0a, 0x0d

	cellCountAt, cellContentAt = 3, 5 // two bytes each
	leafHeader, interiorHeader = 8, 12
)

// unusedSpace returns the range of a page between the array of cell pointers and the cells, and an empty range for a
// page of another type. It must not be called for the first page, which begins with the file's own header and contains
// only the schema.
func unusedSpace(page []byte) (from, to int) {
	if len(page) < interiorHeader {
		return 0, 0
	}
	switch page[0] {
	case leafIndex, leafTable:
		from = leafHeader
	case interiorIndex, interiorTable:
		from = interiorHeader
	default:
		return 0, 0
	}
	from += 2 * int(binary.BigEndian.Uint16(page[cellCountAt:]))
	to = int(binary.BigEndian.Uint16(page[cellContentAt:]))
	if to == 0 {
		to = 1 << 16
	}
	if from > to || to > len(page) {
		return 0, 0
	}
	return from, to
}
