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

	"wayside/internal/feed"
	"wayside/internal/mapdata"
	"wayside/internal/signal"
	"wayside/internal/store/sqlite"
	"wayside/internal/store/sqlite/sqlitetest"
	"wayside/internal/token"
)

var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)

// office is the service on a real database, with stand-ins for the rules that other packages hold.
type office struct {
	*feed.Service
	t       *testing.T
	path    string
	db      *sqlite.DB
	now     time.Time
	signals signal.Set
}

// changed says whether every consumer was notified of a change since the last call.
func (o *office) changed() bool {
	notified := 0
	for _, c := range []<-chan struct{}{o.signals.StoreChanged.C(), o.signals.FeedDue.C(), o.signals.MailQueued.C()} {
		select {
		case <-c:
			notified++
		default:
		}
	}
	if notified != 0 && notified != 3 {
		o.t.Errorf("%d of 3 consumers were notified", notified)
	}
	return notified > 0
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, now: start, signals: signal.NewSet(), path: sqlitetest.Path(t)}
	clock := func() time.Time { return o.now }
	var err error
	if o.db, err = sqlite.Open(t.Context(), o.path, sqlite.Options{Now: clock}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.db.Close(); err != nil {
			t.Error(err)
		}
	})
	o.Service = feed.New(feed.Config{
		Store: o.db, Now: clock, Signals: o.signals,
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
		Seal: func(plain []byte, id mapdata.FeedID) ([]byte, error) {
			return []byte("sealed for " + id.String() + ":" + string(plain[:1])), nil
		},
	})
	return o
}

// someone makes an account.
func (o *office) someone(email string, role mapdata.Role) (*mapdata.Account, feed.Actor) {
	o.t.Helper()
	id, err := mapdata.NewAccountID()
	if err != nil {
		o.t.Fatal(err)
	}
	a := &mapdata.Account{ID: id, Email: email, Role: role, Tier: mapdata.TierAccount, CreatedAt: o.now}
	if err := o.db.CreateAccount(o.t.Context(), a); err != nil {
		o.t.Fatal(err)
	}
	return a, feed.By(a)
}

// audit is the audit log but for registrations, which nearly every test begins with.
func (o *office) audit() []mapdata.AuditEntry {
	o.t.Helper()
	return slices.DeleteFunc(o.wholeAudit(), func(e mapdata.AuditEntry) bool { return e.Action == "feed.register" })
}

// wholeAudit reads the audit log as an operator would, with a tool of their own.
func (o *office) wholeAudit() []mapdata.AuditEntry {
	o.t.Helper()
	db, err := sql.Open("sqlite", "file:"+o.path)
	if err != nil {
		o.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(o.t.Context(), "SELECT at, actor, action, subject, note FROM audit ORDER BY id")
	if err != nil {
		o.t.Fatal(err)
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
			o.t.Fatal(err)
		}
		copy(e.Actor[:], actor)
		e.At = time.UnixMilli(at).UTC()
		all = append(all, e)
	}
	if err := rows.Err(); err != nil {
		o.t.Fatal(err)
	}
	return all
}

// letters are those that wait.
func (o *office) letters() []mapdata.Letter {
	o.t.Helper()
	all, err := o.db.DueLetters(o.t.Context(), o.now, o.now, 100)
	if err != nil {
		o.t.Fatal(err)
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

func (o *office) register(by feed.Actor, r *feed.Registration) (*feed.View, string) {
	o.t.Helper()
	v, secret, err := o.Register(o.t.Context(), by, r)
	if err != nil {
		o.t.Fatal(err)
	}
	return v, secret
}

func (o *office) patch(by feed.Actor, v *feed.View, p feed.Patch) *feed.View {
	o.t.Helper()
	got, err := o.Patch(o.t.Context(), by, v.ID, &p)
	if err != nil {
		o.t.Fatal(err)
	}
	return got
}

func (o *office) approve(v *feed.View) *feed.View {
	o.t.Helper()
	got, err := o.Approve(o.t.Context(), feed.Operator(), v.ID, "")
	if err != nil {
		o.t.Fatal(err)
	}
	return got
}

// wrongFields gives field and code of everything that is wrong.
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

// TestWhoSeesWhat is D5.3 and D5.4.
func TestWhoSeesWhat(t *testing.T) {
	o := newOffice(t)
	_, owner := o.someone("owner@example.com", mapdata.Driver)
	_, other := o.someone("other@example.com", mapdata.Driver)
	_, curator := o.someone("curator@example.com", mapdata.Curator)
	_, admin := o.someone("admin@example.com", mapdata.Admin)
	feeds := map[string]*feed.View{}
	for name, edit := range map[string]func(*feed.View){
		"public and approved": func(v *feed.View) { o.approve(v) },
		"public and pending":  func(*feed.View) {},
		"public and rejected": func(v *feed.View) {
			if _, err := o.Reject(t.Context(), feed.Operator(), v.ID, "", "no"); err != nil {
				t.Fatal(err)
			}
		},
		"private and approved": func(v *feed.View) {
			o.patch(owner, v, feed.Patch{Settings: feed.Settings{Visibility: ptr("private")}})
			o.approve(v)
		},
		"public, approved, inactive": func(v *feed.View) {
			o.approve(v)
			o.patch(owner, v, feed.Patch{Active: ptr(false)})
		},
	} {
		v, _ := o.register(owner, pullOf("https://a.example/"))
		edit(v)
		feeds[name] = v
	}
	for name, v := range feeds {
		t.Run(name, func(t *testing.T) {
			listed := name == "public and approved"
			for who, want := range map[feed.Actor]string{
				owner: "full", curator: "full", admin: "full", feed.Operator(): "full", other: map[bool]string{true: "brief"}[listed], {}: map[bool]string{true: "brief"}[listed],
			} {
				got := ""
				switch view, err := o.Get(t.Context(), who, v.ID); {
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
			for _, who := range []feed.Actor{other, curator, admin, {}, feed.Operator()} {
				_, patched := o.Patch(t.Context(), who, v.ID, &feed.Patch{Active: ptr(true)})
				_, rotated := o.RotateToken(t.Context(), who, v.ID)
				for what, err := range map[string]error{
					"change": patched, "rotate": rotated, "delete": o.Delete(t.Context(), who, v.ID),
					"check a change": o.CheckPatch(t.Context(), who, v.ID, &feed.Patch{}),
				} {
					if !errors.Is(err, mapdata.ErrNotFound) {
						t.Errorf("%+v may %s: %v", who, what, err)
					}
				}
			}
		})
	}
	lists := func(by feed.Actor) (full, brief int) {
		views, err := o.List(t.Context(), by)
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
	if full, _ := lists(feed.Operator()); full != len(feeds) {
		t.Errorf("the operator's list has %d", full)
	}
	if _, err := o.List(t.Context(), feed.Actor{}); !errors.Is(err, mapdata.ErrForbidden) {
		t.Errorf("a guest's list: %v", err)
	}
}

func TestRotateToken(t *testing.T) {
	o := newOffice(t)
	owner, by := o.someone("owner@example.com", mapdata.Driver)
	v, old := o.register(by, pushOf("Chargers"))
	o.now = o.now.Add(time.Minute)
	fresh, err := o.RotateToken(t.Context(), by, v.ID)
	if err != nil || fresh == old || !token.Valid(token.Push, fresh) {
		t.Fatalf("no new token: %v", err)
	}
	if _, err := o.db.FeedByPushToken(t.Context(), token.Hash(old)); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("the old token: %v", err)
	}
	if _, err := o.db.FeedByPushToken(t.Context(), token.Hash(fresh)); err != nil {
		t.Errorf("the new token: %v", err)
	}
	want := []mapdata.AuditEntry{{At: o.now, Actor: owner.ID, Action: "feed.rotate_token", Subject: v.ID.String()}}
	if diff := cmp.Diff(want, o.audit()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
	pull, _ := o.register(by, pullOf("https://a.example/"))
	if _, err := o.RotateToken(t.Context(), by, pull.ID); !errors.Is(err, mapdata.ErrConflict) {
		t.Errorf("a pull feed's token: %v", err)
	}
}

func TestDelete(t *testing.T) {
	o := newOffice(t)
	owner, by := o.someone("owner@example.com", mapdata.Driver)
	v, secret := o.register(by, pushOf("Chargers"))
	if err := o.Delete(t.Context(), by, v.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Get(t.Context(), by, v.ID); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("read after the deletion: %v", err)
	}
	if _, err := o.db.FeedByPushToken(t.Context(), token.Hash(secret)); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("its token: %v", err)
	}
	if err := o.Delete(t.Context(), by, v.ID); !errors.Is(err, mapdata.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	want := []mapdata.AuditEntry{{At: start, Actor: owner.ID, Action: "feed.delete", Subject: v.ID.String(), Note: "Chargers"}}
	if diff := cmp.Diff(want, o.audit()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

// failing is a store that cannot write.
type failing struct{ feed.Store }

func (failing) CreateFeed(context.Context, *mapdata.Feed, int, ...mapdata.AuditEntry) error {
	return mapdata.ErrUnavailable
}

func (failing) UpdateFeed(context.Context, mapdata.FeedID, func(*mapdata.Feed) (feed.Side, error)) (*mapdata.Feed, error) {
	return nil, mapdata.ErrUnavailable
}

func (failing) DeleteFeed(context.Context, mapdata.FeedID, mapdata.AuditEntry) error {
	return mapdata.ErrUnavailable
}

func TestAFullDiskIsUnavailable(t *testing.T) {
	o := newOffice(t)
	_, by := o.someone("owner@example.com", mapdata.Driver)
	v, _ := o.register(by, pushOf("Chargers"))
	o.Store = failing{o.db}
	o.changed()
	_, _, registered := o.Register(t.Context(), by, pushOf("More"))
	_, patched := o.Patch(t.Context(), by, v.ID, &feed.Patch{})
	_, rotated := o.RotateToken(t.Context(), by, v.ID)
	_, approved := o.Approve(t.Context(), feed.Operator(), v.ID, "")
	for what, err := range map[string]error{
		"register": registered, "change": patched, "rotate": rotated, "approve": approved, "delete": o.Delete(t.Context(), by, v.ID),
	} {
		if !errors.Is(err, mapdata.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if o.changed() {
		t.Error("notified of a change that was not stored")
	}
}

// slow is a store that takes its time to count.
type slow struct {
	feed.Store
	o      *office
	took   time.Duration
	counts int
}

func (s *slow) CountEntities(context.Context, mapdata.FeedID, time.Time) (int, error) {
	s.counts++
	s.o.now = s.o.now.Add(s.took)
	return s.counts, nil
}

// TestASlowCountIsRepeated holds that reading a large feed again and again costs a small share of the time.
func TestASlowCountIsRepeated(t *testing.T) {
	o := newOffice(t)
	_, by := o.someone("owner@example.com", mapdata.Driver)
	v, _ := o.register(by, pushOf("Chargers"))
	other, _ := o.register(by, pushOf("Cameras"))
	store := &slow{Store: o.db, o: o, took: 400 * time.Millisecond}
	o.Store = store
	entities := func(v *feed.View) int {
		t.Helper()
		got, err := o.Get(t.Context(), by, v.ID)
		if err != nil {
			t.Fatal(err)
		}
		return got.Entities
	}
	begin := o.now
	for o.now.Sub(begin) < 10*time.Minute {
		entities(v)
		o.now = o.now.Add(time.Second)
	}
	if store.counts < 10 || store.counts > 16 {
		t.Errorf("counted %d times in ten minutes", store.counts)
	}
	if entities(v) == entities(other) {
		t.Error("two feeds share a count")
	}
	store.took = time.Millisecond
	o.now = o.now.Add(time.Minute)
	before := store.counts
	for range 5 {
		entities(v)
	}
	if store.counts != before+5 {
		t.Errorf("a quick count was repeated: %d of 5 were made", store.counts-before)
	}
}
