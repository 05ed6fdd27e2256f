package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"wayside/internal/feeds/bridge"
	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
	"wayside/internal/ground/secret"
	"wayside/internal/ground/signal"
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
	"wayside/internal/people/audit"
	"wayside/internal/people/takedown"
	"wayside/internal/run/config"
	"wayside/internal/run/datadir"
)

// Admin is the store with the use cases of people over it. Commands use it beside a running service, and the service contains one.
type Admin struct {
	Store     Store
	Accounts  *account.Service
	Feeds     *feed.Service
	Takedowns *takedown.Service // without live incidents, which a service adds
	Audit     *audit.Service
	Apps      *apps.Service // without a client for their pages, which a service adds
	box       *secret.Box   // seals auth headers
}

// AdminOptions holds the dependencies of an Admin.
type AdminOptions struct {
	Config *config.Config
	Log    *slog.Logger
	Now    func() time.Time
	Make   bool // make the data directory and the database if they are missing; otherwise they are required
}

// OpenAdmin opens the data directory and the store. It fails with a *datadir.NoDataError if there is no data, so that a command in
// the wrong folder does not create an empty service there. A running service polls the store for the changes of commands once a
// second. The caller must call Close.
func OpenAdmin(ctx context.Context, o AdminOptions) (*Admin, error) {
	prepare := requireData
	if o.Make {
		prepare = func(cfg *config.Config) error { return datadir.Make(cfg.DataDir) }
	}
	if err := prepare(o.Config); err != nil {
		return nil, err
	}
	return openAdmin(ctx, o, signal.Set{})
}

// requireData fails unless the data directory holds the data of a service: the embedded database, or, if PostgreSQL is used, the
// secret key.
func requireData(cfg *config.Config) error {
	if cfg.Database.URL != "" {
		return datadir.Require(cfg.DataDir, datadir.KeyFile)
	}
	return datadir.Require(cfg.DataDir, datadir.DatabaseFile)
}

// openAdmin opens the store. Changes through the Admin notify signals.
func openAdmin(ctx context.Context, o AdminOptions, signals signal.Set) (_ *Admin, err error) {
	a := &Admin{}
	if a.Store, err = openStore(ctx, o); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Store.Close())
		}
	}()
	if err := checkKey(ctx, o, a.Store); err != nil {
		return nil, err
	}
	headers, err := keyFor(o.Config, headersUse)
	if err != nil {
		return nil, err
	}
	codes, err := keyFor(o.Config, "sign-in codes")
	if err != nil {
		return nil, err
	}
	ofPlaces, err := keyFor(o.Config, placesUse)
	if err != nil {
		return nil, err
	}
	if a.box, err = secret.New(headers); err != nil {
		return nil, err
	}
	places, err := secret.New(ofPlaces)
	if err != nil {
		return nil, err
	}
	a.Accounts = account.New(account.Config{
		Store: a.Store, Now: o.Now, Key: codes, Places: places, Log: o.Log, StoreChanged: signals.StoreChanged, MailQueued: signals.MailQueued,
	})
	a.Feeds = feed.New(feed.Config{
		Store: a.Store, Now: o.Now, Limit: o.Config.Limits.FeedsPerAccount, Storage: storageLimits(&o.Config.Limits), Signals: signals,
		CheckURL: checkURL, CheckAuthHeader: checkAuthHeader, Apps: o.Config.Apps.Enabled,
		Formats: feedFormats(), CheckMapping: bridge.CheckMapping,
		Seal: func(plain []byte, id mapdata.FeedID) ([]byte, error) { return a.box.Seal(plain, id), nil },
	})
	a.Takedowns = takedown.New(takedown.Config{Store: a.Store, Now: o.Now, Signals: signals})
	a.Audit = audit.New(a.Store)
	a.Apps, err = newApps(o, a.Store, a.box, signals)
	return a, err
}

// storageLimits converts the bounds of D5.10 from the configuration to the type of the use cases.
func storageLimits(l *config.Limits) mapdata.StorageLimits {
	return mapdata.StorageLimits{
		EntitiesPerFeed: l.EntitiesPerFeed, BytesPerFeed: l.BytesPerFeed, BytesPerAccount: l.BytesPerAccount,
		UnreviewedEntitiesPerFeed: l.UnreviewedEntitiesPerFeed, UnreviewedBytesPerFeed: l.UnreviewedBytesPerFeed,
	}
}

// Close closes the store.
func (a *Admin) Close() error { return a.Store.Close() }

// headersUse names the key of auth headers, placesUse that of drivers' saved places.
const (
	headersUse = "auth headers"
	placesUse  = "saved places"
)

// keyFor derives the key for one use from the data directory's secret key.
func keyFor(cfg *config.Config, use string) ([]byte, error) {
	key, err := datadir.SecretKey(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	if key, err = datadir.DeriveKey(key, use); err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	return key, nil
}

// feedFormats converts the formats of bridges to the type with which feeds are registered.
func feedFormats() []feed.Format {
	var all []feed.Format
	for _, f := range bridge.Formats() {
		all = append(all, feed.Format{Name: f.Name, Mapping: f.Mapping, Status: f.Status, Zone: f.Zone, Chargers: f.Chargers})
	}
	return all
}

// checkURL applies the rules for pull URLs (D6.5).
func checkURL(text string) (string, error) {
	u, err := safehttp.CheckURL(text)
	if err != nil {
		return "", err
	}
	return u.String(), nil
}

// checkAuthHeader applies the rules for auth headers (D5.2).
func checkAuthHeader(header string) error {
	_, _, err := safehttp.CheckAuthHeader(header)
	return err
}
