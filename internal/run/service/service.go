package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"wayside/internal/drive/nav"
	"wayside/internal/drive/nav/engine"
	"wayside/internal/drive/nav/session"
	"wayside/internal/drive/speech"
	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/stream"
	"wayside/internal/entities/votes"
	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/provider/osm"
	"wayside/internal/feeds/provider/pull"
	"wayside/internal/feeds/provider/push"
	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/safehttp"
	"wayside/internal/ground/signal"
	"wayside/internal/ground/telemetry"
	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/navigation"
	"wayside/internal/http/httpserver"
	"wayside/internal/nodes/cluster"
	"wayside/internal/people/account"
	"wayside/internal/people/mail"
	"wayside/internal/roads/basemap/world"
	"wayside/internal/roads/region"
	"wayside/internal/roads/region/imports"
	"wayside/internal/run/config"
	"wayside/internal/run/datadir"
	"wayside/internal/store/replica"
)

// Options holds the dependencies and settings of a Service.
type Options struct {
	Config  *config.Config
	Log     *slog.Logger
	Now     func() time.Time
	Version string // release, shown to readers and providers

	// DemoDrive holds the recorded drives that the page for cars plays; nil: this is no demo.
	DemoDrive []byte
	// DemoBegan is called when a page begins such a drive at speedUp times the real speed; nil: nothing happens on the way.
	DemoBegan func(speedUp float64)
	// DemoExtent is the area that the page for cars shows first in a demo; nil: where there are entities.
	DemoExtent *geo.Box

	// Progress is called when loading the index begins. add is called with the number of newly loaded entities, from several
	// goroutines; ended is called once, after loading ended or was given up. nil: progress is not reported.
	Progress func() (add func(entities int), ended func())
	// Reload delivers when the service must read the configuration again with ReadConfig, and replace upstreams, law, map and
	// limits. nil: never.
	Reload     <-chan os.Signal
	ReadConfig func() (*config.Config, error)
	// TuneHeap lets Run set the growth of this process's heap (GOGC) by its size.
	TuneHeap bool
}

// Service is one node of the service. Open makes it, Run runs it once.
type Service struct {
	*Admin
	options    Options
	config     *config.Config // Options.Config with base_url filled in
	log        *slog.Logger
	now        func() time.Time
	signals    signal.Set
	metrics    *telemetry.Metrics
	release    func() error       // releases the data directory's lock
	public     *httpserver.Server // the public address
	ops        *httpserver.Server // metrics; nil: off
	handler    switchHandler      // of the public address
	newest     httpapi.Newest
	generation atomic.Pointer[generation]
	replaced   chan *generation // to the job that runs upstreams and closes replaced generations
	began      time.Time
	caches     *caches
	index      index.Projection
	catalog    *catalog.Catalog
	tallies    *votes.Tallies
	presence   *votes.Presence

	reportsEnabled chan bool // delivers drivers.enabled after a reload

	node      string // prefix of the names under which this node's processes lease feeds
	replica   *replica.Follower
	world     *world.World
	ingester  *ingest.Ingester
	fetcher   *safehttp.Client
	poller    *pull.Poller
	memory    requestMemory
	pushes    *push.Service
	checker   *trial.Checker
	passkeys  *account.Passkeys
	regions   *region.Current
	roads     *roads
	routes    *nav.Service // over roads
	engine    navigation.Engine
	remote    *engine.Remote   // nil: the engine is the embedded one
	engineWeb *safehttp.Client // of remote
	drives    *session.Hub
	nodes     *nodes          // nil: this node is alone
	work      *ratelimit.Gate // of large reads and rows that are decoded
	searches  *ratelimit.Gate // for routes
	speaker   *speech.Speaker // nil: announcements have no clips
	osm       *osm.Sources    // made of the region
	imports   *imports.Service
	reader    atomic.Pointer[nearby.Reader] // of the current generation
	versions  *cluster.Versions             // of the other nodes' regions; nil: there is no shared cache
	streams   *stream.Hub
	sender    *mail.Sender
	spool     string // folder of bodies of polls under way; removed at the end
	loadEnded func()
	loaded    chan struct{} // closed once the store is in memory
	ready     chan struct{} // closed once everything is loaded
}

// Open opens everything that the service needs, so that an invalid configuration makes Open fail, not Run. If Open fails, it has
// closed everything that it opened. The caller must close a service that is not run.
func Open(ctx context.Context, o Options) (_ *Service, err error) {
	own := *o.Config
	s := &Service{
		options: o, config: &own, log: o.Log, now: o.Now, signals: signal.NewSet(), metrics: telemetry.NewMetrics(o.Version),
		loadEnded: func() {}, loaded: make(chan struct{}), ready: make(chan struct{}), replaced: make(chan *generation), began: o.Now(),
		memory: newRequestMemory(), work: newWork(),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	for _, stage := range []func(ctx context.Context) error{
		s.openFiles, s.openListeners, s.openStore, s.openCaches, s.openProjections, s.openRegion, s.openProviders, s.openAPI,
	} {
		if err := stage(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// URL returns the URL of this node for callers on this machine.
func (s *Service) URL() string { return "http://" + config.Reachable(s.public.Addr().String()) }

// Ready returns a channel that is closed once everything is loaded.
func (s *Service) Ready() <-chan struct{} { return s.ready }

// Entities returns how many entities the index holds.
func (s *Service) Entities() int { return s.index.Len() }

// Run runs everything until ctx ends or something fails, and closes everything that Open opened. first are additional jobs, which
// stop before all others.
func (s *Service) Run(ctx context.Context, first ...Job) error {
	s.log.Info("listening", "address", s.public.Addr().String(), "version", s.options.Version)
	err := errors.Join(RunJobs(ctx, s.log, append(first, s.jobs()...)), s.Close())
	if err == nil {
		s.log.Info("stopped")
	}
	return err
}

// jobs returns everything that runs, in the order in which it stops.
func (s *Service) jobs() []Job {
	jobs := []Job{
		// Proxies learn that this node stops before its drivers open their sessions elsewhere.
		{"hand-over of drives", s.handOver},
		// Streams end first; their clients connect again, to this node once it is back or to another.
		{"streams", s.streams.Run},
		{"drives", s.drives.Run},
		{"requests of other nodes", s.runNodes},
		// Then no new request is accepted; those in flight still need all of the following jobs.
		{"public address", s.public.Run},
		// Polls under way release their leases through the store, without counting as failures.
		{"poller", s.afterReady(s.poll)},
		// E-mails that this job queues are sent after the next start.
		{"e-mails to curators and owners", func(ctx context.Context) error { return s.Feeds.RunCalls(ctx, s.log) }},
		// The current e-mail is finished. Requests and polls, which queue e-mail, have ended.
		{"mail", s.sender.Run},
		// Nothing reads any more after this.
		{"follower", s.replica.Run},
		{"live incidents", s.runGenerations},
		{"start", s.awaitLoad},
		{"positions of drivers", s.presence.Run},
	}
	if s.options.Reload != nil {
		jobs = append([]Job{{"reload", s.reloads}}, jobs...)
	}
	if s.options.TuneHeap {
		jobs = append(jobs, Job{"heap", func(ctx context.Context) error { return tuneHeap(ctx, s.memory.all.Held) }})
	}
	jobs = append(jobs, Job{"pruning", s.prune}, s.keepDrivers())
	if s.config.Apps.Enabled {
		jobs = append(jobs, Job{"catalogue of apps", s.Apps.Run}, Job{"pages of apps", s.Apps.RunPageChecks})
	}
	jobs = append(jobs, s.caches.jobs...)
	// The store's own jobs come late, since all others write to it.
	jobs = append(jobs, s.Store.jobs(s.signals.StoreChanged)...)
	if s.ops != nil {
		// Metrics can be read until the end.
		jobs = append(jobs, Job{"ops address", s.ops.Run})
	}
	return jobs
}

// awaitLoad closes ready once everything is loaded.
func (s *Service) awaitLoad(ctx context.Context) error {
	began := time.Now()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !s.replica.Loaded() {
		select {
		case <-ctx.Done():
			s.loadEnded()
			return nil
		case <-tick.C:
		}
	}
	s.loadEnded()
	close(s.loaded)
	select {
	case <-ctx.Done():
		return nil
	case <-s.roads.ready:
	}
	s.logReady(ctx, time.Since(began))
	close(s.ready)
	if s.options.TuneHeap {
		freeMemory()
	}
	<-ctx.Done()
	return nil
}

// afterReady delays a job until everything is loaded.
func (s *Service) afterReady(run func(context.Context) error) func(context.Context) error {
	return after(s.ready, run)
}

func after(happened <-chan struct{}, run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return nil
		case <-happened:
			return run(ctx)
		}
	}
}

// pruneEvery is how often the store deletes what has passed its retention.
const pruneEvery = time.Minute

func (s *Service) prune(ctx context.Context) error {
	tick := time.NewTicker(pruneEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-tick.C:
			if err := s.Store.Prune(ctx, now); err != nil && ctx.Err() == nil {
				s.log.Warn("cannot prune the store; it is tried again", "error", err)
			}
		}
	}
}

// pingTimeout bounds the wait for the store's answer to a ping.
const pingTimeout = 2 * time.Second

// checkReady returns why reads or writes do not work now; nil: they do (D12.4).
func (s *Service) checkReady() error {
	if err := s.checkLeaving(); err != nil {
		return err
	}
	if !s.replica.Loaded() {
		return errors.New("the index is still loading")
	}
	select {
	case <-s.roads.ready:
	default:
		return errors.New("conditions on roads are still being read")
	}
	ctx, cancel := context.WithTimeout(context.Background(), pingTimeout)
	defer cancel()
	return s.Store.Ping(ctx)
}

// Close closes everything that Open opened. It releases the lock of the data directory last, because no other process may serve the
// directory before. Run calls Close.
func (s *Service) Close() error {
	var err error
	for _, server := range []*httpserver.Server{s.public, s.ops} {
		if server != nil {
			err = errors.Join(err, server.Close())
		}
	}
	if s.fetcher != nil {
		s.fetcher.Close()
	}
	if s.engineWeb != nil {
		s.engineWeb.Close()
	}
	if s.caches != nil {
		s.caches.close()
	}
	if s.Admin != nil {
		err = errors.Join(err, s.Admin.Close())
	}
	if e := s.generation.Load(); e != nil {
		err = errors.Join(err, e.close())
	}
	if s.spool != "" {
		err = errors.Join(err, os.RemoveAll(s.spool))
	}
	if s.release != nil {
		err = errors.Join(err, datadir.RemoveAddress(s.config.DataDir), s.release())
	}
	return err
}

// openFiles makes and locks the data directory.
func (s *Service) openFiles(context.Context) (err error) {
	if err := datadir.Make(s.config.DataDir); err != nil {
		return err
	}
	if s.release, err = datadir.Lock(s.config.DataDir); err != nil {
		return err
	}
	return err
}

// opsConnections bounds the connections at the operator's address.
const opsConnections = 64

// openListeners opens the addresses. Clients' connections wait until Run.
func (s *Service) openListeners(ctx context.Context) (err error) {
	limits := httpserver.Limits{
		Total: s.config.HTTP.MaxConnections, PerAddress: s.config.HTTP.MaxPerAddress, Exempt: s.config.HTTP.TrustedProxies,
	}
	if s.public, err = httpserver.Listen(ctx, s.config.HTTP.Listen, limits, s.log); err != nil {
		return fmt.Errorf("http.listen: %w", err)
	}
	if !s.config.Set("base_url") {
		s.config.BaseURL = s.URL() // the configured port may be 0
	}
	// Commands beside this process print links with it.
	if err := datadir.WriteAddress(s.config.DataDir, datadir.Address{BaseURL: s.config.BaseURL, Local: s.URL()}); err != nil {
		// For example on a full disk, with which the service still answers.
		s.log.Warn("commands beside this process do not learn its address", "error", err)
	}
	if s.config.Ops.Listen == "" {
		return nil
	}
	if s.ops, err = httpserver.Listen(ctx, s.config.Ops.Listen, httpserver.Limits{Total: opsConnections}, s.log); err != nil {
		return fmt.Errorf("ops.listen: %w", err)
	}
	return nil
}
