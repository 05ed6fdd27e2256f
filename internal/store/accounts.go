package store

import (
	"context"

	"wayside/internal/ground/mapdata"
)

const (
	accountColumns = `a.id, a.email, a.role, a.tier, a.created_at, a.language, a.suspended_at, a.suspend_reason, a.public_name`

	insertAccount        = `INSERT INTO accounts (id, email, role, tier, created_at, language) VALUES ($1, $2, $3, $4, $5, $6)`
	selectAccount        = `SELECT ` + accountColumns + ` FROM accounts AS a WHERE a.id = $1`
	selectAccountByEmail = `SELECT ` + accountColumns + ` FROM accounts AS a WHERE a.email = $1`
	selectAccounts       = `SELECT ` + accountColumns + ` FROM accounts AS a WHERE a.email <> '' ORDER BY a.created_at, a.id`
	insertBuiltinOwner   = `INSERT INTO accounts (id, email, role, tier, created_at, language) VALUES ($1, '', $2, $3, $4, '') ON CONFLICT (id) DO NOTHING`
	updateAccount        = `UPDATE accounts SET role = $1, tier = $2 WHERE id = $3`
	updatePublicName     = `UPDATE accounts SET public_name = $1 WHERE id = $2`
	updateLanguage       = `UPDATE accounts SET language = $1 WHERE id = $2`
)

// scannedAccount holds the scan destinations of an account's columns.
type scannedAccount struct {
	mapdata.Account
	id        AccountID
	created   instant
	suspended instant
}

func (s *scannedAccount) columns() []any {
	return []any{&s.id, &s.Email, &s.Role, &s.Tier, &s.created, &s.Language, &s.suspended, &s.Suspension.Reason, &s.PublicName}
}

func (s *scannedAccount) account() *mapdata.Account {
	s.ID, s.CreatedAt, s.Suspension.At = s.id.AccountID, s.created.Time, s.suspended.Time
	return &s.Account
}

func scanAccount(r Row) (*mapdata.Account, error) {
	var s scannedAccount
	if err := r.Scan(s.columns()...); err != nil {
		return nil, err
	}
	return s.account(), nil
}

// CreateAccount stores an account, or fails with mapdata.ErrConflict when the address has one.
func (db *Scripts) CreateAccount(ctx context.Context, a *mapdata.Account) error {
	return db.backend.Write(ctx, "create account", func(tx *Tx) error {
		_, err := tx.Exec(ctx, insertAccount, a.ID[:], a.Email, a.Role, a.Tier, Millis(a.CreatedAt), a.Language)
		return err
	})
}

// Account reads an account, or fails with mapdata.ErrNotFound.
func (db *Scripts) Account(ctx context.Context, id mapdata.AccountID) (*mapdata.Account, error) {
	a, err := scanAccount(db.backend.QueryRow(ctx, selectAccount, id[:]))
	return a, db.backend.Failure("read account", err)
}

// AccountByEmail reads the account of an address, or fails with mapdata.ErrNotFound.
func (db *Scripts) AccountByEmail(ctx context.Context, email string) (*mapdata.Account, error) {
	a, err := scanAccount(db.backend.QueryRow(ctx, selectAccountByEmail, email))
	return a, db.backend.Failure("find account", err)
}

// Accounts lists all accounts, oldest first.
func (db *Scripts) Accounts(ctx context.Context) ([]mapdata.Account, error) {
	all, err := List(ctx, db.backend, selectAccounts, func(r Row) (mapdata.Account, error) {
		a, err := scanAccount(r)
		if err != nil {
			return mapdata.Account{}, err
		}
		return *a, nil
	})
	return all, db.backend.Failure("list accounts", err)
}

// UpdateAccount stores role and tier, and ends the account's approvals of screens; or it fails with mapdata.ErrNotFound.
func (db *Scripts) UpdateAccount(ctx context.Context, a *mapdata.Account, audit mapdata.AuditEntry) error {
	return db.backend.Write(ctx, "update account", func(tx *Tx) error {
		if err := tx.one(ctx, updateAccount, a.Role, a.Tier, a.ID[:]); err != nil {
			return err
		}
		if err := tx.endApprovals(ctx, a.ID); err != nil {
			return err
		}
		tx.raiseAccount(a.ID)
		return tx.audit(ctx, audit)
	})
}

// SetLanguage stores the language of an account's pages and e-mails, or fails with mapdata.ErrNotFound.
func (db *Scripts) SetLanguage(ctx context.Context, account mapdata.AccountID, language mapdata.Language) error {
	return db.backend.Write(ctx, "store language", func(tx *Tx) error { return tx.one(ctx, updateLanguage, language, account[:]) })
}

// SetPublicName stores the name of an account in the catalogue of apps, or fails with mapdata.ErrNotFound. It raises a
// revision, so that nodes reread the catalogue.
func (db *Scripts) SetPublicName(ctx context.Context, account mapdata.AccountID, name string) error {
	return db.backend.Write(ctx, "store public name", func(tx *Tx) error {
		if err := tx.one(ctx, updatePublicName, name, account[:]); err != nil {
			return err
		}
		return tx.raiseAppsOf(ctx, account)
	})
}
