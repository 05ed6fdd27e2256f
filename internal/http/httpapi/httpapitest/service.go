package httpapitest

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"wayside/internal/entities/catalog"
	"wayside/internal/entities/index"
	"wayside/internal/entities/law"
	"wayside/internal/entities/live"
	"wayside/internal/entities/live/memory"
	"wayside/internal/entities/nearby"
	"wayside/internal/entities/stream"
	"wayside/internal/entities/votes"
	"wayside/internal/entities/wire"
	"wayside/internal/feeds/feed"
	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/provider/drivers"
	"wayside/internal/feeds/provider/push"
	"wayside/internal/feeds/provider/relay"
	"wayside/internal/feeds/provider/trial"
	"wayside/internal/ground/budget"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/safehttp"
	"wayside/internal/ground/secret"
	"wayside/internal/ground/signal"
	"wayside/internal/http/console"
	"wayside/internal/http/httpapi"
	"wayside/internal/http/httpapi/public"
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
	"wayside/internal/people/audit"
	"wayside/internal/people/takedown"
	"wayside/internal/roads/region"
	"wayside/internal/store/replica"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

// Service is the service without pollers and mail, with a real database and a real server. Only the test advances
// its clock.
type Service struct {
	*AuthService
	DB       *sqlite.DB
	Accounts *account.Service
	Passkeys *account.Passkeys
	Feeds    *feed.Service
	Pushes   *push.Service
	ingester *ingest.Ingester
	follower *replica.Follower
	signals  signal.Set
	Dir      string // of region files and extracts
	Box      *secret.Box
	Apps     *apps.Service    // nil: they are off
	Page     apps.Page        // how the pages of apps answer
	Unproven bool             // no proof is published
	relay    *relay.Service   // nil: no upstream
	Reports  *drivers.Service // nil: they are off
	Streams  *stream.Hub
	Counted  atomic.Int64 // how often entities of a feed were counted in the database

	EndStreams func()
}

// Options are the options of a Service. NewService uses the limits of D14, except for management, because tests make
// many such calls.
type Options struct {
	Manage, Requests, Entities, MaxPages int

	Storage mapdata.StorageLimits
	Memory  *budget.Part // for bodies of pushes; nil: the default

	Upstreams []string // addresses of relay providers, the first ranks first
	Stored    bool     // incidents.mode is database

	Law     *law.Law // nil: nothing is hidden
	Overlay fs.FS    // nil: there is no page for cars

	TrustAfter time.Duration                                     // votes.trust_after; 0: votes count towards suppression immediately
	Street     func(context.Context, geo.Point, *float64) string // of a report; nil: unknown

	ReviewPasskey bool

	// Intervals of streams and the timeout of writing to one; 0: the defaults.
	StreamPoll, StreamHeartbeat, StreamWriteTimeout time.Duration

	NoApps  bool // apps.enabled is false
	Reports bool // drivers.enabled is true

	Base string // public address; empty: http://wayside.test, where browsers offer no passkeys
}

// NewService returns a service with the limits of D14, except for management.
func NewService(t *testing.T) *Service {
	t.Helper()
	return NewServiceWith(t, Options{Manage: 10_000, Requests: 60, Entities: 10_000})
}

// NewServiceWith returns a service with options.
func NewServiceWith(t *testing.T, limits Options) *Service {
	t.Helper()
	d := &Service{AuthService: &AuthService{T: t, Now: Start}, signals: signal.NewSet()}
	log := slog.New(slog.NewTextHandler(&d.Log, nil))
	var err error
	d.DB, err = sqlite.Open(t.Context(), sqlitetest.Path(t), sqlite.Options{Now: d.Time, MaxPages: limits.MaxPages})
	if err != nil {
		t.Fatal(err)
	}
	if d.Box, err = secret.New(make([]byte, secret.KeySize)); err != nil {
		t.Fatal(err)
	}
	ix, tallies := index.New(wire.EncodeEntity), votes.NewTallies(d.Time)
	catalogue := catalog.New(ix.Counts)
	projections := []replica.Projection{index.Projection{Index: ix, Now: d.Time}, catalogue, tallies}
	d.follower = replica.New(d.DB, projections, replica.Options{Now: d.Time, Log: log, StoreChanged: d.signals.StoreChanged, Moved: d.signals.Moved, AppsChanged: d.signals.AppsChanged})
	buckets := ratelimit.NewMemory(1000)
	d.addUseCases(log, buckets, limits)
	deps := public.Deps{
		Streams: d.Streams, StreamWriteTimeout: limits.StreamWriteTimeout,
		BaseURL: cmp.Or(limits.Base, "http://wayside.test"), Now: d.Time, Log: log, Ready: func() error { return nil },
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Revisions:      d.follower,
		Overlay:        limits.Overlay,
		Sources:        catalogue, Accounts: d.Accounts, Feeds: d.Feeds, Pushes: d.Pushes, Buckets: buckets,
		Limits:   httpapi.Limits{GuestReads: 10_000, AccountReads: 10_000, Manage: limits.Manage, Votes: 30},
		Entities: func(id mapdata.FeedID) int { lasting, decaying := ix.Counts(id); return lasting + decaying },
	}
	if d.Passkeys, err = account.NewPasskeys(account.PasskeyConfig{Accounts: d.Accounts, Store: d.DB, BaseURL: deps.BaseURL, ForDecisions: limits.ReviewPasskey}); err != nil {
		t.Fatal(err)
	}
	deps.Passkeys = d.Passkeys
	deps.Audit = audit.New(d.DB)
	deps.Takedowns = takedown.New(takedown.Config{Store: d.DB, Now: d.Time, Signals: d.signals})
	d.Dir = t.TempDir()
	deps.Regions, deps.Imports = func() *region.Region { return nil }, d.newImports(log)
	if !limits.NoApps {
		d.Apps = newApps(t, d, deps.BaseURL, log)
		d.Apps.Tell = d.Streams.AppsChanged
		deps.Apps = d.Apps
	}
	deps.Console = NewConsole(t, &console.Config{
		Apps:    d.Apps,
		Regions: console.Regions{Served: deps.Regions, Imports: deps.Imports},
		BaseURL: deps.BaseURL, Now: d.Time, Log: log, Accounts: d.Accounts, Passkeys: d.Passkeys, Feeds: d.Feeds, Check: newChecker(t, d),
		Secrets: d.Box, Push: d.ingester.Push,
		Audit: deps.Audit, Takedowns: deps.Takedowns, Sources: catalogue, Entities: deps.Entities,
		State: func() console.State { return console.State{Version: "test", Since: Start, Ready: true} },
	})
	reads := nearby.Config{
		Index: ix, Catalog: catalogue, Primary: "tesla", Now: d.Time, Tallies: tallies, Publications: d.follower, Records: d.DB, Encode: wire.EncodeEntity,
		Law: limits.Law,
	}
	ballots := votes.Config{Store: d.DB, Feeds: catalogue, Now: d.Time, StoreChanged: d.signals.StoreChanged, TrustAfter: limits.TrustAfter, ReportsTrust: limits.TrustAfter, Presence: votes.NewPresence(d.Time)}
	d.addReaders(&deps, limits, log, reads, ballots)
	d.Server = httptest.NewServer(public.New(deps))
	d.run(limits, log)
	return d
}

// addUseCases makes what changes the store.
func (d *Service) addUseCases(log *slog.Logger, buckets ratelimit.Buckets, limits Options) {
	d.Accounts = account.New(account.Config{
		Store: d.DB, Now: d.Time, Key: []byte("key"), Places: d.Box, Log: log, StoreChanged: d.signals.StoreChanged, MailQueued: d.signals.MailQueued,
	})
	d.ingester = ingest.New(d.DB, d.Time, d.signals.StoreChanged)
	d.ingester.Limits = limits.Storage
	d.Pushes = push.New(push.Config{
		Store: d.DB, Ingest: d.ingester, Buckets: buckets, Now: d.Time, Log: log, StoreChanged: d.signals.StoreChanged,
		Requests: limits.Requests, Entities: limits.Entities, Memory: limits.Memory,
	})
	d.Feeds = feed.New(feed.Config{
		Store: &countingStore{d.DB, &d.Counted}, Now: d.Time, Signals: d.signals, Storage: limits.Storage, Apps: !limits.NoApps,
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
		Formats: []feed.Format{{Name: "wzdx"}, {Name: "datex2", Zone: true}},
		Seal:    func(plain []byte, id mapdata.FeedID) ([]byte, error) { return d.Box.Seal(plain, id), nil },
	})
	streams := stream.Config{Now: d.Time, Moved: d.signals.Moved, PollInterval: limits.StreamPoll, HeartbeatInterval: limits.StreamHeartbeat}
	if len(limits.Upstreams) > 0 {
		streams.Locate = func(ctx context.Context, id string) (mapdata.Voted, error) { return d.relay.Find(ctx, id) }
	}
	d.Streams = stream.New(streams)
}

// addReaders makes the readers of entities, the votes, and what is built upon them.
func (d *Service) addReaders(deps *public.Deps, limits Options, log *slog.Logger, reads nearby.Config, ballots votes.Config) {
	if len(limits.Upstreams) > 0 {
		d.relay = newRelay(d.T, d, limits, log)
		reads.Live, ballots.Live, deps.Takedowns.Live = d.relay, d.relay, d.relay
		deps.Incidents = &httpapi.Incidents{Attribution: "© the upstreams", Stored: limits.Stored}
	}
	deps.Nearby, deps.Votes = nearby.New(reads), votes.New(ballots)
	if limits.Reports {
		d.Reports = drivers.New(drivers.Config{
			Store: d.DB, Ingest: d.ingester, Nearby: deps.Nearby, Votes: deps.Votes, Feeds: deps.Sources, Revisions: d.follower,
			StoreChanged: d.signals.StoreChanged, Now: d.Time, PerDay: 50, TrustAfter: limits.TrustAfter, Street: limits.Street,
		})
		deps.Reports, deps.Limits.Reports = d.Reports, 10_000
	}
}

// run runs the service's jobs until the test ends.
func (d *Service) run(limits Options, log *slog.Logger) {
	t := d.T
	ctx, stop := context.WithCancel(context.Background())
	var group errgroup.Group
	group.Go(func() error { return d.follower.Run(ctx) })
	if limits.Reports {
		keeper := &drivers.Keeper{Store: d.DB, Enabled: true, StoreChanged: d.signals.StoreChanged, Now: d.Time, Log: log}
		group.Go(func() error { return keeper.Run(ctx) })
		d.awaitReports()
	}
	streaming, endStreams := context.WithCancel(ctx)
	group.Go(func() error { return d.Streams.Run(streaming) })
	d.EndStreams = endStreams
	if d.relay != nil {
		group.Go(func() error { return d.relay.Run(ctx) })
	}
	t.Cleanup(func() {
		endStreams()
		d.Server.Close()
		stop()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
		if err := d.DB.Close(); err != nil {
			t.Error(err)
		}
	})
}

// awaitReports waits until the source of drivers' reports exists.
func (d *Service) awaitReports() {
	d.T.Helper()
	for d.T.Context().Err() == nil {
		if _, err := d.DB.Feed(d.T.Context(), mapdata.DriversID); err == nil {
			return
		}
		runtime.Gosched()
	}
}

// countingStore counts how often entities of a feed are counted in the database.
type countingStore struct {
	*sqlite.DB
	counted *atomic.Int64
}

// CountEntities counts the call, and the entities.
func (s *countingStore) CountEntities(ctx context.Context, id mapdata.FeedID, now time.Time) (int, error) {
	s.counted.Add(1)
	return s.DB.CountEntities(ctx, id, now)
}

// newRelay returns the built-in source with real upstreams.
func newRelay(t *testing.T, d *Service, limits Options, log *slog.Logger) *relay.Service {
	t.Helper()
	web, err := safehttp.New(safehttp.Options{UserAgent: "wayside/test", Timeout: 2 * time.Second, PerHost: 64})
	if err != nil {
		t.Fatal(err)
	}
	cache := memory.New(d.Time)
	var pins live.Driver = cache
	if limits.Stored {
		pins = d.DB.Live()
	}
	c := relay.Config{
		Moved: d.signals.Moved,
		Web:   web, Windows: cache, Pins: live.New(pins, relay.Prepare(wire.EncodeEntity), d.Time), Key: []byte("key"), Now: d.Time, Log: log,
	}
	for i, address := range limits.Upstreams {
		u, err := safehttp.OperatorURL(address)
		if err != nil {
			t.Fatal(err)
		}
		c.Upstreams = append(c.Upstreams, relay.Upstream{Name: fmt.Sprintf("upstream-%d", i), URL: u, Secret: "s", Priority: i + 1})
	}
	return relay.New(c)
}

// newChecker returns a checker of feeds with the real HTTP client, which refuses addresses of this machine.
func newChecker(t *testing.T, d *Service) *trial.Checker {
	t.Helper()
	web, err := safehttp.New(safehttp.Options{UserAgent: "wayside/test", Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return trial.NewChecker(web, t.TempDir(), d.Time)
}

// WaitForIndex waits until the index contains everything that is stored.
func (d *Service) WaitForIndex() {
	d.T.Helper()
	state, err := d.DB.State(d.T.Context())
	if err != nil {
		d.T.Fatal(err)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !d.follower.Loaded() || d.follower.Revision() < state.Revision {
		select {
		case <-tick.C:
		case <-deadline:
			d.T.Fatal("stored entities cannot be read after a minute")
		}
	}
}

// SignedInAs creates an account with a role and returns a browser that is signed in.
func (d *Service) SignedInAs(email string, role mapdata.Role) *Browser {
	d.T.Helper()
	if _, err := d.Accounts.Create(d.T.Context(), email); err != nil {
		d.T.Fatal(err)
	}
	if _, err := d.Accounts.SetRole(d.T.Context(), email, role); err != nil {
		d.T.Fatal(err)
	}
	link, err := d.Accounts.LoginLink(d.T.Context(), email)
	if err != nil {
		d.T.Fatal(err)
	}
	b := d.Browser()
	b.Send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).Want(d.T, http.StatusOK)
	return b
}

// Registered is the response to a registration.
type Registered struct {
	Feed  map[string]any
	Layer map[string]any
	Token *string `json:"push_ingest_token"`
}

// ID returns the id of the feed.
func (r *Registered) ID() string { return r.Feed["id"].(string) }

// Path returns the address of the feed in the API.
func (r *Registered) Path() string { return "/v2/feeds/" + r.ID() }

// Register registers a feed.
func (b *Browser) Register(body string) *Registered {
	b.T.Helper()
	var r Registered
	b.Send(http.MethodPost, "/v2/feeds", body).Want(b.T, http.StatusCreated).Decode(b.T, &r)
	return &r
}

// RegisterPush registers a public push feed.
func (b *Browser) RegisterPush(name string) *Registered {
	b.T.Helper()
	return b.Register(fmt.Sprintf(`{"name": %q, "direction": "push", "visibility": "public"}`, name))
}

// FeedOf returns the feed of a response.
func (r Reply) FeedOf(t *testing.T) map[string]any {
	t.Helper()
	var answer struct{ Feed map[string]any }
	r.Want(t, http.StatusOK).Decode(t, &answer)
	return answer.Feed
}

// FieldErrors returns field and code of each field error of a problem.
func (r Reply) FieldErrors(t *testing.T) []string {
	t.Helper()
	var p struct {
		Errors []struct{ Field, Code, Message string }
	}
	r.Decode(t, &p)
	var all []string
	for _, e := range p.Errors {
		if e.Message == "" {
			t.Errorf("%s %s says nothing", e.Field, e.Code)
		}
		all = append(all, e.Field+" "+e.Code)
	}
	return all
}

// Push sends a batch; header pairs may follow.
func (d *Service) Push(token, body string, header ...string) Reply {
	d.T.Helper()
	return d.Browser().Send(http.MethodPost, "/v2/feeds/"+token+"/entities", body, header...)
}

// Rows returns a batch of n valid rows at one place.
func Rows(n int, lat, lng float64) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `,{"external_id":"r%d","kind":"camera.speed","lat":%f,"lng":%f,"properties":{}}`, i, lat, lng)
	}
	return "[" + strings.TrimPrefix(out.String(), ",") + "]"
}

// NearbyIDs returns the external ids that a browser reads around 52, 5, sorted.
func (d *Service) NearbyIDs(b *Browser) []string {
	d.T.Helper()
	d.WaitForIndex()
	var a Answer
	b.Send(http.MethodGet, "/v2/entities/nearby?lat=52&lng=5&radius=1000&limit=1000", "").Want(d.T, http.StatusOK).Decode(d.T, &a)
	ids := a.ExternalIDs()
	slices.Sort(ids)
	return ids
}

// Serve calls the handler without a network, for tests that observe how the body is read.
func (d *Service) Serve(req *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	d.Server.Config.Handler.ServeHTTP(w, req)
	return w
}

// StoreEntity stores one entity in a feed of either direction.
func (d *Service) StoreEntity(id mapdata.FeedID) {
	d.T.Helper()
	batch, err := ingest.DecodeBatch([]byte(Rows(1, 52, 5)), d.Time())
	if err != nil {
		d.T.Fatal(err)
	}
	if _, err := d.ingester.Push(d.T.Context(), id, batch); err != nil {
		d.T.Fatal(err)
	}
}

// WaitFor waits until a condition holds.
func (d *Service) WaitFor(failure string, condition func() bool) {
	d.T.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(EventTimeout)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			d.T.Fatal(failure)
		}
	}
}
