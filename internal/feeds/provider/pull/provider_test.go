package pull

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"wayside/internal/feeds/ingest"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/safehttp"
	"wayside/internal/ground/signal"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

// testService is a real store, a real ingester and a real HTTP client for providers on loopback.
type testService struct {
	t     *testing.T
	db    *sqlite.DB
	owner mapdata.AccountID
	hosts map[string]netip.Addr
	roots *x509.CertPool
	polls chan mapdata.Outcome
}

// fetchTimeout is the limit of time for a fetch: late, for a busy machine; hangTimeout is that of tests in which a provider hangs.
const (
	fetchTimeout = time.Minute
	hangTimeout  = 2 * time.Second
)

func newTestService(t *testing.T) *testService {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
	db, err := sqlite.Open(t.Context(), sqlitetest.Path(t), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	owner, err := mapdata.NewAccountID()
	if err != nil {
		t.Fatal(err)
	}
	account := &mapdata.Account{ID: owner, Email: "owner@example.org", Role: mapdata.Driver, Tier: mapdata.TierAccount, CreatedAt: time.Now()}
	if err := db.CreateAccount(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	return &testService{t: t, db: db, owner: owner, hosts: make(map[string]netip.Addr), roots: x509.NewCertPool(), polls: make(chan mapdata.Outcome, 100)}
}

// provider starts a TLS server, and returns its URL with the given host name.
func (w *testService) provider(name string, answer http.HandlerFunc) (url string) {
	w.t.Helper()
	s := httptest.NewUnstartedServer(answer)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	w.t.Cleanup(s.Close)
	w.roots.AddCert(s.Certificate())
	return w.named(name, s.Listener.Addr())
}

func (w *testService) named(name string, addr net.Addr) string {
	host := name + ".example.com" // the certificate of httptest is for these names
	w.hosts[host] = netip.MustParseAddr("127.0.0.1")
	return fmt.Sprintf("https://%s:%d/feed.json", host, addr.(*net.TCPAddr).Port)
}

func (w *testService) register(url string) mapdata.FeedID {
	w.t.Helper()
	id := newID(w.t)
	now := time.Now()
	f := &mapdata.Feed{
		ID: id, Owner: w.owner, Name: "A feed", Layer: mapdata.Layer{ID: id.String(), Slug: "a-feed", Name: "A feed"},
		Direction: mapdata.Pull, Visibility: mapdata.Private, Active: true, ReviewState: mapdata.Pending, CreatedAt: now, UpdatedAt: now,
		PullURL: url, PullInterval: time.Hour, Polling: mapdata.Polling{NextFetchAt: now.Add(-time.Second)},
	}
	if err := w.db.CreateFeed(w.t.Context(), f, 1000); err != nil {
		w.t.Fatal(err)
	}
	return id
}

func (w *testService) feed(id mapdata.FeedID) *mapdata.Feed {
	w.t.Helper()
	f, err := w.db.Feed(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

func (w *testService) poller(change func(*safehttp.Options)) *Poller {
	w.t.Helper()
	o := safehttp.Options{UserAgent: "wayside/test", Hosts: w.hosts, RootCAs: w.roots, Timeout: fetchTimeout, MaxBody: 1 << 20}
	if change != nil {
		change(&o)
	}
	client, err := safehttp.New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	m := newMemory(w.t)
	return m.poller(client, func(o *Options) {
		o.Store, o.Ingest = w.db, ingest.New(w.db, time.Now, signal.StoreChanged{})
		o.Observe = func(outcome mapdata.Outcome, _ time.Duration) { w.polls <- outcome }
	})
}

const goodRow = `{"external_id":"a","kind":"alert.construction","lat":52.37,"lng":4.9,"properties":{}}`

func respond(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// TestOutcomes checks every outcome of D6.7, from a provider on a real connection to the text for its owner.
func TestOutcomes(t *testing.T) {
	w := newTestService(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := w.named("gone", closed.Addr())
	closed.Close()
	plain := httptest.NewServer(respond("[]"))
	t.Cleanup(plain.Close)

	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	fmt.Fprint(z, "["+strings.Repeat(" ", 2<<20)+"]")
	z.Close()

	w.holdOutcomes(t, fetchTimeout, []outcomeTest{
		{"rows", w.provider("rows", respond("["+goodRow+"]")), mapdata.OutcomeOK, 1, 0},
		{"byte order mark", w.provider("bom", respond("\ufeff["+goodRow+"] \n")), mapdata.OutcomeOK, 1, 0},
		{"none", w.provider("none", respond("[]")), mapdata.OutcomeOK, 0, 0},
		{"no good one", w.provider("nogood", respond(`[{"external_id":"a"},7,null]`)), mapdata.OutcomeOK, 3, 3},
		{"gzip", w.provider("gzip", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			fmt.Fprint(z, "["+goodRow+"]")
			z.Close()
		}), mapdata.OutcomeOK, 1, 0},
		{"empty body", w.provider("empty", respond("")), mapdata.OutcomeParseError, 0, 0},
		{"no JSON", w.provider("nojson", respond("<html>hostile</html>")), mapdata.OutcomeParseError, 0, 0},
		{"cut off", w.provider("cut", respond("["+goodRow+",")), mapdata.OutcomeParseError, 0, 0},
		{"two texts", w.provider("two", respond("["+goodRow+"][]")), mapdata.OutcomeParseError, 0, 0},
		{"an object", w.provider("object", respond(`{"entities":[]}`)), mapdata.OutcomeNotAnArray, 0, 0},
		{"null", w.provider("null", respond(`null`)), mapdata.OutcomeNotAnArray, 0, 0},
		{"too many rows", w.provider("many", respond("["+strings.Repeat("1,", ingest.MaxSnapshotRows)+"1]")), mapdata.OutcomeTooLarge, 0, 0},
		{"too large", w.provider("large", respond(strings.Repeat(" ", 1<<20+1))), mapdata.OutcomeTooLarge, 0, 0},
		{"gzip bomb", w.provider("bomb", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		}), mapdata.OutcomeTooLarge, 0, 0},
		{"status", w.provider("status", http.NotFound), mapdata.OutcomeHTTPStatus, 0, 0},
		{"redirects", w.provider("redirects", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }), mapdata.OutcomeRedirectError, 0, 0},
		{"closed port", gone, mapdata.OutcomeConnectionError, 0, 0},
		{"no TLS", w.named("plain", plain.Listener.Addr()), mapdata.OutcomeTLSError, 0, 0},
		{"no address", "https://unknown.example.com/feed.json", mapdata.OutcomeDNSError, 0, 0},
		{"private address", "https://private.example.com/feed.json", mapdata.OutcomeBlockedAddress, 0, 0},
	})
}

// A provider that hangs before its answer or within it.
func TestTimeouts(t *testing.T) {
	w := newTestService(t)
	w.holdOutcomes(t, hangTimeout, []outcomeTest{
		{"hangs", w.provider("hangs", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), mapdata.OutcomeTimeout, 0, 0},
		{"trickles", w.provider("trickles", func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "["+goodRow)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}), mapdata.OutcomeTimeout, 0, 0},
	})
}

type outcomeTest struct {
	name           string
	url            string
	want           mapdata.Outcome
	rows, rejected int
}

// holdOutcomes polls a feed for each of the tests, side by side.
func (w *testService) holdOutcomes(t *testing.T, timeout time.Duration, tests []outcomeTest) {
	t.Helper()
	ids := make([]mapdata.FeedID, len(tests))
	for i, tt := range tests {
		ids[i] = w.register(tt.url)
	}
	stop := run(t, w.poller(func(o *safehttp.Options) { o.Resolver, o.Timeout = resolver{}, timeout }))
	for range tests {
		<-w.polls
	}
	stop()
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := w.feed(ids[i]).Polling
			if p.LastOutcome != tt.want || p.LastRows != tt.rows || p.LastRejected != tt.rejected || p.LastFetchedAt.IsZero() || !p.NextFetchAt.After(time.Now()) {
				t.Errorf("%+v", p)
			}
			failed := tt.want != mapdata.OutcomeOK
			if failed != (p.ConsecutiveFailures == 1) || failed != (p.LastError != "") || strings.Contains(p.LastError, "hostile") {
				t.Errorf("%d failures, %q", p.ConsecutiveFailures, p.LastError)
			}
		})
	}
}

type resolver struct{}

func (resolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if host == "private.example.com." {
		return []netip.Addr{netip.MustParseAddr("192.168.1.1")}, nil
	}
	return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
}

// TestFailureChangesNoEntity checks that a failed poll changes no entity (D6.8).
func TestFailureChangesNoEntity(t *testing.T) {
	w := newTestService(t)
	answers := make(chan string, 2)
	answers <- "[" + goodRow + "]"
	answers <- "[" + strings.ReplaceAll(goodRow, `"a"`, `"b"`) + ","
	id := w.register(w.provider("turns", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, <-answers) }))
	count := func() int {
		n, err := w.db.CountEntities(t.Context(), id, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	stop := run(t, w.poller(nil))
	if got := <-w.polls; got != mapdata.OutcomeOK || count() != 1 {
		t.Errorf("%s, %d entities", got, count())
	}
	stop()
	edit := func(f *mapdata.Feed) (mapdata.Side, error) {
		f.Polling.NextFetchAt = time.Now().Add(-time.Second)
		return mapdata.Side{}, nil
	}
	if _, err := w.db.UpdateFeed(t.Context(), id, edit); err != nil {
		t.Fatal(err)
	}
	stop = run(t, w.poller(nil))
	if got := <-w.polls; got != mapdata.OutcomeParseError || count() != 1 {
		t.Errorf("%s, %d entities", got, count())
	}
	stop()
	if p := w.feed(id).Polling; p.ConsecutiveFailures != 1 || p.LastRows != 1 || len(p.BodyHash) == 0 {
		t.Errorf("%+v", p)
	}
}

// TestHangingProvider checks that a host that hangs delays only its own feeds, on real connections too (D6.12).
func TestHangingProvider(t *testing.T) {
	w := newTestService(t)
	hangs := w.provider("hangs", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for range 20 {
		w.register(hangs)
	}
	w.register(w.provider("quick", respond("[]")))
	began := time.Now()
	stop := run(t, w.poller(func(o *safehttp.Options) { o.Timeout = time.Minute }))
	if got := <-w.polls; got != mapdata.OutcomeOK {
		t.Errorf("first came %s after %v", got, time.Since(began))
	}
	stop() // ends polls that hang, uncounted
	if len(w.polls) != 0 {
		t.Errorf("%d more polls counted", len(w.polls))
	}
}
