package feed_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feed"
	"wayside/internal/mapdata"
	"wayside/internal/store/sqlite"
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
	changes int
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{t: t, now: start, path: filepath.Join(t.TempDir(), "wayside.db")}
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
		Store: o.db, Now: clock, Changed: func() { o.changes++ },
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

// D11.8: the secrets that a feed begins with are in the audit log, by their kind.
func TestRegistrationsAreInTheAuditLog(t *testing.T) {
	o := newOffice(t)
	owner, by := o.someone("owner@example.com", mapdata.Driver)
	push, _ := o.register(by, pushOf("Chargers"))
	keyed := pullOf("https://a.example/")
	keyed.PullAuthHeader = ptr("X-Key: secret")
	pull, _ := o.register(by, keyed)
	plain, _ := o.register(by, pullOf("https://b.example/"))
	want := []mapdata.AuditEntry{
		{At: o.now, Actor: owner.ID, Action: "feed.register", Subject: push.ID.String(), Note: "push token"},
		{At: o.now, Actor: owner.ID, Action: "feed.register", Subject: pull.ID.String(), Note: "auth header"},
		{At: o.now, Actor: owner.ID, Action: "feed.register", Subject: plain.ID.String()},
	}
	if diff := cmp.Diff(want, o.wholeAudit()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
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

func TestRegisterPull(t *testing.T) {
	o := newOffice(t)
	owner, by := o.someone("owner@example.com", mapdata.Driver)
	v, secret := o.register(by, &feed.Registration{Direction: "pull", Settings: feed.Settings{
		Name: ptr("  Roads of Ghent "), Description: ptr("All of them.\r\nDaily."), Attribution: ptr("© Ghent"), SpecURL: ptr("https://ghent.example/spec"),
		PullURL: ptr("https://DATA.example.org/a.json"), PullAuthHeader: ptr("Authorization: secret"),
	}})
	if secret != "" {
		t.Error("a pull feed has a push token")
	}
	want := mapdata.Feed{
		Owner: owner.ID, Name: "Roads of Ghent", Description: "All of them.\nDaily.", Attribution: "© Ghent", SpecURL: "https://ghent.example/spec",
		Layer: mapdata.Layer{Slug: "roads-of-ghent", Name: "Roads of Ghent"}, Direction: mapdata.Pull,
		Visibility: mapdata.Private, Active: true, ReviewState: mapdata.Pending, CreatedAt: start, UpdatedAt: start,
		PullURL: "https://data.example.org/a.json", PullAuthSealed: []byte("sealed for " + v.ID.String() + ":A"), PullInterval: 300 * time.Second,
		Polling: mapdata.Polling{NextFetchAt: start},
	}
	want.ID, want.Layer.ID = v.ID, v.Layer.ID
	stored, err := o.db.Feed(t.Context(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, *stored); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(*stored, v.Feed); diff != "" || !v.Full {
		t.Errorf("returned is not what was stored (full %v):\n%s", v.Full, diff)
	}
	if o.changes != 1 {
		t.Errorf("told of %d changes", o.changes)
	}
}

func TestRegisterPush(t *testing.T) {
	o := newOffice(t)
	_, by := o.someone("owner@example.com", mapdata.Driver)
	v, secret := o.register(by, pushOf("Chargers"))
	if !token.Valid(token.Push, secret) {
		t.Fatalf("no push token was returned")
	}
	found, err := o.db.FeedByPushToken(t.Context(), token.Hash(secret))
	if err != nil || found.ID != v.ID {
		t.Errorf("the token does not lead to the feed: %v", err)
	}
	if !v.Polling.NextFetchAt.IsZero() || v.PullInterval != 0 {
		t.Error("a push feed is scheduled")
	}
}

func TestWhatIsWrongIsToldAtOnce(t *testing.T) {
	o := newOffice(t)
	_, by := o.someone("owner@example.com", mapdata.Driver)
	long := func(n int) *string { return ptr(strings.Repeat("é", n)) }
	tests := []struct {
		name string
		r    feed.Registration
		want []string
	}{
		{"nothing given", feed.Registration{}, []string{"direction missing", "name missing"}},
		{"a direction that is none", feed.Registration{Direction: "Pull", Settings: feed.Settings{Name: ptr("x")}}, []string{"direction invalid_direction"}},
		{"pull without an address", feed.Registration{Direction: "pull", Settings: feed.Settings{Name: ptr("x")}}, []string{"pull_url missing"}},
		{
			"pull fields of a push feed",
			feed.Registration{Direction: "push", Settings: feed.Settings{
				Name: ptr("x"), PullURL: ptr("https://a.example/"), PullAuthHeader: ptr("A: b"), PullIntervalSeconds: ptr(60.0),
			}},
			[]string{"pull_url not_for_push", "pull_auth_header not_for_push", "pull_interval_seconds not_for_push"},
		},
		{
			"everything",
			feed.Registration{Direction: "pull", Settings: feed.Settings{
				Name: ptr(" "), Description: long(2001), Visibility: ptr("PUBLIC"), Attribution: long(501), LayerName: long(101),
				SpecURL: ptr("http://a.example/"), PullURL: ptr("http://a.example/"), PullAuthHeader: ptr("nonsense"),
			}},
			[]string{
				"name missing", "attribution too_long", "description too_long", "layer_name too_long", "visibility invalid_visibility",
				"spec_url invalid_url", "pull_url invalid_url", "pull_auth_header invalid_auth_header",
			},
		},
		{"name too long", feed.Registration{Direction: "push", Settings: feed.Settings{Name: long(101)}}, []string{"name too_long"}},
		{"control characters", feed.Registration{Direction: "push", Settings: feed.Settings{
			Name: ptr("a\x00b"), Description: ptr("a\x1bb"), Attribution: ptr("a\nb"), LayerName: ptr("a\u202eb"),
		}}, []string{"name invalid_characters", "attribution invalid_characters", "description invalid_characters", "layer_name invalid_characters"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := o.Register(t.Context(), by, &tt.r)
			if diff := cmp.Diff(tt.want, wrongFields(err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, wrongFields(o.CheckRegistration(&tt.r))); diff != "" {
				t.Errorf("checked alone (-want +got):\n%s", diff)
			}
		})
	}
	all, err := o.List(t.Context(), feed.Operator())
	if err != nil || len(all) != 0 || o.changes != 0 {
		t.Errorf("%d feeds were stored, %d changes told, %v", len(all), o.changes, err)
	}
	t.Run("the longest that is good", func(t *testing.T) {
		o.register(by, &feed.Registration{Direction: "push", Settings: feed.Settings{
			Name: long(100), Description: long(2000), Attribution: long(500), LayerName: long(100),
		}})
	})
}

func TestSpecURL(t *testing.T) {
	o := newOffice(t)
	for text, good := range map[string]bool{
		"":                               true,
		"https://example.org":            true,
		"https://example.org:8443/a?b#c": true,
		"https://example.org/" + strings.Repeat("a", 2028): true,
		"https://example.org/" + strings.Repeat("a", 2029): false,
		"http://example.org/":                              false,
		"javascript:alert(1)":                              false,
		"https:example.org":                                false,
		"https://":                                         false,
		"https://:443/":                                    false,
		"https://a b.example/":                             false,
		"https://example.org/\n":                           false,
		"https://me@example.org":                           false,
		" https://example.org":                             false,
		"//example.org":                                    false,
		"https://exa\u202emple.org":                        false,
		"https://example.org/%zz":                          false,
	} {
		err := o.CheckRegistration(&feed.Registration{Direction: "push", Settings: feed.Settings{Name: ptr("x"), SpecURL: &text}})
		if (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestIntervalIsClamped is the specification's rule for pull_interval_seconds.
func TestIntervalIsClamped(t *testing.T) {
	o := newOffice(t)
	o.Limit = 100
	_, by := o.someone("owner@example.com", mapdata.Driver)
	for given, want := range map[float64]time.Duration{
		-1: 30 * time.Second, 0: 30 * time.Second, 29.9: 30 * time.Second, 30: 30 * time.Second, 30.5: 31 * time.Second,
		3599.1: time.Hour, 3600: time.Hour, 3601: time.Hour, 1e300: time.Hour, -1e300: 30 * time.Second,
	} {
		r := pullOf("https://a.example/")
		r.PullIntervalSeconds = &given
		v, _ := o.register(by, r)
		if v.PullInterval != want {
			t.Errorf("%v: %v, want %v", given, v.PullInterval, want)
		}
		v = o.patch(by, v, feed.Patch{Settings: feed.Settings{PullIntervalSeconds: &given}})
		if v.PullInterval != want {
			t.Errorf("%v by a change: %v, want %v", given, v.PullInterval, want)
		}
	}
}

// TestSlugs is D5.8.
func TestSlugs(t *testing.T) {
	o := newOffice(t)
	o.Limit = 100
	_, by := o.someone("owner@example.com", mapdata.Driver)
	tests := []struct{ name, want string }{
		{"Police", "police"},
		{"police", "police-2"},
		{"POLICE!", "police-3"},
		{"A10 – Incidents & jams", "a10-incidents-jams"},
		{"Straßen in Łódź, Ærø", "strassen-in-lodz-aero"},
		{"--x--", "x"},
		{"道路", "layer"},
		{"дороги", "layer-2"},
		{strings.Repeat("abcdefghi ", 10), strings.TrimSuffix(strings.Repeat("abcdefghi-", 6), "-")},
	}
	for _, tt := range tests {
		v, _ := o.register(by, pushOf(tt.name))
		if v.Layer.Slug != tt.want {
			t.Errorf("%q: slug %q, want %q", tt.name, v.Layer.Slug, tt.want)
		}
	}
	t.Run("of the layer's own name, and it stays", func(t *testing.T) {
		r := pushOf("Feed")
		r.LayerName = ptr("Ghent")
		v, _ := o.register(by, r)
		v = o.patch(by, v, feed.Patch{Settings: feed.Settings{Name: ptr("Other"), LayerName: ptr("Bruges")}})
		if v.Layer.Slug != "ghent" || v.Layer.Name != "Bruges" || v.Name != "Other" {
			t.Errorf("layer %+v of %q", v.Layer, v.Name)
		}
		v = o.patch(by, v, feed.Patch{Settings: feed.Settings{LayerName: ptr("")}})
		if v.Layer.Name != "Other" {
			t.Errorf("without a name of its own the layer is %q", v.Layer.Name)
		}
	})
}

// TestLimitOfFeeds is D5.9.
func TestLimitOfFeeds(t *testing.T) {
	o := newOffice(t)
	_, by := o.someone("owner@example.com", mapdata.Driver)
	_, other := o.someone("other@example.com", mapdata.Driver)
	var last *feed.View
	for i := range feed.DefaultLimit {
		last, _ = o.register(by, pushOf("feed "+strconv.Itoa(i)))
	}
	if _, _, err := o.Register(t.Context(), by, pushOf("one more")); !errors.Is(err, mapdata.ErrConflict) || !strings.Contains(err.Error(), "20") {
		t.Errorf("feed 21: %v", err)
	}
	o.register(other, pushOf("of another account"))
	if err := o.Delete(t.Context(), by, last.ID); err != nil {
		t.Fatal(err)
	}
	o.register(by, pushOf("after a deletion"))
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
	o.Store, o.changes = failing{o.db}, 0
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
	if o.changes != 0 {
		t.Errorf("told of %d changes", o.changes)
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
