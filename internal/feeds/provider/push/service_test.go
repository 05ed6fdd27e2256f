package push_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/feeds/ingest"
	"wayside/internal/feeds/provider/push"
	"wayside/internal/ground/budget"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/ratelimit"
	"wayside/internal/ground/signal"
	"wayside/internal/ground/token"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

var (
	start  = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	client = netip.MustParseAddr("192.0.2.7")
)

// dock is the service on a real database with one push feed.
type dock struct {
	*push.Service
	db      *sqlite.DB
	feed    mapdata.FeedID
	token   string
	log     strings.Builder
	changed signal.StoreChanged
}

func newDock(tb testing.TB) *dock {
	tb.Helper()
	now := func() time.Time { return start }
	db, err := sqlite.Open(tb.Context(), sqlitetest.Path(tb), sqlite.Options{Now: now})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	d := &dock{db: db, changed: signal.NewStoreChanged(), token: token.New(token.Push)}
	owner := &mapdata.Account{Email: "owner@example.com", Role: mapdata.Driver, Tier: mapdata.TierAccount, CreatedAt: start}
	if owner.ID, err = mapdata.NewAccountID(); err != nil {
		tb.Fatal(err)
	}
	if err := db.CreateAccount(tb.Context(), owner); err != nil {
		tb.Fatal(err)
	}
	f := &mapdata.Feed{
		Owner: owner.ID, Layer: mapdata.Layer{ID: "l", Slug: "l", Name: "l"}, Name: "l", Direction: mapdata.Push, Visibility: mapdata.Private,
		Active: true, ReviewState: mapdata.Pending, CreatedAt: start, UpdatedAt: start, PushTokenHash: token.Hash(d.token),
	}
	if f.ID, err = mapdata.NewFeedID(); err != nil {
		tb.Fatal(err)
	}
	if err := db.CreateFeed(tb.Context(), f, 1); err != nil {
		tb.Fatal(err)
	}
	d.feed = f.ID
	d.Service = push.New(push.Config{
		Store: db, Ingest: ingest.New(db, now, signal.StoreChanged{}), Buckets: ratelimit.NewMemory(1000), Now: now,
		Log: slog.New(slog.NewTextHandler(&d.log, nil)), Requests: 60, Entities: 10_000, StoreChanged: d.changed,
	})
	return d
}

// push sends a text as the handler does.
func (d *dock) push(tb testing.TB, text string, body io.Reader) (ingest.Report, error) {
	tb.Helper()
	a, err := d.Admit(tb.Context(), text, client)
	if err != nil {
		return ingest.Report{}, err
	}
	defer a.Close()
	return a.Push(tb.Context(), nil, body)
}

// readFunc is a body whose first read calls it and continues with the text that it returns.
type readFunc struct {
	begin func() (string, error)
	rest  io.Reader
	ended chan<- struct{} // receives a value when the text has been read; may be nil
}

func (r *readFunc) Read(p []byte) (int, error) {
	if r.rest == nil {
		text, err := r.begin()
		if err != nil {
			return 0, err
		}
		r.rest = strings.NewReader(text)
	}
	n, err := r.rest.Read(p)
	if err != nil && r.ended != nil {
		r.ended <- struct{}{}
	}
	return n, err
}

// left returns how many requests the token may still send at now.
func (d *dock) left(now time.Time) int {
	return d.Buckets.Peek(ratelimit.HashKey(ratelimit.Pushes, token.Hash(d.token)), ratelimit.PerMinute(d.Requests), 0, now).Remaining
}

// TestRatesAreTakenTogether pushes from many goroutines at the same time, repeatedly, and checks that as many pass as
// the rates allow, and that a refusal by the rate of rows takes no request (D7.3). A push that finds two others in
// progress is sent again (D7.1).
func TestRatesAreTakenTogether(t *testing.T) {
	d := newDock(t)
	d.Requests, d.Entities = 30, 100
	const rounds, pushes = 30, 25
	for round := range rounds {
		now := start.Add(time.Duration(round) * time.Minute) // all buckets are full again
		d.Now = func() time.Time { return now }
		var (
			group      sync.WaitGroup
			ok, limits atomic.Int32
			places     = make(chan struct{}, 2)
		)
		for range pushes { // 10 of 10 rows pass
			group.Go(func() {
				places <- struct{}{}
				defer func() { <-places }()
				_, err := d.push(t, d.token, strings.NewReader("[0,0,0,0,0,0,0,0,0,0]"))
				var limit *mapdata.LimitError
				switch {
				case err == nil:
					ok.Add(1)
				case errors.As(err, &limit):
					limits.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if left := d.left(now); ok.Load() != 10 || limits.Load() != pushes-10 || left != 20 {
			t.Fatalf("round %d: %d passed, %d were refused, %d requests are left; want 10, %d, 20", round, ok.Load(), limits.Load(), left, pushes-10)
		}
	}
}

// TestARequestCountsBeforeItsBody checks that a body that stalls or is malformed takes a request, and that one that the
// service cannot store does not (D7.1).
func TestARequestCountsBeforeItsBody(t *testing.T) {
	d := newDock(t)
	a, err := d.Admit(t.Context(), d.token, client)
	if err != nil {
		t.Fatal(err)
	}
	if left := d.left(start); left != 59 {
		t.Errorf("%d requests are left while a body is waited for, want 59", left)
	}
	a.Close()
	if _, err := d.push(t, d.token, strings.NewReader("{")); !errors.Is(err, mapdata.ErrMalformed) {
		t.Error(err)
	}
	if left := d.left(start); left != 58 {
		t.Errorf("%d requests are left after a malformed body, want 58", left)
	}
	rows := d.Buckets.Peek(ratelimit.HashKey(ratelimit.PushEntities, token.Hash(d.token)), ratelimit.PerMinute(d.Entities), 0, start).Remaining
	d.Ingest = ingest.New(full{d.db}, d.Now, signal.StoreChanged{})
	if _, err := d.push(t, d.token, strings.NewReader("[1,2,3]")); !errors.Is(err, mapdata.ErrUnavailable) {
		t.Error(err)
	}
	after := d.Buckets.Peek(ratelimit.HashKey(ratelimit.PushEntities, token.Hash(d.token)), ratelimit.PerMinute(d.Entities), 0, start).Remaining
	if left := d.left(start); left != 58 || after != rows {
		t.Errorf("%d requests and %d rows are left after a full disk, want 58 and %d", left, after, rows)
	}
	if d.HeldBytes() != 0 {
		t.Errorf("%d bytes are held at rest", d.HeldBytes())
	}
}

// full is a store without room.
type full struct{ ingest.Store }

func (full) Apply(context.Context, *mapdata.Change) error { return mapdata.ErrUnavailable }

// TestBodiesAtOnceAreBounded checks the bounds of concurrent bodies: two of one token, and the memory of an account and
// of a node (D7.1).
func TestBodiesAtOnceAreBounded(t *testing.T) {
	d := newDock(t)
	d.Entities = 0
	var limit *mapdata.LimitError
	admit := func() *push.Admission {
		t.Helper()
		a, err := d.Admit(t.Context(), d.token, client)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first, second := admit(), admit()
	if _, err := d.Admit(t.Context(), d.token, client); !errors.As(err, &limit) || limit.RetryAfter != time.Second {
		t.Errorf("a third body: %v", err)
	}
	if left := d.left(start); left != 58 {
		t.Errorf("%d requests are left; one that found no place takes none", left)
	}
	second.Close()
	third := admit()
	third.Close()
	// Rows of 15 MB are held while the batch waits to be stored: two such batches and the buffers do not fit into the
	// part of one account, 32 MiB, beside a third.
	row := `{"external_id":"%d","kind":"camera.speed","lat":1,"lng":1,"properties":{"a":"` + strings.Repeat("x", 15_000) + `"}}`
	var large strings.Builder
	large.WriteByte('[')
	for i := range 1000 {
		if i > 0 {
			large.WriteByte(',')
		}
		fmt.Fprintf(&large, row, i)
	}
	large.WriteByte(']')
	waiting, storing := make(chan struct{}), make(chan struct{}, 2)
	d.Ingest = ingest.New(hanging{d.db, storing, waiting}, d.Now, signal.StoreChanged{})
	first.Close()
	ended := make(chan struct{}, 2)
	var pushes sync.WaitGroup
	for range 2 {
		pushes.Go(func() {
			body := &readFunc{begin: func() (string, error) { return large.String(), nil }, ended: ended}
			if _, err := d.push(t, d.token, body); err != nil {
				t.Error(err)
			}
		})
	}
	<-ended
	<-ended
	if _, err := d.push(t, d.token, strings.NewReader(large.String())); !errors.As(err, &limit) {
		t.Errorf("a third large batch of one account: %v", err)
	}
	close(waiting)
	pushes.Wait()
	if d.HeldBytes() != 0 {
		t.Errorf("%d bytes are held at rest", d.HeldBytes())
	}
}

// TestAFullNode is D7.1: where others hold all that bodies may hold together, a push is unavailable, stores nothing and takes no request,
// whether there was no room before its body or in the middle of it.
func TestAFullNode(t *testing.T) {
	d := newDock(t)
	const room = 1 << 20
	d.Memory = push.Memory(budget.New(room), room)
	others := d.Memory.Begin(ratelimit.AccountKey(ratelimit.HeldBytes, mapdata.AccountID{9}))
	var rows strings.Builder
	for i := range 500 {
		fmt.Fprintf(&rows, `%c{"external_id":"%d","kind":"camera.speed","lat":1,"lng":1,"properties":{"a":"%s"}}`, "[,"[min(i, 1)], i, strings.Repeat("x", 500))
	}
	rows.WriteByte(']')
	others.Set(room - 100<<10)
	if _, err := d.Admit(t.Context(), d.token, client); !errors.Is(err, mapdata.ErrUnavailable) {
		t.Errorf("admitted without room for a body's buffers: %v", err)
	}
	for _, step := range []struct {
		held int
		fits bool
	}{{room - 100<<10, false}, {room - 400<<10, false}, {0, true}} {
		others.Set(step.held)
		_, err := d.push(t, d.token, strings.NewReader(rows.String()))
		if step.fits != (err == nil) || !step.fits && !errors.Is(err, mapdata.ErrUnavailable) {
			t.Errorf("others hold %d of %d bytes: %v", step.held, room, err)
		}
		want := 60
		if step.fits {
			want--
		}
		if left := d.left(start); left != want || d.HeldBytes() != step.held {
			t.Errorf("others hold %d bytes: %d requests are left, want %d; %d bytes are held", step.held, left, want, d.HeldBytes())
		}
	}
}

// hanging is a store that waits before it stores.
type hanging struct {
	ingest.Store
	storing chan<- struct{}
	waiting <-chan struct{}
}

func (h hanging) Apply(ctx context.Context, c *mapdata.Change) error {
	h.storing <- struct{}{}
	<-h.waiting
	return h.Store.Apply(ctx, c)
}

// TestAMistypedTokenIsNotLookedUp checks that a token with a wrong checksum is not looked up (D5.1).
func TestAMistypedTokenIsNotLookedUp(t *testing.T) {
	d := newDock(t)
	d.Store = failing{d.db}
	for _, text := range []string{"", "x", d.token[:49], d.token + "0", "wsk_" + d.token[4:], d.token[:20] + "_" + d.token[21:]} {
		if _, err := d.push(t, text, strings.NewReader("[]")); !errors.Is(err, mapdata.ErrUnauthenticated) {
			t.Errorf("a token of %d characters: %v", len(text), err)
		}
	}
}

// TestUnknownTokensAreBounded checks that an address may try sixty unknown tokens in a minute (D7.5).
func TestUnknownTokensAreBounded(t *testing.T) {
	d := newDock(t)
	tried := 0
	for ; tried < 1000; tried++ {
		if _, err := d.push(t, "x", strings.NewReader("[]")); !errors.Is(err, mapdata.ErrUnauthenticated) {
			if limit := new(mapdata.LimitError); !errors.As(err, &limit) {
				t.Error(err)
			}
			break
		}
	}
	if tried != 60 {
		t.Errorf("%d unknown tokens were tried, want 60", tried)
	}
}

// TestMemoryOfBodies checks that bodies hold 128 MiB together where the service was given no other memory.
func TestMemoryOfBodies(t *testing.T) {
	memory, held := push.New(push.Config{}).Memory, 0
	for i := range 2000 {
		if memory.Begin(ratelimit.ClientKey(ratelimit.HeldBytes, netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}))).Grow(1<<20) != nil {
			break
		}
		held++
	}
	if held != 128 {
		t.Errorf("bodies hold %d MiB, want 128", held)
	}
}

// TestAFailingStore checks that the answer names the failing store, and does not claim that the token is unknown.
func TestAFailingStore(t *testing.T) {
	d := newDock(t)
	d.Store = failing{d.db}
	read := false
	_, err := d.push(t, d.token, &readFunc{begin: func() (string, error) { read = true; return "", nil }})
	if !errors.Is(err, mapdata.ErrUnavailable) || read {
		t.Errorf("%v, body read %v", err, read)
	}
	d.Store = deaf{d.db}
	if _, err := d.push(t, d.token, strings.NewReader("{}")); !errors.Is(err, ingest.ErrNotArray) {
		t.Errorf("a refusal that could not be recorded: %v", err)
	}
	if !strings.Contains(d.log.String(), "refused push not recorded") || strings.Contains(d.log.String(), d.token) {
		t.Errorf("log: %s", d.log.String())
	}
	if len(d.changed.C()) != 0 {
		t.Error("told of a change that was not stored")
	}
}

// failing is a store that does not answer.
type failing struct{ push.Store }

func (failing) FeedByPushToken(context.Context, []byte) (*mapdata.Feed, error) {
	return nil, mapdata.ErrUnavailable
}

// deaf is a store that cannot write.
type deaf struct{ push.Store }

func (deaf) RecordAttempt(context.Context, mapdata.FeedID, mapdata.Attempt) error {
	return mapdata.ErrUnavailable
}

// TestAFeedThatGoesMeanwhile checks that a push to a feed that is deleted in the meantime is refused like one with an
// unknown token.
func TestAFeedThatGoesMeanwhile(t *testing.T) {
	d := newDock(t)
	remove := func() {
		if err := d.db.DeleteFeed(t.Context(), d.feed, mapdata.AuditEntry{At: start, Action: "feed.delete"}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := d.push(t, d.token, &readFunc{begin: func() (string, error) { remove(); return "[]", nil }})
	if !errors.Is(err, mapdata.ErrUnauthenticated) {
		t.Errorf("%v", err)
	}
	if err := d.db.RecordAttempt(t.Context(), d.feed, mapdata.Attempt{At: start, Outcome: mapdata.OutcomeParseError}); err != nil {
		t.Errorf("recorded for a feed that is gone: %v", err)
	}
}

// BenchmarkToken measures the cost of a token before any body is read (D7.5): an unknown one costs no more than a known
// one.
func BenchmarkToken(b *testing.B) {
	d := newDock(b)
	d.Requests = 0
	stop := errors.New("body")
	for name, text := range map[string]string{"known": d.token, "unknown": token.New(token.Push), "mistyped": "x" + d.token[1:]} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := d.push(b, text, &readFunc{begin: func() (string, error) { return "", stop }})
				if err == nil {
					b.Fatal("it passed")
				}
			}
		})
	}
}

// publishedFunc implements Published.
type publishedFunc func(ctx context.Context)

func (f publishedFunc) Await(ctx context.Context) { f(ctx) }

// TestAnswersWaitForTheirNode checks that a push waits for its node once its rows are stored and no longer held, so
// that the feed's next batch is stored in the meantime, and that a push that stored nothing does not wait.
func TestAnswersWaitForTheirNode(t *testing.T) {
	d := newDock(t)
	row := func(id string) io.Reader {
		return strings.NewReader(`[{"external_id":"` + id + `","kind":"alert.police","lat":52,"lng":4,"properties":{}}]`)
	}
	waits := 0
	d.Published = publishedFunc(func(context.Context) {
		if waits++; d.HeldBytes() != 0 {
			t.Errorf("%d bytes are held during the wait", d.HeldBytes())
		}
		if waits == 1 {
			if _, err := d.push(t, d.token, row("second")); err != nil {
				t.Errorf("the next batch: %v", err)
			}
		}
	})
	if report, err := d.push(t, d.token, row("first")); err != nil || report.Accepted != 1 || waits != 2 {
		t.Errorf("%+v, %v, %d waits, want 2", report, err, waits)
	}
	if _, err := d.push(t, d.token, strings.NewReader(`{}`)); err == nil || waits != 2 {
		t.Errorf("a refused push: %v, %d waits, want 2", err, waits)
	}
}
