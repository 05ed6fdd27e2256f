package httpapi_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
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
	"wayside/internal/people/account"
	"wayside/internal/people/apps"
	"wayside/internal/people/audit"
	"wayside/internal/people/takedown"
	"wayside/internal/roads/region"
	"wayside/internal/store/replica"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

// testService is the service without pollers and mail, with a real database and a real server. Only the test advances
// its clock.
type testService struct {
	*authService
	db       *sqlite.DB
	accounts *account.Service
	passkeys *account.Passkeys
	feeds    *feed.Service
	pushes   *push.Service
	ingester *ingest.Ingester
	follower *replica.Follower
	signals  signal.Set
	dir      string // of region files and extracts
	box      *secret.Box
	apps     *apps.Service    // nil: they are off
	page     apps.Page        // how the pages of apps answer
	unproven bool             // no proof is published
	relay    *relay.Service   // nil: no upstream
	reports  *drivers.Service // nil: they are off
	streams  *stream.Hub
	counted  atomic.Int64 // how often entities of a feed were counted in the database

	endStreams func()
}

// serviceOptions are the options of a testService. newTestService uses the limits of D14, except for management, because tests make
// many such calls.
type serviceOptions struct {
	manage, requests, entities, maxPages int

	storage mapdata.StorageLimits
	memory  *budget.Part // for bodies of pushes; nil: the default

	upstreams []string // addresses of relay providers, the first ranks first
	stored    bool     // incidents.mode is database

	law     *law.Law // nil: nothing is hidden
	overlay fs.FS    // nil: there is no page for cars

	trustAfter time.Duration                                     // votes.trust_after; 0: votes count towards suppression immediately
	street     func(context.Context, geo.Point, *float64) string // of a report; nil: unknown

	reviewPasskey bool

	// Intervals of streams and the timeout of writing to one; 0: the defaults.
	streamPoll, streamHeartbeat, streamWriteTimeout time.Duration

	noApps  bool // apps.enabled is false
	reports bool // drivers.enabled is true

	base string // public address; empty: http://wayside.test, where browsers offer no passkeys
}

func newTestService(t *testing.T) *testService {
	t.Helper()
	return newTestServiceWith(t, serviceOptions{manage: 10_000, requests: 60, entities: 10_000})
}

func newTestServiceWith(t *testing.T, limits serviceOptions) *testService {
	t.Helper()
	d := &testService{authService: &authService{t: t, now: start}, signals: signal.NewSet()}
	log := slog.New(slog.NewTextHandler(&d.log, nil))
	var err error
	d.db, err = sqlite.Open(t.Context(), sqlitetest.Path(t), sqlite.Options{Now: d.time, MaxPages: limits.maxPages})
	if err != nil {
		t.Fatal(err)
	}
	if d.box, err = secret.New(make([]byte, secret.KeySize)); err != nil {
		t.Fatal(err)
	}
	ix, tallies := index.New(wire.EncodeEntity), votes.NewTallies(d.time)
	catalogue := catalog.New(ix.Counts)
	projections := []replica.Projection{index.Projection{Index: ix, Now: d.time}, catalogue, tallies}
	d.follower = replica.New(d.db, projections, replica.Options{Now: d.time, Log: log, StoreChanged: d.signals.StoreChanged, Moved: d.signals.Moved, AppsChanged: d.signals.AppsChanged})
	buckets := ratelimit.NewMemory(1000)
	d.accounts = account.New(account.Config{
		Store: d.db, Now: d.time, Key: []byte("key"), Places: d.box, Log: log, StoreChanged: d.signals.StoreChanged, MailQueued: d.signals.MailQueued,
	})
	d.ingester = ingest.New(d.db, d.time, d.signals.StoreChanged)
	d.ingester.Limits = limits.storage
	d.pushes = push.New(push.Config{
		Store: d.db, Ingest: d.ingester, Buckets: buckets, Now: d.time, Log: log, StoreChanged: d.signals.StoreChanged,
		Requests: limits.requests, Entities: limits.entities, Memory: limits.memory,
	})
	d.feeds = feed.New(feed.Config{
		Store: &countingStore{d.db, &d.counted}, Now: d.time, Signals: d.signals, Storage: limits.storage, Apps: !limits.noApps,
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
		Seal:    func(plain []byte, id mapdata.FeedID) ([]byte, error) { return d.box.Seal(plain, id), nil },
	})
	streams := stream.Config{Now: d.time, Moved: d.signals.Moved, PollInterval: limits.streamPoll, HeartbeatInterval: limits.streamHeartbeat}
	if len(limits.upstreams) > 0 {
		streams.Locate = func(ctx context.Context, id string) (mapdata.Voted, error) { return d.relay.Find(ctx, id) }
	}
	d.streams = stream.New(streams)
	deps := httpapi.Deps{
		Streams: d.streams, StreamWriteTimeout: limits.streamWriteTimeout,
		BaseURL: cmp.Or(limits.base, "http://wayside.test"), Now: d.time, Log: log, Ready: func() error { return nil },
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Revisions:      d.follower,
		Overlay:        limits.overlay,
		Sources:        catalogue, Accounts: d.accounts, Feeds: d.feeds, Pushes: d.pushes, Buckets: buckets,
		Limits:   httpapi.Limits{GuestReads: 10_000, AccountReads: 10_000, Manage: limits.manage, Votes: 30},
		Entities: func(id mapdata.FeedID) int { lasting, decaying := ix.Counts(id); return lasting + decaying },
	}
	if d.passkeys, err = account.NewPasskeys(account.PasskeyConfig{Accounts: d.accounts, Store: d.db, BaseURL: deps.BaseURL, ForDecisions: limits.reviewPasskey}); err != nil {
		t.Fatal(err)
	}
	deps.Passkeys = d.passkeys
	deps.Audit = audit.New(d.db)
	deps.Takedowns = takedown.New(takedown.Config{Store: d.db, Now: d.time, Signals: d.signals})
	d.dir = t.TempDir()
	deps.Regions, deps.Imports = func() *region.Region { return nil }, d.newImports(log)
	if !limits.noApps {
		d.apps = newApps(t, d, deps.BaseURL, log)
		d.apps.Tell = d.streams.AppsChanged
		deps.Apps = d.apps
	}
	deps.Console = newConsole(t, &console.Config{
		Apps:    d.apps,
		Regions: console.Regions{Served: deps.Regions, Imports: deps.Imports},
		BaseURL: deps.BaseURL, Now: d.time, Log: log, Accounts: d.accounts, Passkeys: d.passkeys, Feeds: d.feeds, Check: newChecker(t, d),
		Secrets: d.box, Push: d.ingester.Push,
		Audit: deps.Audit, Takedowns: deps.Takedowns, Sources: catalogue, Entities: deps.Entities,
		State: func() console.State { return console.State{Version: "test", Since: start, Ready: true} },
	})
	reads := nearby.Config{
		Index: ix, Catalog: catalogue, Primary: "tesla", Now: d.time, Tallies: tallies, Publications: d.follower, Records: d.db, Encode: wire.EncodeEntity,
		Law: limits.law,
	}
	ballots := votes.Config{Store: d.db, Feeds: catalogue, Now: d.time, StoreChanged: d.signals.StoreChanged, TrustAfter: limits.trustAfter, ReportsTrust: limits.trustAfter, Presence: votes.NewPresence(d.time)}
	if len(limits.upstreams) > 0 {
		d.relay = newRelay(t, d, limits, log)
		reads.Live, ballots.Live, deps.Takedowns.Live = d.relay, d.relay, d.relay
		deps.Incidents = &httpapi.Incidents{Attribution: "© the upstreams", Stored: limits.stored}
	}
	deps.Nearby, deps.Votes = nearby.New(reads), votes.New(ballots)
	if limits.reports {
		d.reports = drivers.New(drivers.Config{
			Store: d.db, Ingest: d.ingester, Nearby: deps.Nearby, Votes: deps.Votes, Feeds: catalogue, Revisions: d.follower,
			StoreChanged: d.signals.StoreChanged, Now: d.time, PerDay: 50, TrustAfter: limits.trustAfter, Street: limits.street,
		})
		deps.Reports, deps.Limits.Reports = d.reports, 10_000
	}
	d.server = httptest.NewServer(httpapi.New(deps))
	ctx, stop := context.WithCancel(context.Background())
	var group errgroup.Group
	group.Go(func() error { return d.follower.Run(ctx) })
	if limits.reports {
		keeper := &drivers.Keeper{Store: d.db, Enabled: true, StoreChanged: d.signals.StoreChanged, Now: d.time, Log: log}
		group.Go(func() error { return keeper.Run(ctx) })
		d.awaitReports()
	}
	streaming, endStreams := context.WithCancel(ctx)
	group.Go(func() error { return d.streams.Run(streaming) })
	d.endStreams = endStreams
	if d.relay != nil {
		group.Go(func() error { return d.relay.Run(ctx) })
	}
	t.Cleanup(func() {
		endStreams()
		d.server.Close()
		stop()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
		if err := d.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// awaitReports waits until the source of drivers' reports exists.
func (d *testService) awaitReports() {
	d.t.Helper()
	for d.t.Context().Err() == nil {
		if _, err := d.db.Feed(d.t.Context(), mapdata.DriversID); err == nil {
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

func (s *countingStore) CountEntities(ctx context.Context, id mapdata.FeedID, now time.Time) (int, error) {
	s.counted.Add(1)
	return s.DB.CountEntities(ctx, id, now)
}

// newRelay returns the built-in source with real upstreams.
func newRelay(t *testing.T, d *testService, limits serviceOptions, log *slog.Logger) *relay.Service {
	t.Helper()
	web, err := safehttp.New(safehttp.Options{UserAgent: "wayside/test", Timeout: 2 * time.Second, PerHost: 64})
	if err != nil {
		t.Fatal(err)
	}
	cache := memory.New(d.time)
	var pins live.Driver = cache
	if limits.stored {
		pins = d.db.Live()
	}
	c := relay.Config{
		Moved: d.signals.Moved,
		Web:   web, Windows: cache, Pins: live.New(pins, relay.Prepare(wire.EncodeEntity), d.time), Key: []byte("key"), Now: d.time, Log: log,
	}
	for i, address := range limits.upstreams {
		u, err := safehttp.OperatorURL(address)
		if err != nil {
			t.Fatal(err)
		}
		c.Upstreams = append(c.Upstreams, relay.Upstream{Name: fmt.Sprintf("upstream-%d", i), URL: u, Secret: "s", Priority: i + 1})
	}
	return relay.New(c)
}

// newChecker returns a checker of feeds with the real HTTP client, which refuses addresses of this machine.
func newChecker(t *testing.T, d *testService) *trial.Checker {
	t.Helper()
	web, err := safehttp.New(safehttp.Options{UserAgent: "wayside/test", Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return trial.NewChecker(web, t.TempDir(), d.time)
}

// waitForIndex waits until the index contains everything that is stored.
func (d *testService) waitForIndex() {
	d.t.Helper()
	state, err := d.db.State(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !d.follower.Loaded() || d.follower.Revision() < state.Revision {
		select {
		case <-tick.C:
		case <-deadline:
			d.t.Fatal("stored entities cannot be read after a minute")
		}
	}
}

// signedInAs creates an account with a role and returns a browser that is signed in.
func (d *testService) signedInAs(email string, role mapdata.Role) *browser {
	d.t.Helper()
	if _, err := d.accounts.Create(d.t.Context(), email); err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.accounts.SetRole(d.t.Context(), email, role); err != nil {
		d.t.Fatal(err)
	}
	link, err := d.accounts.LoginLink(d.t.Context(), email)
	if err != nil {
		d.t.Fatal(err)
	}
	b := d.browser()
	b.send(http.MethodPost, "/v2/auth/verify", fmt.Sprintf(`{"token": %q}`, link)).want(d.t, http.StatusOK)
	return b
}

// registered is the response to a registration.
type registered struct {
	Feed  map[string]any
	Layer map[string]any
	Token *string `json:"push_ingest_token"`
}

func (r *registered) id() string   { return r.Feed["id"].(string) }
func (r *registered) path() string { return "/v2/feeds/" + r.id() }

func (b *browser) register(body string) *registered {
	b.t.Helper()
	var r registered
	b.send(http.MethodPost, "/v2/feeds", body).want(b.t, http.StatusCreated).decode(b.t, &r)
	return &r
}

func (b *browser) registerPush(name string) *registered {
	b.t.Helper()
	return b.register(fmt.Sprintf(`{"name": %q, "direction": "push", "visibility": "public"}`, name))
}

// feedOf returns the feed of a response.
func (r reply) feedOf(t *testing.T) map[string]any {
	t.Helper()
	var answer struct{ Feed map[string]any }
	r.want(t, http.StatusOK).decode(t, &answer)
	return answer.Feed
}

// fieldErrors returns field and code of each field error of a problem.
func (r reply) fieldErrors(t *testing.T) []string {
	t.Helper()
	var p struct {
		Errors []struct{ Field, Code, Message string }
	}
	r.decode(t, &p)
	var all []string
	for _, e := range p.Errors {
		if e.Message == "" {
			t.Errorf("%s %s says nothing", e.Field, e.Code)
		}
		all = append(all, e.Field+" "+e.Code)
	}
	return all
}

// push sends a batch; header pairs may follow.
func (d *testService) push(token, body string, header ...string) reply {
	d.t.Helper()
	return d.browser().send(http.MethodPost, "/v2/feeds/"+token+"/entities", body, header...)
}

// rows returns a batch of n valid rows at one place.
func rows(n int, lat, lng float64) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `,{"external_id":"r%d","kind":"camera.speed","lat":%f,"lng":%f,"properties":{}}`, i, lat, lng)
	}
	return "[" + strings.TrimPrefix(out.String(), ",") + "]"
}

// nearbyIDs returns the external ids that a browser reads around 52, 5, sorted.
func (d *testService) nearbyIDs(b *browser) []string {
	d.t.Helper()
	d.waitForIndex()
	var a answer
	b.send(http.MethodGet, "/v2/entities/nearby?lat=52&lng=5&radius=1000&limit=1000", "").want(d.t, http.StatusOK).decode(d.t, &a)
	ids := a.externalIDs()
	slices.Sort(ids)
	return ids
}

// serve calls the handler without a network, for tests that observe how the body is read.
func (d *testService) serve(req *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	d.server.Config.Handler.ServeHTTP(w, req)
	return w
}

// unreadBody is a body whose reading fails the test.
type unreadBody struct{ t *testing.T }

func (u unreadBody) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}

// storeEntity stores one entity in a feed of either direction.
func (d *testService) storeEntity(id mapdata.FeedID) {
	d.t.Helper()
	batch, err := ingest.DecodeBatch([]byte(rows(1, 52, 5)), d.time())
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.ingester.Push(d.t.Context(), id, batch); err != nil {
		d.t.Fatal(err)
	}
}

// waitFor waits until a condition holds.
func (d *testService) waitFor(failure string, condition func() bool) {
	d.t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(eventTimeout)
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline:
			d.t.Fatal(failure)
		}
	}
}
