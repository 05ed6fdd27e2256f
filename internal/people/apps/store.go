package apps

import (
	"context"
	"time"

	"wayside/internal/ground/mapdata"
)

// Store persists apps and installs. Every method is one transaction; those that change an app raise the revision of apps, by which
// every node sees that its catalogue is old.
type Store interface {
	// CreateApp stores a new app with its first version and their audit entries and e-mails. It makes the slug unique with a random
	// ending. It fails with mapdata.ErrConflict when the owner has as many apps, or as many waiting versions, as limits allows,
	// with mapdata.ErrUnavailable when too many of all accounts wait, and with mapdata.ErrNotFound when the owner is gone.
	CreateApp(ctx context.Context, a *mapdata.App, limits mapdata.AppLimits, side mapdata.Side) error
	// CheckWaitingApps fails as CreateApp does when one more version of the owner may not wait.
	CheckWaitingApps(ctx context.Context, owner mapdata.AccountID, limits mapdata.AppLimits) error
	// App reads an app with its versions, or fails with mapdata.ErrNotFound.
	App(ctx context.Context, id mapdata.AppID) (*mapdata.App, error)
	// AppIcon reads an icon of an app, or fails with mapdata.ErrNotFound.
	AppIcon(ctx context.Context, app mapdata.AppID, name string) (*mapdata.AppIcon, error)
	// UpdateApp reads an app, lets edit change its suspension and its versions (states, notes), and stores it with the side effects
	// that edit returns. The submitted content of a version stays as it was. An error of edit is returned unchanged and nothing is
	// changed.
	UpdateApp(ctx context.Context, id mapdata.AppID, edit func(*mapdata.App) (mapdata.Side, error)) (*mapdata.App, error)
	// ResubmitApp is UpdateApp for an edit that adds a version that waits, and an icon. It fails as CreateApp does when one more may not wait.
	ResubmitApp(ctx context.Context, id mapdata.AppID, limits mapdata.AppLimits, edit func(*mapdata.App) (mapdata.Side, error)) (*mapdata.App, error)
	// Apps lists all apps, the oldest first.
	Apps(ctx context.Context) ([]mapdata.App, error)
	// AppsOf lists the apps of an owner, the oldest first. ListAppsOf does so too, but reads of each app only the pending, the
	// approved and the newest version, without reports.
	AppsOf(ctx context.Context, owner mapdata.AccountID) ([]mapdata.App, error)
	ListAppsOf(ctx context.Context, owner mapdata.AccountID) ([]mapdata.App, error)
	// PendingApps lists at most limit apps that wait for a review, the longest waiting first, and counts all of them; SuspendedApps
	// lists at most limit suspended ones, the last one first. Both return the versions that ListAppsOf returns.
	PendingApps(ctx context.Context, limit int) ([]mapdata.App, int, error)
	SuspendedApps(ctx context.Context, limit int) ([]mapdata.App, error)
	// ServedApps lists the apps of the catalogue, the oldest first, and the catalogue's revision. It reads only those whose
	// revision differs from the known one. AppRevision grows with each change of the served apps.
	ServedApps(ctx context.Context, known map[mapdata.AppID]int64) ([]mapdata.ServedApp, int64, error)
	AppRevision(ctx context.Context) (int64, error)
	// ClaimAppPage claims the check of the page of an approved version if it is due now; no other node can claim it until the given
	// time. Otherwise it returns the time at which the check is due; zero: the version is not approved any more.
	ClaimAppPage(ctx context.Context, app mapdata.AppID, version int, now, until time.Time) (claimed bool, due time.Time, err error)
	// RecordAppPage stores the result of a check of the page of an approved version, and when the next one is due.
	RecordAppPage(ctx context.Context, app mapdata.AppID, version int, page mapdata.AppPage, due time.Time) error

	// Installs lists the apps of an account in the order in which they were installed; Install reads one of them, or fails with
	// mapdata.ErrNotFound.
	Installs(ctx context.Context, account mapdata.AccountID) ([]mapdata.AppInstall, error)
	Install(ctx context.Context, account mapdata.AccountID, app mapdata.AppID) (mapdata.AppInstall, error)
	// EditInstall lets edit set an install of an account, which may be new, and stores it, in one transaction that holds the account's lock while
	// edit runs. An error of edit is returned unchanged. It fails with mapdata.ErrConflict for a new one when the account has limit others, and
	// with mapdata.ErrNotFound when the account or the app is gone.
	EditInstall(ctx context.Context, account mapdata.AccountID, app mapdata.AppID, limit int,
		edit func(i *mapdata.AppInstall, installed bool) error) (*mapdata.AppInstall, error)
	// Uninstall removes an install with its config, or fails with mapdata.ErrNotFound.
	Uninstall(ctx context.Context, account mapdata.AccountID, app mapdata.AppID) error

	// Feed reads one feed, or fails with mapdata.ErrNotFound.
	Feed(ctx context.Context, id mapdata.FeedID) (*mapdata.Feed, error)
	// Account reads an account, or fails with mapdata.ErrNotFound.
	Account(ctx context.Context, id mapdata.AccountID) (*mapdata.Account, error)
}
