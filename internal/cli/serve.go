package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"wayside/internal/account"
	"wayside/internal/audit"
	"wayside/internal/basemap"
	"wayside/internal/catalog"
	"wayside/internal/config"
	"wayside/internal/console"
	"wayside/internal/geo"
	"wayside/internal/httpapi"
	"wayside/internal/index"
	"wayside/internal/ingest"
	"wayside/internal/mail"
	"wayside/internal/mapdata"
	"wayside/internal/nearby"
	"wayside/internal/provider/pull"
	"wayside/internal/provider/push"
	"wayside/internal/replica"
	"wayside/internal/signal"
	"wayside/internal/stream"
	"wayside/internal/telemetry"
	"wayside/internal/votes"
	"wayside/internal/wire"
	"wayside/web"
)

// serveCmd is wayside serve.
type serveCmd struct{ listenFlags }

// Run runs the service until the process is asked to stop.
func (c *serveCmd) Run(p *program) error {
	cfg, err := c.load(p)
	if err != nil {
		return err
	}
	log := telemetry.NewLog(p.stderr, cfg.Log.Level, isTerminal(p.stderr))
	s, err := newServer(p, cfg, log, nil)
	if err != nil {
		return err
	}
	return s.run(p.ctx)
}

// server is the service with everything wired together.
type server struct {
	*office
	log      *slog.Logger
	env      []string
	signals  signal.Set
	metrics  *telemetry.Metrics
	release  func() error // of the data directory's lock
	web      *webServer
	ops      *webServer // nil: off
	index    index.Projection
	follower *replica.Follower
	live     *incidents // nil: no upstream is configured
	streams  *stream.Hub
	poller   *pull.Poller
	sender   *mail.Sender
	minutes  *minutes
	archive  *basemap.Archive // nil: no map of our own is configured
	demo     *httpapi.Demo    // nil: this is no demo
	loading  *progress
	spool    string        // folder where bodies of polls wait; removed at the end
	ready    chan struct{} // closed once everything is loaded
}

// newServer opens everything that the service needs: after it, nothing fails for a wrong configuration any more. demo is
// nil for a real one.
func newServer(p *program, cfg *config.Config, log *slog.Logger, demo *httpapi.Demo) (_ *server, err error) {
	if err := makeDataDir(cfg.DataDir); err != nil {
		return nil, err
	}
	s := &server{log: log, metrics: telemetry.NewMetrics(version), ready: make(chan struct{}), env: p.env, demo: demo}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.release, err = lockDataDir(cfg.DataDir); err != nil {
		return nil, err
	}
	var about *httpapi.BaseMap
	if s.archive, about, err = openBaseMap(cfg.Map); err != nil {
		return nil, err
	}
	if s.web, err = listen(p.ctx, cfg.HTTP.Listen, log); err != nil {
		return nil, fmt.Errorf("http.listen: %w", err)
	}
	if !cfg.Set("base_url") {
		cfg.BaseURL = "http://" + config.Reachable(s.web.listener.Addr().String()) // the port may have been 0
	}
	if cfg.Ops.Listen != "" {
		if s.ops, err = listen(p.ctx, cfg.Ops.Listen, log); err != nil {
			return nil, fmt.Errorf("ops.listen: %w", err)
		}
		s.ops.handle(s.metrics.Handler())
	}
	return s, s.wire(p, cfg, about)
}

// wire builds the way of the pins: store → follower → index → readers, and the doors in.
func (s *server) wire(p *program, cfg *config.Config, about *httpapi.BaseMap) (err error) {
	s.signals = signal.NewSet()
	if s.office, err = openOffice(p, cfg, s.log, s.signals); err != nil {
		return err
	}
	s.index = index.Projection{Index: index.New(wire.EncodeEntity), Now: p.now}
	catalogue, tallies := catalog.New(s.index.Counts), votes.NewTallies(p.now)
	s.loading = newProgress(p.stderr, func(line string) { s.log.Info(line) }, "loading the index", "entities")
	s.follower = replica.New(s.store, []replica.Projection{s.index, catalogue, tallies}, replica.Options{
		Now: p.now, Log: s.log, Progress: s.loading.Add,
		StoreChanged: s.signals.StoreChanged, Moved: s.signals.Moved, MailQueued: s.signals.MailQueued,
	})
	ingester := ingest.New(s.store, p.now, s.signals.StoreChanged)
	if s.minutes, err = s.newMinutes(cfg, p.now); err != nil {
		return err
	}
	s.sender, err = mail.New(mail.Config{
		Outbox: s.store, Now: p.now, Log: s.log, BaseURL: cfg.BaseURL, From: cfg.Mail.From, SMTPURL: cfg.Mail.SMTPURL,
		Folder: filepath.Join(cfg.DataDir, outboxFolder), Observe: s.metrics.Letter, Queued: s.signals.MailQueued,
	})
	if err != nil {
		return err
	}
	fetcher, err := newFetcher(cfg)
	if err != nil {
		return err
	}
	if s.live, err = s.newIncidents(cfg, p.now); err != nil {
		return err
	}
	s.minutes.share(s)
	s.streams = s.newStreams(p.now)
	if err := s.makeSpool(); err != nil {
		return err
	}
	s.poller = pull.New(pull.Options{
		Store: s.store, Ingest: ingester, Web: fetcher, Now: p.now, Log: s.log, Node: rand.Text(), Spool: s.spool,
		Unseal:  s.unseal,
		FeedDue: s.signals.FeedDue, StoreChanged: s.signals.StoreChanged, MailQueued: s.signals.MailQueued,
		Observe: func(outcome mapdata.Outcome, _ time.Duration) { s.metrics.Poll(string(outcome)) },
	})
	pushes := push.New(push.Config{
		Store: s.store, Ingest: ingester, Buckets: s.minutes.buckets, Now: p.now, Log: s.log,
		Requests: cfg.Limits.PushesPerMinute, Entities: cfg.Limits.PushEntitiesPerMinute, StoreChanged: s.signals.StoreChanged,
		Observe: s.metrics.PushRows,
	})
	overlay, err := web.Overlay()
	if err != nil {
		return fmt.Errorf("open the page for cars: %w", err)
	}
	deps := httpapi.Deps{
		BaseURL: cfg.BaseURL, TrustedProxies: cfg.HTTP.TrustedProxies, CORSOrigins: cfg.Read.CORSOrigins,
		Now: p.now, Log: s.log, Observe: s.metrics.Request, Ready: s.isReady, Loaded: s.follower.Loaded,
		Sources: catalogue, Accounts: s.accounts, Feeds: s.feeds, Pushes: pushes, Streams: s.streams,
		Limits: httpapi.Limits{
			GuestReads: cfg.Limits.GuestReadsPerMinute, AccountReads: cfg.Limits.AccountReadsPerMinute,
			Manage: cfg.Limits.ManagePerMinute, Votes: cfg.Limits.VotesPerMinute,
		},
		Buckets: s.minutes.buckets,
		Overlay: overlay, Version: version, PrimaryNetwork: cfg.Chargers.PrimaryNetwork,
		BaseMap: about, Archive: s.archive, Demo: s.demo,
	}
	reads := nearby.Config{
		Index: s.index, Catalog: catalogue, Primary: cfg.Chargers.PrimaryNetwork, Now: p.now,
		Tallies: tallies, Publications: s.follower, Records: s.store, Encode: wire.EncodeEntity,
	}
	ballots := votes.Config{Store: s.store, Feeds: catalogue, Now: p.now, StoreChanged: s.signals.StoreChanged}
	if s.live != nil {
		reads.Live, ballots.Live, deps.Incidents = s.live.relay, s.live.relay, s.live.about
	}
	if reads.Law, err = readLaw(cfg.Law.File); err != nil {
		return err
	}
	deps.Nearby, deps.Votes = nearby.New(reads), votes.New(ballots)
	return s.open(deps, fetcher, s.index.Index)
}

// open makes the pages for people, has the public address answer, and shows the state of everything.
func (s *server) open(deps httpapi.Deps, fetcher pull.Fetcher, ix *index.Index) (err error) {
	if deps.Scripts, err = web.Console(); err != nil {
		return fmt.Errorf("open the scripts of the pages for people: %w", err)
	}
	var origins []string
	if deps.BaseMap != nil {
		origins = deps.BaseMap.Origins
	}
	deps.Passkeys, err = account.NewPasskeys(account.PasskeyConfig{Accounts: s.accounts, Store: s.store, BaseURL: deps.BaseURL})
	if err != nil {
		return err
	}
	required := s.config.Review.Require == config.RequirePasskey
	if required && !deps.Passkeys.Offered() {
		return errors.New(`review.require is "passkey", but browsers offer no passkeys at base_url: that takes https:// and a name, or http://localhost`)
	}
	pages := console.Config{
		MapOrigins: origins,
		BaseURL:    deps.BaseURL, Now: deps.Now, Log: s.log, Accounts: s.accounts, Passkeys: deps.Passkeys, ReviewPasskey: required, Feeds: s.feeds,
		Check: pull.NewChecker(fetcher, s.spool, deps.Now), Secrets: s.box,
		Audit: audit.New(s.store), Sources: deps.Sources, State: s.state(deps),
		Entities: func(id mapdata.FeedID) int { lasting, decaying := ix.Counts(id); return lasting + decaying },
	}
	if s.live != nil {
		pages.Incidents = &console.Incidents{Attribution: s.live.about.Attribution, Health: s.live.relay.Health}
	}
	if s.archive != nil {
		center := s.archive.Center()
		pages.Home = geo.Point{Lat: center[1], Lng: center[0]}
	}
	deps.Console, err = console.New(pages)
	if err != nil {
		return err
	}
	s.web.handle(httpapi.New(deps))
	return s.gauges()
}

// state tells everybody how this node does.
func (s *server) state(deps httpapi.Deps) func() console.State {
	began := deps.Now()
	return func() console.State {
		now := console.State{Version: deps.Version, Since: began, Ready: s.isReady() == nil}
		if s.minutes.conn != nil {
			now.Shared, now.Reached = true, s.minutes.conn.Up()
		}
		return now
	}
}

// unseal gives a pull feed's auth header in clear; empty: it has none.
func (s *server) unseal(f *mapdata.Feed) (string, error) {
	if f.PullAuthSealed == nil {
		return "", nil
	}
	header, err := s.box.Open(f.PullAuthSealed, f.ID)
	return string(header), err
}

// makeSpool makes an empty folder for the bodies of polls: a process that was killed may have left some.
func (s *server) makeSpool() error {
	s.spool = filepath.Join(s.config.DataDir, spoolFolder)
	if err := errors.Join(os.RemoveAll(s.spool), os.Mkdir(s.spool, 0o700)); err != nil {
		return fmt.Errorf("make a folder for the bodies of polls: %w", err)
	}
	return nil
}

// gauges shows how far the index is.
func (s *server) gauges() error {
	return errors.Join(
		s.metrics.Gauge("wayside_index_entities", "Entities in the index.", func() float64 { return float64(s.index.Len()) }),
		s.metrics.Gauge("wayside_streams", "Streams that are open.", func() float64 { return float64(s.streams.Len()) }),
		s.metrics.Counter("wayside_follow_entities_total", "Changed entities applied to the index since the start.", func() float64 { return float64(s.follower.Followed()) }),
		s.metrics.Gauge("wayside_index_revision", "Revision that readers see.", func() float64 { return float64(s.follower.Revision()) }),
		s.metrics.Gauge("wayside_store_revision", "Revision of the store; -1: it does not answer.", func() float64 {
			ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
			defer cancel()
			state, err := s.store.State(ctx)
			if err != nil {
				return -1
			}
			return float64(state.Revision)
		}),
	)
}

// pingTimeout is how long a store may take to say that it is there.
const pingTimeout = 2 * time.Second

// isReady says whether reads and writes work now (D12.4).
func (s *server) isReady() error {
	if !s.follower.Loaded() {
		return errors.New("the index is still loading")
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	return s.store.Ping(ctx)
}

// run runs everything until ctx ends, and closes what newServer opened. first are further jobs, which stop before all
// others.
func (s *server) run(ctx context.Context, first ...job) error {
	jobs := append(first,
		// Streams end first, and their clients come again once we are back.
		job{"streams", s.streams.Run},
		// Then nobody new comes in, and whoever is in is served by everything that stands behind.
		job{"public address", s.web.run},
		// Polls under way are given back, uncounted: they need the store for that.
		job{"poller", s.whenReady(s.poller.Run)},
		// The letter in hand is finished; doors and polls, which write letters, are closed.
		job{"mail", s.sender.Run},
		// Nobody reads any more.
		job{"follower", s.follower.Run},
		job{"live incidents", s.live.run},
		job{"start", s.start},
		job{"collector", runCollector(s.env)},
		// The store's own come last, since everybody else writes.
		job{"pruning", s.prune},
	)
	jobs = append(append(jobs, s.minutes.jobs...), s.store.jobs(s.signals.StoreChanged.Notify)...)
	if s.ops != nil {
		// What an operator looks at is there to the end.
		jobs = append(jobs, job{"ops address", s.ops.run})
	}
	s.log.Info("listening", "address", s.web.listener.Addr().String(), "version", version)
	err := errors.Join(runGroup(ctx, s.log, jobs), s.close())
	if err == nil {
		s.log.Info("stopped")
	}
	return err
}

// start waits until everything is loaded and says so.
func (s *server) start(ctx context.Context) error {
	began := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !s.follower.Loaded() {
		select {
		case <-ctx.Done():
			s.loading.Close()
			return nil
		case <-tick.C:
		}
	}
	s.loading.Close()
	s.log.Info("ready", "url", s.config.BaseURL, "entities", s.index.Len(), "seconds", time.Since(began).Seconds())
	close(s.ready)
	debug.FreeOSMemory() // loading leaves twice of what stays
	<-ctx.Done()
	return nil
}

// whenReady holds a job back until everything is loaded.
func (s *server) whenReady(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case <-s.ready:
			return run(ctx)
		}
	}
}

// pruneEvery is how often the store forgets what nobody needs any more.
const pruneEvery = time.Minute

func (s *server) prune(ctx context.Context) error {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-tick.C:
			if err := s.store.Prune(ctx, now); err != nil && ctx.Err() == nil {
				s.log.Warn("cannot prune the store; it is tried again", "error", err)
			}
		}
	}
}

// close gives back what newServer opened, the lock last: until then nobody else may serve the data directory.
func (s *server) close() error {
	var err error
	for _, web := range []*webServer{s.web, s.ops} {
		if web != nil {
			err = errors.Join(err, web.close())
		}
	}
	if s.minutes != nil {
		s.minutes.close()
	}
	if s.office != nil {
		err = errors.Join(err, s.store.Close())
	}
	if s.archive != nil {
		err = errors.Join(err, s.archive.Close())
	}
	if s.spool != "" {
		err = errors.Join(err, os.RemoveAll(s.spool))
	}
	if s.release != nil {
		err = errors.Join(err, s.release())
	}
	return err
}
