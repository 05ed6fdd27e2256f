package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"wayside/internal/ground/mapdata"
)

const (
	// The revision is 0 until the app is served, because a submission changes nothing for readers of the catalogue.
	insertApp = `INSERT INTO apps (id, slug, owner, created_at, updated_at, revision) VALUES ($1, $2, $3, $4, $5, $6)`
	updateApp = `UPDATE apps SET updated_at = $2, suspended_at = $3, suspended_note = $4, revision = revision + $5 WHERE id = $1`
	selectApp = `SELECT id, slug, owner, created_at, updated_at, suspended_at, suspended_note,
		COALESCE((SELECT public_name FROM accounts WHERE accounts.id = apps.owner), '') FROM apps`

	selectAppByID     = selectApp + ` WHERE id = $1`
	selectApps        = selectApp + ` ORDER BY created_at, id`
	selectAppsOfOwner = selectApp + ` WHERE owner = $1 ORDER BY created_at, id`
	selectAppsServed  = `SELECT id, revision FROM apps WHERE revision > 0 AND suspended_at IS NULL
		AND owner IN (SELECT id FROM accounts WHERE suspended_at IS NULL)
		AND EXISTS (SELECT 1 FROM app_versions WHERE app = apps.id AND state = 'approved') ORDER BY created_at, id`
	selectAppsSuspended = selectApp + ` WHERE suspended_at IS NOT NULL ORDER BY suspended_at DESC, id LIMIT $1`
	selectAppsPending   = selectApp + ` WHERE owner IS NOT NULL AND id IN (SELECT app FROM app_versions WHERE state = 'pending')
		ORDER BY updated_at, id LIMIT $1`
	countAppsWaiting = `SELECT COUNT(*), COALESCE(SUM(CASE WHEN owner = $1 THEN 1 ELSE 0 END), 0) FROM app_versions JOIN apps ON id = app
		WHERE state = 'pending' AND owner IS NOT NULL`
	countAppsOfOwner   = `SELECT COUNT(*) FROM apps WHERE owner = $1`
	selectAppSlugTaken = `SELECT EXISTS (SELECT 1 FROM apps WHERE slug = $1)`
	selectAppVersions  = `SELECT number, state, fields, report, note, submitted_at, decided_at, page_digest, page_changed_at FROM app_versions WHERE app = $1 ORDER BY number`
	// Lists of apps need the versions that wait or are served, and the newest, without their reports.
	selectAppVersionsListed = `SELECT number, state, fields, '', note, submitted_at, decided_at, page_digest, page_changed_at FROM app_versions WHERE app = $1
		AND (state IN ('pending', 'approved') OR number = (SELECT MAX(number) FROM app_versions WHERE app = $1)) ORDER BY number`
	selectAppVersionServed = `SELECT number, state, fields, '', note, submitted_at, decided_at, page_digest, page_changed_at FROM app_versions WHERE app = $1 AND state = 'approved'`
	replaceAppVersion      = `INSERT INTO app_versions (app, number, state, fields, report, note, submitted_at, decided_at, page_digest, page_changed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		ON CONFLICT (app, number) DO UPDATE SET state = excluded.state, note = excluded.note, decided_at = excluded.decided_at,
			page_digest = excluded.page_digest, page_changed_at = excluded.page_changed_at`
	deleteAppVersion = `DELETE FROM app_versions WHERE app = $1 AND number = $2`
	// The column png holds an SVG too.
	insertAppIcon      = `INSERT INTO app_icons (app, name, png) VALUES ($1, $2, $3) ON CONFLICT (app, name) DO NOTHING`
	selectAppIcon      = `SELECT png FROM app_icons WHERE app = $1 AND name = $2`
	selectAppIconNames = `SELECT name FROM app_icons WHERE app = $1`
	deleteAppIcon      = `DELETE FROM app_icons WHERE app = $1 AND name = $2`
	raiseAppsOf        = `UPDATE apps SET revision = revision + 1 WHERE owner = $1 AND revision > 0`
	deleteAppsUnserved = `DELETE FROM apps WHERE owner = $1 AND revision = 0`
	selectAppRevision  = `SELECT CAST(COALESCE(SUM(revision), 0) AS bigint) FROM apps`
	selectInstalls     = `SELECT account, app, config, hidden, installed_at FROM app_installs WHERE account = $1 ORDER BY installed_at, app`
	selectInstall      = `SELECT account, app, config, hidden, installed_at FROM app_installs WHERE account = $1 AND app = $2`
	countInstalls      = `SELECT COUNT(*) FROM app_installs WHERE account = $1`
	selectAppExists    = `SELECT 1 FROM apps WHERE id = $1`
	replaceInstall     = `INSERT INTO app_installs (account, app, config, hidden, installed_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (account, app) DO UPDATE SET config = excluded.config, hidden = excluded.hidden`
	deleteInstall = `DELETE FROM app_installs WHERE account = $1 AND app = $2`
)

// AppID is a column that holds an app's id.
type AppID struct{ mapdata.AppID }

// Scan scans an id or NULL.
func (id *AppID) Scan(value any) (err error) {
	id.AppID, err = scanUUID[mapdata.AppID](value, mapdata.ParseAppID)
	return err
}

// CreateApp stores a new app with its first version, its audit entries and its e-mails. It makes the slug unique by a random ending. It
// fails with mapdata.ErrConflict when the owner has as many apps, or as many waiting ones, as limits allow, and with
// mapdata.ErrUnavailable when as many of all accounts wait.
func (db *Scripts) CreateApp(ctx context.Context, a *mapdata.App, limits mapdata.AppLimits, side mapdata.Side) error {
	slug := a.Slug
	err := db.backend.Write(ctx, "create app", func(tx *Tx) (err error) {
		if err := tx.lockRegistrations(ctx); err != nil {
			return err // submissions wait for each other, so that the bounds hold
		}
		if err := tx.lock(ctx, selectAccountExists, "NO KEY UPDATE", a.Owner[:]); err != nil {
			return err
		}
		var count int
		if err := tx.QueryRow(ctx, countAppsOfOwner, a.Owner[:]).Scan(&count); err != nil {
			return err
		}
		if count >= limits.PerOwner {
			return mapdata.Explain(mapdata.ErrConflict, "app_too_many", "An account has at most "+strconv.Itoa(limits.PerOwner)+" apps.")
		}
		if err := checkWaitingApps(ctx, tx, a.Owner, limits); err != nil {
			return err
		}
		if slug, err = freeSlug(ctx, tx, selectAppSlugTaken, a.Slug); err != nil {
			return err
		}
		revision := min(servedVersion(a), 1)
		if revision > 0 {
			tx.raiseApps()
		}
		if _, err := tx.Exec(ctx, insertApp, a.ID[:], slug, a.Owner[:], Millis(a.CreatedAt), Millis(a.UpdatedAt), revision); err != nil {
			return err
		}
		if err := tx.appVersions(ctx, a, nil); err != nil {
			return err
		}
		return tx.side(ctx, side)
	})
	if err == nil {
		a.Slug, a.NewIcon = slug, nil
	}
	return err
}

// CheckWaitingApps fails as CreateApp does when one more version of the owner may not wait.
func (db *Scripts) CheckWaitingApps(ctx context.Context, owner mapdata.AccountID, limits mapdata.AppLimits) error {
	return db.backend.Failure("count waiting apps", checkWaitingApps(ctx, db.backend, owner, limits))
}

// checkWaitingApps counts the waiting versions by their index, and reads no more rows than the limit.
func checkWaitingApps(ctx context.Context, q Querier, owner mapdata.AccountID, limits mapdata.AppLimits) error {
	var all, own int
	if err := q.QueryRow(ctx, countAppsWaiting, owner[:]).Scan(&all, &own); err != nil {
		return err
	}
	switch {
	case own >= limits.WaitingPerOwner:
		return mapdata.Explain(mapdata.ErrConflict, "app_waiting_own",
			strconv.Itoa(own)+" apps of this account wait for the curators, which is the most. Submit this one when they decided, or withdraw another.")
	case all >= limits.Waiting:
		return mapdata.Explain(mapdata.ErrUnavailable, "app_waiting_all",
			strconv.Itoa(all)+" apps wait for the curators, which is the most. Nothing was stored. Submit this one when they decided on some.")
	}
	return nil
}

// UpdateApp reads an app with its versions, calls edit to change its suspension and the states of its versions, and stores it together with
// the Side that edit returns, in one transaction, which holds the app's lock while edit runs. It returns an error of edit unchanged. It
// fails with mapdata.ErrNotFound.
func (db *Scripts) UpdateApp(ctx context.Context, id mapdata.AppID, edit func(*mapdata.App) (mapdata.Side, error)) (a *mapdata.App, err error) {
	return db.editApp(ctx, id, edit, nil)
}

// ResubmitApp edits an app as UpdateApp does, for an edit that adds a waiting version. It fails as CreateApp does when one more may not wait.
func (db *Scripts) ResubmitApp(
	ctx context.Context, id mapdata.AppID, limits mapdata.AppLimits, edit func(*mapdata.App) (mapdata.Side, error),
) (a *mapdata.App, err error) {
	return db.editApp(ctx, id, edit, &limits)
}

func (db *Scripts) editApp(
	ctx context.Context, id mapdata.AppID, edit func(*mapdata.App) (mapdata.Side, error), limits *mapdata.AppLimits,
) (a *mapdata.App, err error) {
	var refused error
	err = db.backend.Write(ctx, "update app", func(tx *Tx) (err error) {
		if limits != nil {
			if err := tx.lockRegistrations(ctx); err != nil {
				return err
			}
		}
		if a, err = scanApp(tx.QueryRow(ctx, tx.dialect.locking(selectAppByID, forChange), id[:])); err != nil {
			return err
		}
		if a.Versions, err = appVersions(ctx, tx, selectAppVersions, id); err != nil {
			return err
		}
		before := make(map[int]mapdata.AppVersion, len(a.Versions))
		for _, v := range a.Versions {
			before[v.Number] = v
		}
		served, waited := servedVersion(a), a.Version(mapdata.AppPending) != nil
		side, err := edit(a)
		if refused = err; err != nil {
			return err
		}
		if limits != nil && !waited {
			if err := checkWaitingApps(ctx, tx, a.Owner, *limits); err != nil {
				return err
			}
		}
		raise := 0
		if servedVersion(a) != served {
			raise = 1
			tx.raiseApps()
		}
		if _, err := tx.Exec(ctx, updateApp, id[:], Millis(a.UpdatedAt), Millis(a.SuspendedAt), a.SuspendedNote, raise); err != nil {
			return err
		}
		if err := tx.appVersions(ctx, a, before); err != nil {
			return err
		}
		return tx.side(ctx, side)
	})
	if refused != nil {
		return nil, refused
	}
	if err != nil {
		return nil, err
	}
	a.NewIcon = nil
	return a, nil
}

// servedVersion returns the number of the version that is served unless the owner's account is suspended, or 0 if there is none.
func servedVersion(a *mapdata.App) int {
	if v := a.Version(mapdata.AppApproved); v != nil && a.SuspendedAt.IsZero() {
		return v.Number
	}
	return 0
}

// appVersions stores the versions that differ from those before, and deletes removed ones.
func (tx *Tx) appVersions(ctx context.Context, a *mapdata.App, before map[int]mapdata.AppVersion) error {
	for i := range a.Versions {
		v := &a.Versions[i]
		was, known := before[v.Number]
		delete(before, v.Number)
		if known && was.State == v.State && was.Note == v.Note && was.DecidedAt.Equal(v.DecidedAt) && was.Page == v.Page {
			continue
		}
		fields, err := json.Marshal(&v.Fields)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, replaceAppVersion, a.ID[:], v.Number, string(v.State), string(fields), v.Report, v.Note,
			Millis(v.SubmittedAt), Millis(v.DecidedAt), v.Page.Digest, Millis(v.Page.ChangedAt))
		if err != nil {
			return err
		}
	}
	for number := range before {
		if _, err := tx.Exec(ctx, deleteAppVersion, a.ID[:], number); err != nil {
			return err
		}
	}
	return tx.appIcons(ctx, a)
}

// appIcons stores a new icon, and deletes those that no version uses any more.
func (tx *Tx) appIcons(ctx context.Context, a *mapdata.App) error {
	if a.NewIcon != nil {
		if _, err := tx.Exec(ctx, insertAppIcon, a.ID[:], a.NewIcon.Name, a.NewIcon.Image); err != nil {
			return err
		}
	}
	names, err := List(ctx, tx, selectAppIconNames, func(r Row) (name string, err error) { return name, r.Scan(&name) }, a.ID[:])
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.ContainsFunc(a.Versions, func(v mapdata.AppVersion) bool { return v.Fields.Icon == name }) {
			continue
		}
		if _, err := tx.Exec(ctx, deleteAppIcon, a.ID[:], name); err != nil {
			return err
		}
	}
	return nil
}

// AppIcon reads an icon of an app, or fails with mapdata.ErrNotFound.
func (db *Scripts) AppIcon(ctx context.Context, app mapdata.AppID, name string) (*mapdata.AppIcon, error) {
	icon := &mapdata.AppIcon{Name: name}
	err := db.backend.QueryRow(ctx, selectAppIcon, app[:], name).Scan(&icon.Image)
	return icon, db.backend.Failure("read icon of an app", err)
}

// side stores the entries of the audit log and the e-mails of a change.
func (tx *Tx) side(ctx context.Context, side mapdata.Side) error {
	if err := tx.audit(ctx, side.Audit...); err != nil {
		return err
	}
	return tx.emails(ctx, side.Emails)
}

// App reads an app with its versions, or fails with mapdata.ErrNotFound.
func (db *Scripts) App(ctx context.Context, id mapdata.AppID) (a *mapdata.App, err error) {
	err = db.backend.Read(ctx, "read app", func(q Querier) error {
		if a, err = scanApp(q.QueryRow(ctx, selectAppByID, id[:])); err != nil {
			return err
		}
		a.Versions, err = appVersions(ctx, q, selectAppVersions, id)
		return err
	})
	return a, err
}

// Apps lists all apps, the oldest first.
func (db *Scripts) Apps(ctx context.Context) ([]mapdata.App, error) {
	return db.apps(ctx, "list all apps", selectApps, selectAppVersions)
}

// AppsOf lists the apps of an owner, the oldest first.
func (db *Scripts) AppsOf(ctx context.Context, owner mapdata.AccountID) ([]mapdata.App, error) {
	return db.apps(ctx, "list apps", selectAppsOfOwner, selectAppVersions, owner[:])
}

// ListAppsOf lists the apps of an owner as AppsOf does, but of each only the versions that wait or are served and the newest, without
// reports.
func (db *Scripts) ListAppsOf(ctx context.Context, owner mapdata.AccountID) ([]mapdata.App, error) {
	return db.apps(ctx, "list apps", selectAppsOfOwner, selectAppVersionsListed, owner[:])
}

// PendingApps lists at most limit apps that wait for a review, the longest waiting first, each with its versions as ListAppsOf returns
// them, and counts all of them.
func (db *Scripts) PendingApps(ctx context.Context, limit int) (all []mapdata.App, count int, err error) {
	if all, err = db.apps(ctx, "list pending apps", selectAppsPending, selectAppVersionsListed, limit); err != nil {
		return nil, 0, err
	}
	var none mapdata.AccountID
	var own int
	err = db.backend.QueryRow(ctx, countAppsWaiting, none[:]).Scan(&count, &own)
	return all, count, db.backend.Failure("count pending apps", err)
}

// SuspendedApps lists at most limit suspended apps, the last one first, each with its versions as ListAppsOf returns them.
func (db *Scripts) SuspendedApps(ctx context.Context, limit int) ([]mapdata.App, error) {
	return db.apps(ctx, "list suspended apps", selectAppsSuspended, selectAppVersionsListed, limit)
}

// ServedApps lists the apps of the catalogue, the oldest first, and returns the catalogue's revision. It reads only those with another
// revision than the known one.
func (db *Scripts) ServedApps(ctx context.Context, known map[mapdata.AppID]int64) (all []mapdata.ServedApp, revision int64, err error) {
	err = db.backend.Read(ctx, "list served apps", func(q Querier) error {
		if err := q.QueryRow(ctx, selectAppRevision).Scan(&revision); err != nil {
			return err
		}
		all, err = List(ctx, q, selectAppsServed, func(r Row) (mapdata.ServedApp, error) {
			var (
				id  AppID
				one mapdata.ServedApp
			)
			err := r.Scan(&id, &one.Revision)
			one.ID = id.AppID
			return one, err
		})
		for i := range all {
			one := &all[i]
			if was, ok := known[one.ID]; err != nil || ok && was == one.Revision {
				continue
			}
			if one.App, err = scanApp(q.QueryRow(ctx, selectAppByID, one.ID[:])); err == nil {
				one.App.Versions, err = appVersions(ctx, q, selectAppVersionServed, one.ID)
			}
		}
		return err
	})
	return all, revision, err
}

// AppRevision returns the revision of the catalogue, which increases with each change of served apps.
func (db *Scripts) AppRevision(ctx context.Context) (revision int64, err error) {
	err = db.backend.QueryRow(ctx, selectAppRevision).Scan(&revision)
	return revision, db.backend.Failure("read revision of apps", err)
}

// apps lists apps with the versions that a statement selects.
func (db *Scripts) apps(ctx context.Context, operation, query, versions string, args ...any) (all []mapdata.App, err error) {
	err = db.backend.Read(ctx, operation, func(q Querier) error {
		all, err = List(ctx, q, query, func(r Row) (mapdata.App, error) {
			a, err := scanApp(r)
			if err != nil {
				return mapdata.App{}, err
			}
			return *a, nil
		}, args...)
		for i := range all {
			if err == nil {
				all[i].Versions, err = appVersions(ctx, q, versions, all[i].ID)
			}
		}
		return err
	})
	return all, err
}

func scanApp(r Row) (*mapdata.App, error) {
	var (
		a                           mapdata.App
		id                          AppID
		owner                       AccountID
		created, updated, suspended instant
	)
	err := r.Scan(&id, &a.Slug, &owner, &created, &updated, &suspended, &a.SuspendedNote, &a.OwnerName)
	if err != nil {
		return nil, err
	}
	a.ID, a.Owner, a.CreatedAt, a.UpdatedAt, a.SuspendedAt = id.AppID, owner.AccountID, created.Time, updated.Time, suspended.Time
	return &a, nil
}

func appVersions(ctx context.Context, q Querier, query string, id mapdata.AppID) ([]mapdata.AppVersion, error) {
	return List(ctx, q, query, func(r Row) (v mapdata.AppVersion, err error) {
		var (
			number                      number
			fields                      string
			submitted, decided, changed instant
		)
		if err := r.Scan(&number, &v.State, &fields, &v.Report, &v.Note, &submitted, &decided, &v.Page.Digest, &changed); err != nil {
			return v, err
		}
		v.Number, v.SubmittedAt, v.DecidedAt, v.Page.ChangedAt = int(number), submitted.Time, decided.Time, changed.Time
		if err := json.Unmarshal([]byte(fields), &v.Fields); err != nil {
			return v, fmt.Errorf("app %s, version %d: %w", id, v.Number, err)
		}
		return v, nil
	}, id[:])
}

// Installs lists the apps that an account installed, in the order of their installation.
func (db *Scripts) Installs(ctx context.Context, account mapdata.AccountID) ([]mapdata.AppInstall, error) {
	all, err := List(ctx, db.backend, selectInstalls, scanInstall, account[:])
	return all, db.backend.Failure("list installed apps", err)
}

// Install returns one installed app, or fails with mapdata.ErrNotFound.
func (db *Scripts) Install(ctx context.Context, account mapdata.AccountID, app mapdata.AppID) (mapdata.AppInstall, error) {
	i, err := scanInstall(db.backend.QueryRow(ctx, selectInstall, account[:], app[:]))
	return i, db.backend.Failure("read installed app", err)
}

// EditInstall reads an installed app, calls edit to set it, and stores it, in one transaction that holds the account's lock; the time of
// installation is kept. It returns an error of edit unchanged. It fails with mapdata.ErrConflict for a new one when the account has limit
// others, and with mapdata.ErrNotFound when the account or the app does not exist.
func (db *Scripts) EditInstall(
	ctx context.Context, account mapdata.AccountID, app mapdata.AppID, limit int, edit func(i *mapdata.AppInstall, installed bool) error,
) (*mapdata.AppInstall, error) {
	var (
		i       mapdata.AppInstall
		refused error
	)
	err := db.backend.Write(ctx, "install app", func(tx *Tx) error {
		if err := tx.lock(ctx, selectAccountExists, "NO KEY UPDATE", account[:]); err != nil {
			return err // an account's installs wait for each other, so that the bound holds
		}
		if err := tx.lock(ctx, selectAppExists, "KEY SHARE", app[:]); err != nil {
			return err
		}
		var err error
		i, err = scanInstall(tx.QueryRow(ctx, selectInstall, account[:], app[:]))
		installed := err == nil
		switch {
		case errors.Is(err, sql.ErrNoRows):
			i = mapdata.AppInstall{Account: account, App: app}
			var count int
			if err := tx.QueryRow(ctx, countInstalls, account[:]).Scan(&count); err != nil {
				return err
			}
			if refused = edit(&i, false); refused != nil {
				return refused
			}
			if count >= limit {
				return mapdata.Describe(mapdata.ErrConflict, "An account installs at most "+strconv.Itoa(limit)+" apps. Uninstall one first.")
			}
		case err != nil:
			return err
		default:
			if refused = edit(&i, true); refused != nil {
				return refused
			}
		}
		_, err = tx.Exec(ctx, replaceInstall, account[:], app[:], i.Config, i.Hidden, i.InstalledAt.UnixMilli())
		if installed {
			tx.erase() // a replaced secret must not stay in the file
		}
		return err
	})
	if refused != nil {
		return nil, refused
	}
	return &i, err
}

// Uninstall removes an installed app with its config, or fails with mapdata.ErrNotFound.
func (db *Scripts) Uninstall(ctx context.Context, account mapdata.AccountID, app mapdata.AppID) error {
	return db.backend.Write(ctx, "uninstall app", func(tx *Tx) error {
		tx.erase()
		return tx.one(ctx, deleteInstall, account[:], app[:])
	})
}

func scanInstall(r Row) (i mapdata.AppInstall, err error) {
	var (
		account   AccountID
		app       AppID
		installed instant
	)
	err = r.Scan(&account, &app, &i.Config, &i.Hidden, &installed)
	i.Account, i.App, i.InstalledAt = account.AccountID, app.AppID, installed.Time
	return i, err
}
