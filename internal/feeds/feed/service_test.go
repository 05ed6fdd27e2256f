package feed_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/signal"
	"wayside/internal/ground/token"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// testService is a Service on a real database, with fakes for the validators of other packages.
type testService struct {
	*feed.Service
	t       *testing.T
	path    string
	db      *sqlite.DB
	now     time.Time
	signals signal.Set
}

// changed reports whether every consumer was notified of a change since the last call.
func (ts *testService) changed() bool {
	notified := 0
	for _, c := range []<-chan struct{}{ts.signals.StoreChanged.C(), ts.signals.FeedDue.C(), ts.signals.MailQueued.C()} {
		select {
		case <-c:
			notified++
		default:
		}
	}
	if notified != 0 && notified != 3 {
		ts.t.Errorf("%d of 3 consumers were notified", notified)
	}
	return notified > 0
}

func newTestService(t *testing.T) *testService {
	t.Helper()
	ts := &testService{t: t, now: start, signals: signal.NewSet(), path: sqlitetest.Path(t)}
	clock := func() time.Time { return ts.now }
	var err error
	if ts.db, err = sqlite.Open(t.Context(), ts.path, sqlite.Options{Now: clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ts.db.Close(); err != nil {
			t.Error(err)
		}
	})
	ts.Service = feed.New(feed.Config{
		Store: ts.db, Now: clock, Signals: ts.signals,
		CheckURL: func(text string) (string, error) {
			if !strings.HasPrefix(text, "https://") {
				return "", errors.New("must begin with https://")
			}
			return strings.ToLower(text), nil
		},
		CheckAuthHeader: func(header string) error {
			if name, value, ok := strings.Cut(header, ": "); !ok || name == "" || value == "" {
				return errors.New("must be «Name: value»")
			}
			return nil
		},
		Formats: testFormats(), CheckMapping: checkTestMapping,
		Seal: func(plain []byte, id mapdata.FeedID) ([]byte, error) {
			return []byte("sealed for " + id.String() + ":" + string(plain[:1])), nil
		},
	})
	return ts
}

// newAccount creates an account.
func (ts *testService) newAccount(email string, role mapdata.Role) (*mapdata.Account, mapdata.Actor) {
	ts.t.Helper()
	id, err := mapdata.NewAccountID()
	if err != nil {
		ts.t.Fatal(err)
	}
	a := &mapdata.Account{ID: id, Email: email, Role: role, Tier: mapdata.TierAccount, CreatedAt: ts.now}
	if err := ts.db.CreateAccount(ts.t.Context(), a); err != nil {
		ts.t.Fatal(err)
	}
	return a, mapdata.ActorOf(a)
}

// audit reads the audit log without registrations, with which nearly every test begins.
func (ts *testService) audit() []mapdata.AuditEntry {
	ts.t.Helper()
	return slices.DeleteFunc(ts.fullAudit(), func(e mapdata.AuditEntry) bool { return e.Action == "feed.register" })
}

// fullAudit reads the whole audit log by SQL.
func (ts *testService) fullAudit() []mapdata.AuditEntry {
	ts.t.Helper()
	db, err := sql.Open("sqlite", "file:"+ts.path)
	if err != nil {
		ts.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(ts.t.Context(), "SELECT at, actor, action, subject, note FROM audit ORDER BY id")
	if err != nil {
		ts.t.Fatal(err)
	}
	defer rows.Close()
	var all []mapdata.AuditEntry
	for rows.Next() {
		var (
			e     mapdata.AuditEntry
			at    int64
			actor []byte
		)
		if err := rows.Scan(&at, &actor, &e.Action, &e.Subject, &e.Note); err != nil {
			ts.t.Fatal(err)
		}
		copy(e.Actor[:], actor)
		e.At = time.UnixMilli(at).UTC()
		all = append(all, e)
	}
	if err := rows.Err(); err != nil {
		ts.t.Fatal(err)
	}
	return all
}

// emails returns the queued e-mails.
func (ts *testService) emails() []mapdata.Email {
	ts.t.Helper()
	all, err := ts.db.DueEmails(ts.t.Context(), ts.now, ts.now, 100)
	if err != nil {
		ts.t.Fatal(err)
	}
	return all
}

func pullOf(url string) *feed.Registration {
	return &feed.Registration{Direction: "pull", Settings: feed.Settings{Name: ptr("Roads"), Visibility: ptr("public"), PullURL: &url}}
}

func pushOf(name string) *feed.Registration {
	return &feed.Registration{Direction: "push", Settings: feed.Settings{Name: &name}}
}

func ptr[T any](v T) *T { return &v }

func (ts *testService) register(by mapdata.Actor, r *feed.Registration) (*feed.View, string) {
	ts.t.Helper()
	v, secret, err := ts.Register(ts.t.Context(), by, r)
	if err != nil {
		ts.t.Fatal(err)
	}
	return v, secret
}

func (ts *testService) patch(by mapdata.Actor, v *feed.View, p feed.Patch) *feed.View {
	ts.t.Helper()
	got, err := ts.Patch(ts.t.Context(), by, v.ID, &p)
	if err != nil {
		ts.t.Fatal(err)
	}
	return got
}

func (ts *testService) approve(v *feed.View) *feed.View {
	ts.t.Helper()
	got, err := ts.Approve(ts.t.Context(), mapdata.Operator(), v.ID, "")
	if err != nil {
		ts.t.Fatal(err)
	}
	return got
}

// wrongFields returns field and code of every validation error.
func wrongFields(err error) []string {
	var invalid *mapdata.InvalidError
	if !errors.As(err, &invalid) {
		return nil
	}
	var all []string
	for _, f := range invalid.Fields {
		all = append(all, f.Field+" "+f.Code)
	}
	return all
}

// TestVisibilityByRole checks D5.3 and D5.4.
func TestVisibilityByRole(t *testing.T) {
	ts := newTestService(t)
	_, owner := ts.newAccount("owner@example.com", mapdata.Driver)
	_, other := ts.newAccount("other@example.com", mapdata.Driver)
	_, curator := ts.newAccount("curator@example.com", mapdata.Curator)
	_, admin := ts.newAccount("admin@example.com", mapdata.Admin)
	feeds := map[string]*feed.View{}
	for name, edit := range map[string]func(*feed.View){
		"public and approved": func(v *feed.View) { ts.approve(v) },
		"public and pending":  func(*feed.View) {},
		"public and rejected": func(v *feed.View) {
			if _, err := ts.Reject(t.Context(), mapdata.Operator(), v.ID, "", "no"); err != nil {
				t.Fatal(err)
			}
		},
		"private and approved": func(v *feed.View) {
			ts.patch(owner, v, feed.Patch{Settings: feed.Settings{Visibility: ptr("private")}})
			ts.approve(v)
		},
		"public, approved, inactive": func(v *feed.View) {
			ts.approve(v)
			ts.patch(owner, v, feed.Patch{Active: ptr(false)})
		},
	} {
		v, _ := ts.register(owner, pullOf("https://a.example/"))
		edit(v)
		feeds[name] = v
	}
	for name, v := range feeds {
		t.Run(name, func(t *testing.T) {
			listed := name == "public and approved"
			reviewer := "full"
			if name == "private and approved" { // only while it waits (D11.9)
				reviewer = ""
			}
			for who, want := range map[mapdata.Actor]string{
				owner: "full", curator: reviewer, admin: reviewer, mapdata.Operator(): "full", other: map[bool]string{true: "brief"}[listed], {}: map[bool]string{true: "brief"}[listed],
			} {
				got := ""
				switch view, err := ts.Get(t.Context(), who, v.ID); {
				case err == nil && view.Full:
					got = "full"
				case err == nil:
					got = "brief"
				case !errors.Is(err, mapdata.ErrNotFound):
					t.Errorf("%+v: %v", who, err)
				}
				if got != want {
					t.Errorf("%+v sees %q, want %q", who, got, want)
				}
			}
			for _, who := range []mapdata.Actor{other, curator, admin, {}, mapdata.Operator()} {
				_, patched := ts.Patch(t.Context(), who, v.ID, &feed.Patch{Active: ptr(true)})
				_, rotated := ts.RotateToken(t.Context(), who, v.ID)
				refused := map[string]error{
					"change": patched, "rotate": rotated, "check a change": ts.CheckPatch(t.Context(), who, v.ID, &feed.Patch{}),
				}
				if who != mapdata.Operator() { // who may delete, as the command line does
					refused["delete"] = ts.Delete(t.Context(), who, v.ID)
				}
				for what, err := range refused {
					if !errors.Is(err, mapdata.ErrNotFound) {
						t.Errorf("%+v may %s: %v", who, what, err)
					}
				}
			}
		})
	}
	lists := func(by mapdata.Actor) (full, brief int) {
		views, err := ts.List(t.Context(), by)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range views {
			if v.Full {
				full++
			} else {
				brief++
			}
		}
		return full, brief
	}
	if full, brief := lists(owner); full != len(feeds) || brief != 0 {
		t.Errorf("the owner's list has %d in full, %d in brief", full, brief)
	}
	if full, brief := lists(other); full != 0 || brief != 1 {
		t.Errorf("another's list has %d in full, %d in brief", full, brief)
	}
	if full, _ := lists(mapdata.Operator()); full != len(feeds) {
		t.Errorf("the operator's list has %d", full)
	}
	if _, err := ts.List(t.Context(), mapdata.Actor{}); !errors.Is(err, mapdata.ErrForbidden) {
		t.Errorf("a guest's list: %v", err)
	}
}

func TestRotateToken(t *testing.T) {
	ts := newTestService(t)
	owner, by := ts.newAccount("owner@example.com", mapdata.Driver)
	v, old := ts.register(by, pushOf("Chargers"))
	ts.now = ts.now.Add(time.Minute)
	fresh, err := ts.RotateToken(t.Context(), by, v.ID)
	if err != nil || fresh == old || !token.Valid(token.Push, fresh) {
		t.Fatalf("no new token: %v", err)
	}
	if _, err := ts.db.FeedByPushToken(t.Context(), token.Hash(old)); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("the old token: %v", err)
	}
	if _, err := ts.db.FeedByPushToken(t.Context(), token.Hash(fresh)); err != nil {
		t.Errorf("the new token: %v", err)
	}
	want := []mapdata.AuditEntry{{At: ts.now, Actor: owner.ID, Action: "feed.rotate_token", Subject: v.ID.String()}}
	if diff := cmp.Diff(want, ts.audit()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
	pull, _ := ts.register(by, pullOf("https://a.example/"))
	if _, err := ts.RotateToken(t.Context(), by, pull.ID); !errors.Is(err, mapdata.ErrConflict) {
		t.Errorf("a pull feed's token: %v", err)
	}
}

func TestDelete(t *testing.T) {
	ts := newTestService(t)
	owner, by := ts.newAccount("owner@example.com", mapdata.Driver)
	v, secret := ts.register(by, pushOf("Chargers"))
	if err := ts.Delete(t.Context(), by, v.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := ts.Get(t.Context(), by, v.ID); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("read after the deletion: %v", err)
	}
	if _, err := ts.db.FeedByPushToken(t.Context(), token.Hash(secret)); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("its token: %v", err)
	}
	if err := ts.Delete(t.Context(), by, v.ID); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	want := []mapdata.AuditEntry{{At: start, Actor: owner.ID, Action: "feed.delete", Subject: v.ID.String(), Note: "Chargers"}}
	if diff := cmp.Diff(want, ts.audit()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

// failingStore fails every write.
type failingStore struct{ feed.Store }

func (failingStore) CreateFeed(context.Context, *mapdata.Feed, int, ...mapdata.AuditEntry) error {
	return mapdata.ErrUnavailable
}

func (failingStore) UpdateFeed(context.Context, mapdata.FeedID, func(*mapdata.Feed) (feed.Side, error)) (*mapdata.Feed, error) {
	return nil, mapdata.ErrUnavailable
}

func (failingStore) DeleteFeed(context.Context, mapdata.FeedID, mapdata.AuditEntry, ...mapdata.Email) error {
	return mapdata.ErrUnavailable
}

func TestStoreFailureIsUnavailable(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	v, _ := ts.register(by, pushOf("Chargers"))
	ts.Store = failingStore{ts.db}
	ts.changed()
	_, _, registered := ts.Register(t.Context(), by, pushOf("More"))
	_, patched := ts.Patch(t.Context(), by, v.ID, &feed.Patch{})
	_, rotated := ts.RotateToken(t.Context(), by, v.ID)
	_, approved := ts.Approve(t.Context(), mapdata.Operator(), v.ID, "")
	for what, err := range map[string]error{
		"register": registered, "change": patched, "rotate": rotated, "approve": approved, "delete": ts.Delete(t.Context(), by, v.ID),
	} {
		if !errors.Is(err, mapdata.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if ts.changed() {
		t.Error("notified of a change that was not stored")
	}
}

// slowCountStore advances the clock while it counts.
type slowCountStore struct {
	feed.Store
	ts     *testService
	took   time.Duration
	counts int
}

func (s *slowCountStore) CountEntities(context.Context, mapdata.FeedID, time.Time) (int, error) {
	s.counts++
	s.ts.now = s.ts.now.Add(s.took)
	return s.counts, nil
}

// TestSlowCountIsCached checks that reading a large feed in a loop spends little time counting.
func TestSlowCountIsCached(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	v, _ := ts.register(by, pushOf("Chargers"))
	other, _ := ts.register(by, pushOf("Cameras"))
	store := &slowCountStore{Store: ts.db, ts: ts, took: 400 * time.Millisecond}
	ts.Store = store
	entities := func(v *feed.View) int {
		t.Helper()
		got, err := ts.Get(t.Context(), by, v.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got.Entities
	}
	begin := ts.now
	for ts.now.Sub(begin) < 10*time.Minute {
		entities(v)
		ts.now = ts.now.Add(time.Second)
	}
	if store.counts < 10 || store.counts > 16 {
		t.Errorf("counted %d times in ten minutes", store.counts)
	}
	if entities(v) == entities(other) {
		t.Error("two feeds share a count")
	}
	store.took = time.Millisecond
	ts.now = ts.now.Add(time.Minute)
	before := store.counts
	for range 5 {
		entities(v)
	}
	if store.counts != before+5 {
		t.Errorf("a quick count was repeated: %d of 5 were made", store.counts-before)
	}
}
