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

	"wayside/internal/config"
	"wayside/internal/refprovider"
	"wayside/internal/safehttp"
	"wayside/internal/telemetry"
)

// secretVariable holds the relay's secret. It is no part of the service's configuration.
const secretVariable = "WAYSIDE_RELAY_SECRET"

// relayCmd is wayside relay.
type relayCmd struct {
	Config     string        `name:"config" placeholder:"FILE" help:"Configuration (TOML), for the log's level and the way out to a URL. None is read unless it is named here."`
	Listen     string        `name:"listen" placeholder:"HOST:PORT" default:"127.0.0.1:8090" help:"Address to answer at (default ${default})."`
	SecretFile string        `name:"secret-file" placeholder:"FILE" help:"Holds the secret that callers must send; without it the variable WAYSIDE_RELAY_SECRET does."`
	Every      time.Duration `name:"every" placeholder:"DURATION" default:"30s" help:"How often a URL is fetched, from 10s to 4m (default ${default}). A file is looked at every second."`
	Source     string        `arg:"" name:"file|url" help:"Rows as for a pull feed: a file, or a pull URL."`
}

// Bounds of --every: politeness, and that a snapshot must not get too old before the next one comes.
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
	if !arrives(secret) {
		return fmt.Errorf("%wthe secret must be of visible ASCII characters without spaces: nothing else arrives in a header for sure", errUsage)
	}
	log := telemetry.NewLog(p.stderr, cfg.Log.Level, isTerminal(p.stderr))
	provider := refprovider.New(refprovider.Config{Secret: secret, Now: p.now, Log: log})
	look, err := c.lookout(cfg, provider, p.now, log)
	if err != nil {
		return err
	}
	web, err := listen(p.ctx, c.Listen, log)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	defer func() { err = errors.Join(err, web.close()) }()
	web.handle(provider.Handler())
	look.look(p.ctx) // so that whoever reads the welcome gets an answer
	if secret == "" {
		log.Warn("no secret is set: every call is answered with 503", "set", "--secret-file or "+secretVariable)
	}
	c.welcome(p, web.listener.Addr().String())
	return runGroup(p.ctx, log, []job{{"relay", web.run}, {"rows", look.run}})
}

func (c *relayCmd) welcome(p *program, address string) {
	base := "http://" + config.Reachable(address)
	p.printf(`wayside relay at %[1]s: GET %[2]s and %[3]s
curl -H "%[4]s: $SECRET" '%[1]s%[2]s?lat=52.37&lng=4.90&radius=5000&tenant=try'
`, base, refprovider.PathIncidents, refprovider.PathIncidentsRaw, refprovider.AuthHeader)
}

// takeSecret takes the secret out of the variables, of which the configuration knows every other one.
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

// longestSecret is far more than any header should carry.
const longestSecret = 4 << 10

// readSecret reads a file that holds the secret, and perhaps the end of its line.
func readSecret(name string) (string, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(file, longestSecret+1))
	if err != nil {
		return "", err
	}
	if len(text) > longestSecret {
		return "", errors.New("is longer than 4 KiB: that is no secret")
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// arrives says whether a secret comes out of a header as it went in.
func arrives(secret string) bool {
	return strings.IndexFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// lookout keeps the provider's rows at what the source has. A source that is broken changes nothing: the provider answers
// from what it has until that is too old (upstream.MaxAge).
type lookout struct {
	provider *refprovider.Provider
	now      func() time.Time
	log      *slog.Logger
	every    time.Duration
	read     func(ctx context.Context) (body []byte, same bool, err error) // same: it is the body given last, and is not given again

	rows  []refprovider.Row
	bad   error  // why the last body could not be decoded; nil: it could
	trial string // what was wrong the last time; empty: nothing
}

// lookout makes the one that suits the source.
func (c *relayCmd) lookout(cfg *config.Config, provider *refprovider.Provider, now func() time.Time, log *slog.Logger) (*lookout, error) {
	l := &lookout{provider: provider, now: now, log: log}
	if !strings.Contains(c.Source, "://") {
		file := &watchedFile{name: c.Source, now: now}
		l.every, l.read = fileEvery, file.read
		return l, nil
	}
	target, err := safehttp.CheckURL(c.Source)
	if err != nil {
		return nil, fmt.Errorf("%wthe URL %w", errUsage, err)
	}
	client, err := newFetcher(cfg)
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

// run looks until ctx ends.
func (l *lookout) run(ctx context.Context) error {
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

// look looks once. What is wrong is logged when it is not what was wrong the last time.
func (l *lookout) look(ctx context.Context) {
	at := l.now()
	err := l.refresh(ctx, at)
	switch {
	case ctx.Err() != nil:
		// Whatever failed then failed because of that.
	case err == nil && l.trial != "":
		l.log.Info("the rows can be read again", "rows", len(l.rows))
		l.trial = ""
	case err != nil && l.trial != err.Error():
		l.log.Warn("the rows cannot be read; answers come from the last good ones for 5 minutes", "error", err)
		l.trial = err.Error()
	}
}

func (l *lookout) refresh(ctx context.Context, at time.Time) error {
	body, same, err := l.read(ctx)
	if err != nil {
		return err
	}
	if !same {
		var rows []refprovider.Row
		if rows, l.bad = l.provider.Decode(body); l.bad == nil {
			l.rows = rows
		}
	}
	if l.bad == nil {
		l.provider.Set(l.rows, at)
	}
	return l.bad
}

// fetchAll gets a pull URL once, as a poll would.
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

// A file is looked at often, since that costs nothing, and read when it looks changed.
const (
	fileEvery = time.Second
	largeFile = 64 << 20 // bytes, as for a poll (D6.6)
	// rereadEvery is after how long a file is read anew that does not look changed: some were, within a tick of the clock
	// that dates them, and a row of the near future becomes good in time.
	rereadEvery = time.Minute
)

// watchedFile reads a file when it is another one than the one that was read last.
type watchedFile struct {
	name string
	now  func() time.Time
	last os.FileInfo // of the one read last; nil: none
	at   time.Time   // when it was
}

func (f *watchedFile) read(context.Context) (body []byte, same bool, err error) {
	info, err := os.Stat(f.name)
	switch {
	case err != nil:
		return nil, false, err
	case !info.Mode().IsRegular():
		return nil, false, fmt.Errorf("%s is no file", f.name)
	case f.unchanged(info):
		return nil, true, nil
	}
	f.last = nil // until it was read
	file, err := os.Open(f.name)
	if err != nil {
		return nil, false, err
	}
	defer file.Close() //nolint:errcheck // it was only read
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
