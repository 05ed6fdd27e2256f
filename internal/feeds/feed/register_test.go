package feed_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/feed"
	"wayside/internal/ground/mapdata"
	"wayside/internal/ground/token"
)

// TestRegisterWritesAuditLog checks that the audit log records which kind of secret a feed was registered with (D11.8).
func TestRegisterWritesAuditLog(t *testing.T) {
	ts := newTestService(t)
	owner, by := ts.newAccount("owner@example.com", mapdata.Driver)
	push, _ := ts.register(by, pushOf("Chargers"))
	keyed := pullOf("https://a.example/")
	keyed.PullAuthHeader = ptr("X-Key: secret")
	pull, _ := ts.register(by, keyed)
	plain, _ := ts.register(by, pullOf("https://b.example/"))
	want := []mapdata.AuditEntry{
		{At: ts.now, Actor: owner.ID, Action: "feed.register", Subject: push.ID.String(), Note: "push token"},
		{At: ts.now, Actor: owner.ID, Action: "feed.register", Subject: pull.ID.String(), Note: "auth header"},
		{At: ts.now, Actor: owner.ID, Action: "feed.register", Subject: plain.ID.String()},
	}
	if diff := cmp.Diff(want, ts.fullAudit()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

func TestRegisterPull(t *testing.T) {
	ts := newTestService(t)
	owner, by := ts.newAccount("owner@example.com", mapdata.Driver)
	v, secret := ts.register(by, &feed.Registration{Direction: "pull", Settings: feed.Settings{
		Name: ptr("  Roads of Ghent "), Description: ptr("All of them.\r\nDaily."), Attribution: ptr("© Ghent"), Licence: ptr(" ODbL-1.0\n"),
		SpecURL: ptr("https://ghent.example/spec"),
		PullURL: ptr("https://DATA.example.org/a.json"), PullAuthHeader: ptr("Authorization: secret"),
	}})
	if secret != "" {
		t.Error("a pull feed has a push token")
	}
	want := mapdata.Feed{
		Owner: owner.ID, Name: "Roads of Ghent", Description: "All of them.\nDaily.", Attribution: "© Ghent", Licence: "ODbL-1.0", SpecURL: "https://ghent.example/spec",
		Layer: mapdata.Layer{Slug: "roads-of-ghent", Name: "Roads of Ghent"}, Direction: mapdata.Pull,
		Visibility: mapdata.Private, Active: true, ReviewState: mapdata.Pending, CreatedAt: start, UpdatedAt: start,
		PullURL: "https://data.example.org/a.json", PullAuthSealed: []byte("sealed for " + v.ID.String() + ":A"), PullInterval: 300 * time.Second,
		Polling: mapdata.Polling{NextFetchAt: start},
	}
	want.ID, want.Layer.ID = v.ID, v.Layer.ID
	stored, err := ts.db.Feed(t.Context(), v.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, *stored); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(*stored, v.Feed); diff != "" || !v.Full {
		t.Errorf("returned is not what was stored (full %v):\n%s", v.Full, diff)
	}
	if !ts.changed() {
		t.Error("not notified of a change")
	}
}

func TestRegisterPush(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	v, secret := ts.register(by, pushOf("Chargers"))
	if !token.Valid(token.Push, secret) {
		t.Fatalf("no push token was returned")
	}
	found, err := ts.db.FeedByPushToken(t.Context(), token.Hash(secret))
	if err != nil || found.ID != v.ID {
		t.Errorf("the token does not lead to the feed: %v", err)
	}
	if !v.Polling.NextFetchAt.IsZero() || v.PullInterval != 0 {
		t.Error("a push feed is scheduled")
	}
}

func TestRegisterReportsEveryInvalidField(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
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
				Name: ptr(" "), Description: long(2001), Visibility: ptr("PUBLIC"), Attribution: long(501), Licence: long(201), LayerName: long(101),
				SpecURL: ptr("http://a.example/"), PullURL: ptr("http://a.example/"), PullAuthHeader: ptr("nonsense"),
			}},
			[]string{
				"name missing", "attribution too_long", "licence too_long", "description too_long", "layer_name too_long", "visibility invalid_visibility",
				"spec_url invalid_url", "pull_url invalid_url", "pull_auth_header invalid_auth_header",
			},
		},
		{"name too long", feed.Registration{Direction: "push", Settings: feed.Settings{Name: long(101)}}, []string{"name too_long"}},
		{"control characters", feed.Registration{Direction: "push", Settings: feed.Settings{
			Name: ptr("a\x00b"), Description: ptr("a\x1bb"), Attribution: ptr("a\nb"), Licence: ptr("a\tb"), LayerName: ptr("a\u202eb"),
		}}, []string{
			"name invalid_characters", "attribution invalid_characters", "licence invalid_characters", "description invalid_characters",
			"layer_name invalid_characters",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := ts.Register(t.Context(), by, &tt.r)
			if diff := cmp.Diff(tt.want, wrongFields(err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, wrongFields(ts.CheckRegistration(&tt.r))); diff != "" {
				t.Errorf("checked alone (-want +got):\n%s", diff)
			}
		})
	}
	all, err := ts.List(t.Context(), mapdata.Operator())
	if err != nil || len(all) != 0 || ts.changed() {
		t.Errorf("%d feeds were stored, or notified of, %v", len(all), err)
	}
	t.Run("the longest that is good", func(t *testing.T) {
		ts.register(by, &feed.Registration{Direction: "push", Settings: feed.Settings{
			Name: long(100), Description: long(2000), Attribution: long(500), Licence: long(200), LayerName: long(100),
		}})
	})
}

func TestSpecURL(t *testing.T) {
	ts := newTestService(t)
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
		err := ts.CheckRegistration(&feed.Registration{Direction: "push", Settings: feed.Settings{Name: ptr("x"), SpecURL: &text}})
		if (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestIntervalIsClamped checks the specification's rule for pull_interval_seconds.
func TestIntervalIsClamped(t *testing.T) {
	ts := newTestService(t)
	ts.Limit = 100
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	for given, want := range map[float64]time.Duration{
		-1: 30 * time.Second, 0: 30 * time.Second, 29.9: 30 * time.Second, 30: 30 * time.Second, 30.5: 31 * time.Second,
		3599.1: time.Hour, 3600: time.Hour, 3601: time.Hour, 1e300: time.Hour, -1e300: 30 * time.Second,
	} {
		r := pullOf("https://a.example/")
		r.PullIntervalSeconds = &given
		v, _ := ts.register(by, r)
		if v.PullInterval != want {
			t.Errorf("%v: %v, want %v", given, v.PullInterval, want)
		}
		v = ts.patch(by, v, feed.Patch{Settings: feed.Settings{PullIntervalSeconds: &given}})
		if v.PullInterval != want {
			t.Errorf("%v by a change: %v, want %v", given, v.PullInterval, want)
		}
	}
}

// TestSlugs checks D5.8.
func TestSlugs(t *testing.T) {
	ts := newTestService(t)
	ts.Limit = 100
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	tests := []struct{ name, want string }{
		{"Police", "police"},
		{"police", "police-?"},
		{"POLICE!", "police-?"},
		{"A10 – Incidents & jams", "a10-incidents-jams"},
		{"Straßen in Łódź, Ærø", "strassen-in-lodz-aero"},
		{"--x--", "x"},
		{"道路", "layer"},
		{"дороги", "layer-?"},
		{strings.Repeat("abcdefghi ", 10), strings.TrimSuffix(strings.Repeat("abcdefghi-", 6), "-")},
	}
	for _, tt := range tests {
		v, _ := ts.register(by, pushOf(tt.name))
		want, random := strings.CutSuffix(tt.want, "?") // six letters or digits
		if random && (!strings.HasPrefix(v.Layer.Slug, want) || len(v.Layer.Slug) != len(want)+6) || !random && v.Layer.Slug != want {
			t.Errorf("%q: slug %q, want %q", tt.name, v.Layer.Slug, tt.want)
		}
	}
	t.Run("of the layer's own name, and it stays", func(t *testing.T) {
		r := pushOf("Feed")
		r.LayerName = ptr("Ghent")
		v, _ := ts.register(by, r)
		v = ts.patch(by, v, feed.Patch{Settings: feed.Settings{Name: ptr("Other"), LayerName: ptr("Bruges")}})
		if v.Layer.Slug != "ghent" || v.Layer.Name != "Bruges" || v.Name != "Other" {
			t.Errorf("layer %+v of %q", v.Layer, v.Name)
		}
		v = ts.patch(by, v, feed.Patch{Settings: feed.Settings{LayerName: ptr("")}})
		if v.Layer.Name != "Other" {
			t.Errorf("without a name of its own the layer is %q", v.Layer.Name)
		}
	})
}

// TestFeedLimit checks D5.9.
func TestFeedLimit(t *testing.T) {
	ts := newTestService(t)
	_, by := ts.newAccount("owner@example.com", mapdata.Driver)
	_, other := ts.newAccount("other@example.com", mapdata.Driver)
	var last *feed.View
	for i := range feed.DefaultLimit {
		last, _ = ts.register(by, pushOf("feed "+strconv.Itoa(i)))
	}
	if _, _, err := ts.Register(t.Context(), by, pushOf("one more")); !errors.Is(err, mapdata.ErrConflict) || !strings.Contains(err.Error(), "20") {
		t.Errorf("feed 21: %v", err)
	}
	ts.register(other, pushOf("of another account"))
	if err := ts.Delete(t.Context(), by, last.ID); err != nil {
		t.Fatal(err)
	}
	ts.register(by, pushOf("after a deletion"))
}
