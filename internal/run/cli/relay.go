package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"wayside/internal/feeds/refprovider"
	"wayside/internal/ground/safehttp"
	"wayside/internal/ground/telemetry"
	"wayside/internal/http/httpserver"
	"wayside/internal/run/config"
	"wayside/internal/run/service"
)

// secretVariable is the variable of the relay's secret. It is not a part of the service's configuration.
const secretVariable = "WAYSIDE_RELAY_SECRET"

// relayCmd is wayside relay.
type relayCmd struct {
	Config     string        `name:"config" placeholder:"FILE" help:"Configuration (TOML), for the log level and outgoing requests. No file is read without this flag."`
	Listen     string        `name:"listen" placeholder:"HOST:PORT" default:"127.0.0.1:8090" help:"Address to listen on (default ${default})."`
	SecretFile string        `name:"secret-file" placeholder:"FILE" help:"File with the secret that callers must send (default: the variable WAYSIDE_RELAY_SECRET)."`
	Every      time.Duration `name:"every" placeholder:"DURATION" default:"30s" help:"How often a URL is fetched, from 10s to 4m (default ${default}). A file is checked every second."`
	Source     string        `arg:"" name:"file|url" help:"Rows as for a pull feed: a file, or a pull URL."`
}

// Limits of --every: the load on the provider, and the age of a snapshot before the next one.
const (
	shortestEvery = 10 * time.Second
	longestEvery  = 4 * time.Minute
)

// Run answers relay calls until the process is asked to stop.
func (c *relayCmd) Run(p *program) (err error) {
	env, secret := takeSecret(p.env)
	flags := configFlags{Config: c.Config}
	cfg, err := flags.load(&program{env: env}, nil)
	if err != nil {
		return err
	}
	if c.Every < shortestEvery || c.Every > longestEvery {
		return fmt.Errorf("%w--every: must be from %v to %v", errUsage, shortestEvery, longestEvery)
	}
	if c.SecretFile != "" {
		if secret, err = readSecret(c.SecretFile); err != nil {
			return fmt.Errorf("--secret-file: %w", err)
		}
	}
	if !fitsHeader(secret) {
		return fmt.Errorf("%wthe secret must be of visible ASCII characters without spaces: nothing else fitsHeader in a header for sure", errUsage)
	}
	log := telemetry.NewLog(p.stderr, cfg.Log.Level, isTerminal(p.stderr))
	provider := refprovider.New(refprovider.Config{Secret: secret, Now: p.now, Log: log})
	watcher, err := c.watcher(cfg, provider, p.now, log)
	if err != nil {
		return err
	}
	web, err := httpserver.Listen(p.ctx, c.Listen, httpserver.Limits{}, log)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer func() { err = errors.Join(err, web.Close()) }()
	web.Handle(provider.Handler())
	watcher.look(p.ctx) // before the welcome is printed, so that its command works
	if secret == "" {
		log.Warn("no secret is set: every call is answered with 503", "set", "--secret-file or "+secretVariable)
	}
	c.welcome(p, web.Addr().String())
	return service.RunJobs(p.ctx, log, []service.Job{{Name: "relay", Run: web.Run}, {Name: "rows", Run: watcher.run}})
}

func (c *relayCmd) welcome(p *program, address string) {
	base := "http://" + config.Reachable(address)
	p.printf(`wayside relay at %[1]s: GET %[2]s and %[3]s
curl -H "%[4]s: $SECRET" '%[1]s%[2]s?lat=52.37&lng=4.90&radius=5000&tenant=try'
`, base, refprovider.PathIncidents, refprovider.PathIncidentsRaw, refprovider.AuthHeader)
}

// takeSecret removes the secret from the variables, because the configuration rejects unknown ones.
func takeSecret(env []string) (others []string, secret string) {
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, secretVariable+"="); ok {
			secret = value
			continue
		}
		others = append(others, pair)
	}
	return others, secret
}

// longestSecret limits the file of the secret, in bytes.
const longestSecret = 4 << 10

// readSecret reads a file that contains the secret, with or without a newline.
func readSecret(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // read only
	text, err := io.ReadAll(io.LimitReader(file, longestSecret+1))
	if err != nil {
		return "", err
	}
	if len(text) > longestSecret {
		return "", errors.New("is longer than 4 KiB, too long for a secret")
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// fitsHeader reports whether an HTTP header transmits the secret unchanged.
func fitsHeader(secret string) bool {
	return strings.IndexFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// rowWatcher keeps the provider's rows equal to those of the source. While the source is broken, the provider answers with
// the last good rows until they are too old (refprovider.MaxAge).
type rowWatcher struct {
	provider *refprovider.Provider
	now      func() time.Time
	log      *slog.Logger
	every    time.Duration
	read     func(ctx context.Context) (body []byte, same bool, err error) // same: the body equals the last one, and is not returned

	rows      []refprovider.Row
	decodeErr error  // why the last body could not be decoded; nil: no error
	problem   string // the last problem that was logged; empty: none
}

// watcher returns the watcher of the source: a file or a URL.
func (c *relayCmd) watcher(cfg *config.Config, provider *refprovider.Provider, now func() time.Time, log *slog.Logger) (*rowWatcher, error) {
	l := &rowWatcher{provider: provider, now: now, log: log}
	if !strings.Contains(c.Source, "://") {
		file := &watchedFile{name: c.Source, now: now}
		l.every, l.read = fileEvery, file.read
		return l, nil
	}
	target, err := safehttp.CheckURL(c.Source)
	if err != nil {
		return nil, fmt.Errorf("%wthe URL %w", errUsage, err)
	}
	client, err := service.NewFetcher(cfg, version)
	if err != nil {
		return nil, err
	}
	l.every = c.Every
	l.read = func(ctx context.Context) ([]byte, bool, error) {
		body, err := fetchAll(ctx, client, target)
		return body, false, err
	}
	return l, nil
}

// run reads the source at intervals until ctx ends.
func (l *rowWatcher) run(ctx context.Context) error {
	tick := time.NewTicker(l.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			l.look(ctx)
		}
	}
}

// look reads the source once. It logs a problem unless it is the same as before.
func (l *rowWatcher) look(ctx context.Context) {
	at := l.now()
	err := l.refresh(ctx, at)
	switch {
	case ctx.Err() != nil:
		// The failure is a consequence of the stop.
	case err == nil && l.problem != "":
		l.log.Info("the rows can be read again", "rows", len(l.rows))
		l.problem = ""
	case err != nil && l.problem != err.Error():
		l.log.Warn("the rows cannot be read; answers come from the last good ones for 5 minutes", "error", err)
		l.problem = err.Error()
	}
}

func (l *rowWatcher) refresh(ctx context.Context, at time.Time) error {
	body, same, err := l.read(ctx)
	if err != nil {
		return err
	}
	if !same {
		var rows []refprovider.Row
		if rows, l.decodeErr = l.provider.Decode(body); l.decodeErr == nil {
			l.rows = rows
		}
	}
	if l.decodeErr == nil {
		l.provider.Set(l.rows, at)
	}
	return l.decodeErr
}

// fetchAll fetches a pull URL once, as a poll would.
func fetchAll(ctx context.Context, client *safehttp.Client, target *safehttp.URL) ([]byte, error) {
	answer, err := client.Fetch(ctx, safehttp.Request{URL: target})
	if err != nil {
		return nil, explain(err)
	}
	body, err := io.ReadAll(explained{answer.Body})
	if closed := answer.Body.Close(); err == nil {
		err = closed
	}
	return body, err
}

// Limits of watching a file. It is checked often, because that is cheap, and read if it looks changed.
const (
	fileEvery = time.Second
	largeFile = 64 << 20 // bytes, as for a poll (D6.6)
	// rereadEvery is the interval of reading a file that does not look changed, because it may have changed within one tick of the
	// file system's clock, and because rows that start in the future become valid.
	rereadEvery = time.Minute
)

// watchedFile reads a file if it differs from the one that it read last.
type watchedFile struct {
	name string
	now  func() time.Time
	last os.FileInfo // of the one read last; nil: none
	at   time.Time   // when last was read
}

func (f *watchedFile) read(context.Context) (body []byte, same bool, err error) {
	info, err := os.Stat(f.name)
	switch {
	case err != nil:
		return nil, false, err
	case !info.Mode().IsRegular():
		return nil, false, fmt.Errorf("%s is not a file", f.name)
	case f.unchanged(info):
		return nil, true, nil
	}
	f.last = nil // until it is read
	file, err := os.Open(f.name)
	if err != nil {
		return nil, false, err
	}
	defer file.Close() //nolint:errcheck // read only
	if info, err = file.Stat(); err != nil {
		return nil, false, err
	}
	var text bytes.Buffer
	if _, err := io.Copy(&text, io.LimitReader(file, largeFile+1)); err != nil {
		return nil, false, err
	}
	if text.Len() > largeFile {
		return nil, false, fmt.Errorf("%s has more than 64 MiB", f.name)
	}
	f.last, f.at = info, f.now()
	return text.Bytes(), false, nil
}

func (f *watchedFile) unchanged(info os.FileInfo) bool {
	return f.last != nil && os.SameFile(f.last, info) && f.last.Size() == info.Size() && f.last.ModTime().Equal(info.ModTime()) &&
		f.now().Sub(f.at) < rereadEvery
}
