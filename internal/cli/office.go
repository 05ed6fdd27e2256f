package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"wayside/internal/account"
	"wayside/internal/config"
	"wayside/internal/feed"
	"wayside/internal/mapdata"
	"wayside/internal/safehttp"
	"wayside/internal/secret"
	"wayside/internal/signal"
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
	// A running service polls the store for what changes here, once a second.
	o, err := openOffice(p, cfg, slog.New(slog.DiscardHandler), signal.Set{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.store.Close()) }()
	return do(mapdata.Through(p.ctx, mapdata.ViaCommandLine), o)
}

// openOffice opens the data directory, which it makes if it is not there, and the store. signals has no consumers beside a
// running service.
func openOffice(p *program, cfg *config.Config, log *slog.Logger, signals signal.Set) (_ *office, err error) {
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
	o.accounts = account.New(account.Config{
		Store: o.store, Now: p.now, Key: codes, Log: log, StoreChanged: signals.StoreChanged, MailQueued: signals.MailQueued,
	})
	o.feeds = feed.New(feed.Config{
		Store: o.store, Now: p.now, Limit: cfg.Limits.FeedsPerAccount, Signals: signals,
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
