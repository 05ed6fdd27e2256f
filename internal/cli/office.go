package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"wayside/internal/account"
	"wayside/internal/config"
	"wayside/internal/feed"
	"wayside/internal/mapdata"
	"wayside/internal/safehttp"
	"wayside/internal/secret"
)

// office is what commands work with beside a running service, and the service itself: the store, and the use cases of
// people over it.
type office struct {
	config   *config.Config
	store    store
	accounts *account.Service
	feeds    *feed.Service
	box      *secret.Box // seals auth headers
}

// officeFlags are the flags of every command that works beside a running service.
type officeFlags struct {
	configFlags
	JSON bool `name:"json" help:"Print JSON."`
}

// with reads the configuration, opens the store, lets do work, and closes the store.
func (f *officeFlags) with(p *program, do func(ctx context.Context, o *office) error) (err error) {
	cfg, err := f.load(p, nil)
	if err != nil {
		return err
	}
	// A running service looks for what was changed here by itself, within a second; for letters within ten.
	o, err := openOffice(p, cfg, slog.New(slog.DiscardHandler), nil, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.store.Close()) }()
	return do(mapdata.Through(p.ctx, mapdata.ViaCommandLine), o)
}

// openOffice opens the data directory, which it makes if it is not there, and the store. changed is called after each change of a feed,
// mailed after a letter was stored; nil: nobody waits for it.
func openOffice(p *program, cfg *config.Config, log *slog.Logger, changed, mailed func()) (_ *office, err error) {
	if err := makeDataDir(cfg.DataDir); err != nil {
		return nil, err
	}
	key, err := secretKey(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	headers, err := derivedKey(key, "auth headers")
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	codes, err := derivedKey(key, "sign-in codes")
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	o := &office{config: cfg}
	if o.box, err = secret.New(headers); err != nil {
		return nil, err
	}
	if o.store, err = openStore(p, cfg, log); err != nil {
		return nil, err
	}
	o.accounts = account.New(account.Config{Store: signInStore{o.store, mailed}, Now: p.now, Key: codes, Log: log, Changed: changed})
	o.feeds = feed.New(feed.Config{
		Store: o.store, Now: p.now, Limit: cfg.Limits.FeedsPerAccount, Changed: changed,
		CheckURL: func(text string) (string, error) {
			u, err := safehttp.CheckURL(text)
			if err != nil {
				return "", err
			}
			return u.String(), nil
		},
		CheckAuthHeader: func(header string) error {
			_, _, err := safehttp.CheckAuthHeader(header)
			return err
		},
		Seal: func(plain []byte, id mapdata.FeedID) ([]byte, error) { return o.box.Seal(plain, id), nil },
	})
	return o, nil
}

// signInStore tells when a letter was stored, so that somebody who waits for it need not wait for the next look.
type signInStore struct {
	account.Store
	mailed func()
}

// CreateSignIn stores a sign-in as the store does.
func (s signInStore) CreateSignIn(ctx context.Context, in *mapdata.SignIn, letter *mapdata.Letter, since time.Time, limit int) (bool, error) {
	stored, err := s.Store.CreateSignIn(ctx, in, letter, since, limit)
	if stored && letter != nil && s.mailed != nil {
		s.mailed()
	}
	return stored, err
}
