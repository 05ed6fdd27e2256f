package apps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"wayside/internal/ground/mapdata"
)

// Installed is an app that a driver installed. Config holds no secrets: they are masked.
type Installed struct {
	*Listed
	Served      bool // false: it was suspended, or its developer is gone; drivers do not see it in the car
	Config      mapdata.AppConfig
	Hidden      bool
	InstalledAt time.Time
}

// Change is a driver's change to the settings of an app.
type Change struct {
	Config jsontext.Value // nil: it stays
	Hidden *bool          // nil: it stays
}

// Frame is the data with which the page in the car mounts an app's frame.
type Frame struct {
	Src    string
	Origin string            // exact target of messages
	Config mapdata.AppConfig // with secrets in full
}

// storedConfig is the sealed part of an install. A key that was secret when it was set is never shown or delivered as one that is
// not, even if later versions no longer declare it secret.
type storedConfig struct {
	Values  mapdata.AppConfig
	Secrets []string
}

// read opens the config of an install, and keeps the values that the schema accepts now: a later version may have dropped a key,
// and another may have added it again with a different type.
func (s *Service) read(i *mapdata.AppInstall, schema mapdata.ConfigSchema) (mapdata.AppConfig, error) {
	plain, err := s.Open(i.Config, i.Account, i.App)
	if err != nil {
		return nil, fmt.Errorf("open the config of app %s: %w", i.App, err)
	}
	var stored storedConfig
	if err := json.Unmarshal(plain, &stored); err != nil {
		return nil, fmt.Errorf("read the config of app %s: not JSON", i.App) // the error may quote a secret
	}
	kept := make(mapdata.AppConfig)
	for j := range schema {
		f := &schema[j]
		value, set := stored.Values[f.Key]
		if !set || !f.Secret && slices.Contains(stored.Secrets, f.Key) {
			continue
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("read the config of app %s: not JSON", i.App)
		}
		if parsed, code, _ := parseValue(f, jsontext.Value(text)); code == "" && parsed != nil {
			kept[f.Key] = parsed
		}
	}
	return kept, nil
}

// seal seals a config that was parsed by the schema.
func (s *Service) seal(i *mapdata.AppInstall, schema mapdata.ConfigSchema, config mapdata.AppConfig) error {
	stored := storedConfig{Values: config}
	for j := range schema {
		if _, set := config[schema[j].Key]; set && schema[j].Secret {
			stored.Secrets = append(stored.Secrets, schema[j].Key)
		}
	}
	plain, err := json.Marshal(&stored)
	if err != nil {
		return errors.New("write config: not JSON")
	}
	i.Config = s.Seal(plain, i.Account, i.App)
	return nil
}

// Installed lists the apps of an account in the order in which they were installed, with masked secrets.
func (s *Service) Installed(ctx context.Context, account mapdata.AccountID) ([]Installed, error) {
	installs, err := s.Store.Installs(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("list installed apps: %w", err)
	}
	all := make([]Installed, 0, len(installs))
	for i := range installs {
		one, err := s.describeInstall(ctx, &installs[i])
		if err != nil {
			return nil, err
		}
		all = append(all, *one)
	}
	return all, nil
}

func (s *Service) describeInstall(ctx context.Context, i *mapdata.AppInstall) (*Installed, error) {
	l, err := s.App(i.App)
	served := err == nil
	if !served {
		a, err := s.Store.App(ctx, i.App)
		if err != nil {
			return nil, fmt.Errorf("read installed app: %w", err)
		}
		l = s.Describe(a, Latest(a))
	}
	schema := l.Version.Fields.ConfigSchema
	config, err := s.read(i, schema)
	if err != nil {
		s.Log.Warn("the config of an installed app cannot be read; its driver sets it anew", "app", i.App.String(), "error", err)
		config = mapdata.AppConfig{}
	}
	return &Installed{Listed: l, Served: served, Config: Mask(schema, config), Hidden: i.Hidden, InstalledAt: i.InstalledAt}, nil
}

// Configure installs an app of the catalogue or changes its settings. Without a config it only shows or hides an installed app. It
// fails with mapdata.ErrNotFound for an app that is not in the catalogue or, without a config, not installed; with
// mapdata.ErrConflict if the account has as many apps as it may have; and with a *mapdata.InvalidError that lists every invalid
// field of the config.
func (s *Service) Configure(ctx context.Context, account mapdata.AccountID, id mapdata.AppID, c Change) (*Installed, error) {
	l, err := s.App(id)
	if err != nil {
		return nil, err
	}
	schema, now := l.Version.Fields.ConfigSchema, s.now()
	i, err := s.Store.EditInstall(ctx, account, id, maxPerDriver, func(i *mapdata.AppInstall, installed bool) error {
		if !installed {
			if c.Config == nil {
				return mapdata.Describe(mapdata.ErrNotFound, "This app is not installed: send a config to install it.")
			}
			i.InstalledAt = now
		}
		if c.Hidden != nil {
			i.Hidden = *c.Hidden
		}
		if c.Config == nil {
			return nil
		}
		before := mapdata.AppConfig{}
		if installed {
			if before, err = s.read(i, schema); err != nil {
				s.Log.Warn("the config of an installed app cannot be read; its driver sets it anew", "app", id.String(), "error", err)
			}
		}
		var bad mapdata.FieldErrors
		config := ParseConfig("config", schema, c.Config, before, &bad)
		if err := bad.Err(); err != nil {
			return err
		}
		return s.seal(i, schema, config)
	})
	if err != nil {
		return nil, fmt.Errorf("configure app: %w", err)
	}
	return s.describeInstall(ctx, i)
}

// Uninstall removes an app and its settings, or fails with mapdata.ErrNotFound.
func (s *Service) Uninstall(ctx context.Context, account mapdata.AccountID, id mapdata.AppID) error {
	if err := s.Store.Uninstall(ctx, account, id); err != nil {
		return fmt.Errorf("uninstall app: %w", err)
	}
	return nil
}

// Frame returns the data with which the page in the car mounts an installed app. It fails with mapdata.ErrNotFound for an app that
// is not installed, not in the catalogue, or no web page.
func (s *Service) Frame(ctx context.Context, account mapdata.AccountID, id mapdata.AppID) (*Frame, error) {
	l, err := s.App(id)
	if err != nil {
		return nil, err
	}
	i, err := s.Store.Install(ctx, account, id)
	if err != nil {
		return nil, fmt.Errorf("read installed app: %w", err)
	}
	fields := &l.Version.Fields
	if fields.WidgetURL == "" {
		return nil, mapdata.Describe(mapdata.ErrNotFound, "This app has no page.")
	}
	config, err := s.read(&i, fields.ConfigSchema)
	if err != nil {
		return nil, mapdata.Explain(mapdata.ErrConflict, "config_lost", "What was set of this app cannot be read any more. Set it anew.")
	}
	return &Frame{Src: fields.WidgetURL, Origin: OriginOf(fields.WidgetURL), Config: Delivered(fields.ConfigSchema, config)}, nil
}
