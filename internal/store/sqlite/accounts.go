package sqlite

import (
	"context"

	"wayside/internal/mapdata"
)

const (
	accountColumns = `a.id, a.email, a.role, a.tier, a.created_at, a.language`

	insertAccount        = `INSERT INTO accounts (id, email, role, tier, created_at, language) VALUES (?, ?, ?, ?, ?, ?)`
	selectAccount        = `SELECT ` + accountColumns + ` FROM accounts AS a WHERE a.id = ?`
	selectAccountByEmail = `SELECT ` + accountColumns + ` FROM accounts AS a WHERE a.email = ?`
	selectAccounts       = `SELECT ` + accountColumns + ` FROM accounts AS a ORDER BY a.created_at, a.id`
	updateAccount        = `UPDATE accounts SET role = ?, tier = ? WHERE id = ?`
	updateLanguage       = `UPDATE accounts SET language = ? WHERE id = ?`
)

// scannedAccount is where the columns of an account go.
type scannedAccount struct {
	mapdata.Account
	id      accountID
	created instant
}

func (s *scannedAccount) columns() []any {
	return []any{&s.id, &s.Email, &s.Role, &s.Tier, &s.created, &s.Language}
}

func (s *scannedAccount) account() *mapdata.Account {
	s.ID, s.CreatedAt = s.id.AccountID, s.created.Time
	return &s.Account
}

func scanAccount(r row) (*mapdata.Account, error) {
	var s scannedAccount
	if err := r.Scan(s.columns()...); err != nil {
		return nil, err
	}
	return s.account(), nil
}

// CreateAccount stores an account, or fails with mapdata.ErrConflict when the address has one.
func (db *DB) CreateAccount(ctx context.Context, a *mapdata.Account) error {
	return db.write(ctx, "create account", func(w *writing) error {
		_, err := w.ExecContext(ctx, insertAccount, a.ID[:], a.Email, a.Role, a.Tier, millis(a.CreatedAt), a.Language)
		return err
	})
}

// Account reads an account, or fails with mapdata.ErrNotFound.
func (db *DB) Account(ctx context.Context, id mapdata.AccountID) (*mapdata.Account, error) {
	a, err := scanAccount(db.reader.QueryRowContext(ctx, selectAccount, id[:]))
	return a, failure("read account", err)
}

// AccountByEmail reads the account of an address, or fails with mapdata.ErrNotFound.
func (db *DB) AccountByEmail(ctx context.Context, email string) (*mapdata.Account, error) {
	a, err := scanAccount(db.reader.QueryRowContext(ctx, selectAccountByEmail, email))
	return a, failure("find account", err)
}

// Accounts lists all accounts, oldest first.
func (db *DB) Accounts(ctx context.Context) ([]mapdata.Account, error) {
	all, err := list(ctx, db, selectAccounts, func(r row) (mapdata.Account, error) {
		a, err := scanAccount(r)
		if err != nil {
			return mapdata.Account{}, err
		}
		return *a, nil
	})
	return all, failure("list accounts", err)
}

// UpdateAccount stores role and tier, or fails with mapdata.ErrNotFound.
func (db *DB) UpdateAccount(ctx context.Context, a *mapdata.Account, audit mapdata.AuditEntry) error {
	return db.write(ctx, "update account", func(w *writing) error {
		if err := w.one(ctx, updateAccount, a.Role, a.Tier, a.ID[:]); err != nil {
			return err
		}
		return w.audit(ctx, audit)
	})
}

// SetLanguage stores what an account's pages and letters are written in, or fails with mapdata.ErrNotFound.
func (db *DB) SetLanguage(ctx context.Context, account mapdata.AccountID, language mapdata.Language) error {
	return db.write(ctx, "store language", func(w *writing) error { return w.one(ctx, updateLanguage, language, account[:]) })
}

// list reads a short result.
func list[T any](ctx context.Context, db *DB, query string, scan func(row) (T, error), args ...any) ([]T, error) {
	rows, err := db.reader.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
