package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"wayside/internal/ground/mapdata"
	"wayside/internal/run/config"
	"wayside/internal/run/service"
)

// setupCmd is wayside setup.
type setupCmd struct {
	Config  string `name:"config" default:"wayside.toml" placeholder:"FILE" help:"Configuration file to write (default wayside.toml)."`
	DataDir string `name:"data-dir" placeholder:"DIR" help:"Folder of database, key and outbox (default ./wayside-data)."`
	BaseURL string `name:"base-url" placeholder:"URL" help:"Address that people open, such as https://map.example.org."`
	Listen  string `name:"listen" placeholder:"HOST:PORT" help:"Address to listen on; follows from --base-url without it."`
	SMTPURL string `name:"smtp-url" placeholder:"URL" help:"E-mail server, such as smtps://user:password@mail.example.org:465."`
	From    string `name:"mail-from" placeholder:"ADDRESS" help:"Sender of e-mails."`
	Curator string `name:"curator" placeholder:"E" help:"E-mail address of the first curator."`
	Map     string `name:"map" placeholder:"FILE" help:"Street map, a PMTiles file."`
	Yes     bool   `name:"yes" short:"y" help:"Ask nothing: take the flags, and the defaults for the rest."`
	Force   bool   `name:"force" help:"Replace a configuration file that exists; a copy of it is kept beside it."`
}

// Run writes a configuration file, makes the data directory and the first curator, and prints what to do next. On a second run, it
// only adds what is missing.
func (c *setupCmd) Run(p *program) error {
	questions := &questions{program: p, answers: bufio.NewReader(p.stdin), silent: c.Yes}
	if c.Curator != "" {
		if _, err := mapdata.ParseEmail(c.Curator); err != nil {
			return fmt.Errorf("%w--curator: %w", errUsage, err)
		}
	}
	written, err := c.writeConfig(p, questions)
	if err != nil {
		return err
	}
	cfg, err := config.Load(config.Input{File: c.Config, Env: p.env})
	if err != nil {
		return fmt.Errorf("%w%w", errUsage, err)
	}
	owned, err := becomeOwner(c.Config, cfg.DataDir)
	if err != nil {
		return err
	}
	admin, err := service.OpenAdmin(p.ctx, service.AdminOptions{Config: cfg, Log: slog.New(slog.DiscardHandler), Now: p.now, Make: true})
	if err != nil {
		return err
	}
	curator, link, err := c.makeCurator(mapdata.WithVia(p.ctx, mapdata.ViaCommandLine), admin, cfg, questions)
	if err = errors.Join(err, admin.Close()); err != nil {
		return err
	}
	n := &nextSteps{config: c.Config, owned: owned, curator: curator, link: link}
	n.print(p, cfg, written)
	return nil
}

// writeConfig writes the configuration file, unless it exists.
func (c *setupCmd) writeConfig(p *program, q *questions) (written bool, err error) {
	before, err := os.ReadFile(c.Config)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("read the configuration: %w", err)
	case err == nil && !c.Force && !c.untouched():
		if c.BaseURL+c.Listen+c.SMTPURL+c.From+c.Map+c.DataDir != "" {
			return false, fmt.Errorf("%w%s exists, and setup does not change it: edit it, or write a new one with --force", errUsage, c.Config)
		}
		p.printf("%s exists and stays as it is.\n", c.Config)
		return false, nil
	}
	a, err := q.ask(c)
	if err != nil {
		return false, err
	}
	if before != nil {
		if err := os.WriteFile(c.Config+".bak", before, 0o600); err != nil {
			return false, err
		}
	}
	return true, placeConfig(c.Config, a.file(), before != nil)
}

// untouched reports whether the file sets only the data directory, as packages install it, so that setup writes the rest.
func (c *setupCmd) untouched() bool {
	cfg, err := config.Load(config.Input{File: c.Config})
	if err != nil || slices.ContainsFunc(config.Keys(), func(key string) bool { return key != "data_dir" && cfg.Set(key) }) || len(cfg.Upstreams) > 0 {
		return false
	}
	if c.DataDir == "" && cfg.Set("data_dir") {
		c.DataDir = cfg.DataDir
	}
	return true
}

// placeConfig writes the file beside its path, checks it as serve would, and moves it to the path.
func placeConfig(path, text string, replace bool) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // such as /etc/wayside: the file itself is private
		return err
	}
	fresh, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // with mode 0600: it may hold a password
	if err != nil {
		return err
	}
	defer func() {
		if removed := os.Remove(fresh.Name()); !errors.Is(removed, fs.ErrNotExist) {
			err = errors.Join(err, removed)
		}
	}()
	_, err = fresh.WriteString(text)
	if err = errors.Join(err, fresh.Sync(), fresh.Close()); err != nil {
		return err
	}
	if _, err := config.Load(config.Input{File: fresh.Name()}); err != nil {
		return fmt.Errorf("the answers make no valid configuration: %w", err)
	}
	if replace {
		return os.Rename(fresh.Name(), path)
	}
	return os.Link(fresh.Name(), path) // fails if the file was created meanwhile
}

// makeCurator makes the first curator, or the one that --curator names, and a link that signs it in. Both are empty if there is
// a curator already.
func (c *setupCmd) makeCurator(ctx context.Context, admin *service.Admin, cfg *config.Config, q *questions) (email, link string, err error) {
	email = c.Curator
	if email == "" {
		n, err := admin.Store.CountCurators(ctx)
		if err != nil || n > 0 {
			return "", "", err
		}
		if email, err = q.curator(); err != nil || email == "" {
			return "", "", err
		}
	}
	account, err := admin.Accounts.ByEmail(ctx, email)
	if errors.Is(err, mapdata.ErrNotFound) {
		account, err = admin.Accounts.Create(ctx, email)
	}
	if err != nil {
		return "", "", err
	}
	if account.Role == mapdata.Driver {
		if account, err = admin.Accounts.SetRole(ctx, email, mapdata.Curator); err != nil {
			return "", "", err
		}
	}
	base, err := baseURL(cfg)
	if err != nil {
		return "", "", err
	}
	token, err := admin.Accounts.LoginLink(ctx, email)
	if err != nil {
		return "", "", err
	}
	return account.Email, signInLink(base, token), nil
}

// nextSteps holds the values of the text that setup prints at its end.
type nextSteps struct {
	config        string
	owned         bool // by the user of a package's service
	curator, link string
}

func (n *nextSteps) print(p *program, cfg *config.Config, written bool) {
	p.printf("\n")
	if written {
		p.printf("Configuration  %s (each setting is explained in it)\n", n.config)
	}
	p.printf("Data           %s\n", cfg.DataDir)
	if n.curator != "" {
		p.printf("Curator        %s\n", n.curator)
	}
	flag, command := " --config "+shellQuote(n.config), "wayside"
	start := "wayside serve" + flag
	if n.owned {
		start, command = "sudo systemctl enable --now wayside", "sudo -u wayside wayside"
	}
	p.printf("\nNext:\n\n  %s\n", start)
	if n.link != "" {
		p.printf("\nthen open this link, which signs %s in (once, within ten minutes):\n\n  %s\n", n.curator, n.link)
		p.printf("\nA new link: %s account login-link --email %s%s\n", command, n.curator, flag)
	} else {
		p.printf("\nA link to sign in: %s account login-link --email you@example.org%s\n", command, flag)
	}
	p.printf("Publish a feed: %s/feeds/new\n", cfg.BaseURL)
	p.printf("Offer routes: %s region import FILE.osm.pbf%s (docs/operating/regions.md says where to get an extract)\n", command, flag)
	p.printf("Check address, e-mail, map, clock and disk, while it runs: %s doctor%s\n", command, flag)
}

// shellQuote quotes a word for a shell if it needs that.
func shellQuote(word string) string {
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r))
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
