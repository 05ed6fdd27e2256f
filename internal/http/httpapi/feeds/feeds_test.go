package feeds_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

const sealedSecret = "Bearer-of-the-pull-feed"

// TestRegisterPullOverHTTP compares the response with the field names of the specification and of D5.4.
func TestRegisterPullOverHTTP(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	answer := owner.Send(http.MethodPost, "/v2/feeds", `{
		"name": "Roads of Ghent", "description": "All.", "direction": "pull", "visibility": "public",
		"pull_url": "https://DATA.example.org:443/a.json?b=1", "pull_auth_header": "Authorization: `+sealedSecret+`",
		"pull_interval_seconds": 12.5, "spec_url": "https://example.org/spec", "attribution": "© Ghent",
		"licence": " etalab-2.0 ", "layer_name": "Ghent"}`)
	var got httpapitest.Registered
	answer.Want(t, http.StatusCreated).Decode(t, &got)
	if got.Token != nil {
		t.Error("a pull feed has a push token")
	}
	if want := got.Path(); answer.Header.Get("Location") != want {
		t.Errorf("Location %q, want %q", answer.Header.Get("Location"), want)
	}
	want := map[string]any{
		"id": got.ID(), "name": "Roads of Ghent", "description": "All.", "attribution": "© Ghent", "licence": "etalab-2.0", "direction": "pull",
		"visibility": "public", "is_approved": false, "is_public": false, "layer_id": got.Layer["id"], "layer_name": "Ghent", "layer_slug": "ghent",
		"active": true, "spec_url": "https://example.org/spec", "review_state": "pending", "review_note": "", "entity_count": 0.0,
		"storage":    map[string]any{"entities": 0.0, "entity_limit": nil, "bytes": 0.0, "byte_limit": nil},
		"created_at": "2026-11-21T08:00:00.000Z", "updated_at": "2026-11-21T08:00:00.000Z",
		"pull_url": "https://data.example.org/a.json?b=1", "pull_interval_seconds": 30.0, "has_pull_auth_header": true,
		"next_fetch_at": "2026-11-21T08:00:00.000Z", "last_fetched_at": nil, "last_fetch_outcome": nil, "last_fetch_error": nil,
		"last_fetch_rows": nil, "last_fetch_rejected": nil, "consecutive_failures": 0.0, "shrank": false, "last_push_at": nil,
		"review_version": got.Feed["review_version"], "pending_change": nil, "paused": nil,
		"format": "v1", "mapping": nil, "status_url": nil, "time_zone": nil, "charger_network": nil, "last_fetch_skipped": nil, "last_fetch_skips": nil,
	}
	if diff := cmp.Diff(want, got.Feed); diff != "" {
		t.Errorf("feed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"id": want["layer_id"], "slug": "ghent", "name": "Ghent"}, got.Layer); diff != "" {
		t.Errorf("layer (-want +got):\n%s", diff)
	}
	id, _ := mapdata.ParseFeedID(got.ID())
	stored, err := d.DB.Feed(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := d.Box.Open(stored.PullAuthSealed, id); err != nil || string(plain) != "Authorization: "+sealedSecret {
		t.Errorf("the sealed auth header is not the given one: %v", err)
	}

	t.Run("after a poll", func(t *testing.T) {
		if err := d.DB.PollFailed(t.Context(), &mapdata.PollFailed{
			Feed: id, Active: true, Polling: mapdata.Polling{
				NextFetchAt: httpapitest.Start.Add(time.Minute), LastFetchedAt: httpapitest.Start, LastOutcome: mapdata.OutcomeHTTPStatus, LastError: "The server answered 500.",
				LastRows: 0, LastRejected: 0, ConsecutiveFailures: 1,
			}, Attempt: mapdata.Attempt{At: httpapitest.Start, Outcome: mapdata.OutcomeHTTPStatus},
		}); err != nil {
			t.Fatal(err)
		}
		maps.Copy(want, map[string]any{
			"next_fetch_at": "2026-11-21T08:01:00.000Z", "last_fetched_at": "2026-11-21T08:00:00.000Z", "last_fetch_outcome": "http_status",
			"last_fetch_error": "The server answered 500.", "last_fetch_rows": 0.0, "last_fetch_rejected": 0.0, "consecutive_failures": 1.0,
		})
		if diff := cmp.Diff(want, owner.Send(http.MethodGet, got.Path(), "").FeedOf(t)); diff != "" {
			t.Errorf("feed (-want +got):\n%s", diff)
		}
	})
}

// TestSecretsAreShownOnce checks that only the first response contains the push token and the auth header (D5.1).
func TestSecretsAreShownOnce(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, curator := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator)
	pushed := owner.RegisterPush("Chargers")
	pulled := owner.Register(`{"name": "Roads", "direction": "pull", "pull_url": "https://data.example.org/", "pull_auth_header": "X-Key: ` + sealedSecret + `"}`)
	if pushed.Token == nil || !strings.HasPrefix(*pushed.Token, "wsp_") || len(*pushed.Token) != 50 {
		t.Fatal("no push token")
	}
	rotated := owner.Send(http.MethodPost, pushed.Path()+"/rotate-token", "").Want(t, http.StatusOK)
	var fresh struct {
		FeedID string `json:"feed_id"`
		Token  string `json:"push_ingest_token"`
	}
	rotated.Decode(t, &fresh)
	if fresh.FeedID != pushed.ID() || fresh.Token == *pushed.Token || len(fresh.Token) != 50 {
		t.Fatal("the answer to a rotation has no new token")
	}
	d.Push(*pushed.Token, "[]").Want(t, http.StatusUnauthorized)
	d.Push(fresh.Token, "[]").Want(t, http.StatusOK)
	bodies := d.Push(fresh.Token, "{}").Body + d.Push(*pushed.Token, "[]").Body
	for _, b := range []*httpapitest.Browser{owner, curator} {
		bodies += b.Send(http.MethodGet, "/v2/feeds", "").Body
		for _, r := range []*httpapitest.Registered{pushed, pulled} {
			bodies += b.Send(http.MethodGet, r.Path(), "").Body
		}
	}
	bodies += owner.Send(http.MethodPatch, pulled.Path(), `{"pull_auth_header": "`+sealedSecret+`"}`).Want(t, http.StatusUnprocessableEntity).Body
	bodies += owner.Send(http.MethodPatch, pulled.Path(), `{"pull_auth_header": "X: `+sealedSecret+`"}`).Want(t, http.StatusOK).Body
	bodies += owner.Send(http.MethodPost, pushed.Path()+"/approve", "").Want(t, http.StatusForbidden).Body
	bodies += curator.Send(http.MethodPost, pushed.Path()+"/approve", "").Want(t, http.StatusOK).Body
	for _, secret := range []string{*pushed.Token, fresh.Token, sealedSecret} {
		if strings.Contains(bodies, secret) {
			t.Errorf("%.8s… is in an answer", secret)
		}
		if strings.Contains(d.Log.String(), secret) {
			t.Errorf("%.8s… is in the log", secret)
		}
	}
}

// TestFeedBodies checks D5.3 for registrations.
func TestFeedBodies(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	const pull = `"name": "x", "direction": "pull", "pull_url": "https://example.org/"`
	tests := []struct {
		name, body string
		status     int
		wrong      []string
	}{
		{"empty", ``, 415, nil}, // without a body there is no content type either
		{"cut off", `{"name": "x"`, 400, nil},
		{"no JSON", `name=x`, 400, nil},
		{"an array", `[]`, 400, nil},
		{"null", `null`, 400, nil},
		{"something behind it", `{"name": "x", "direction": "push"} {}`, 400, nil},
		{"a member twice", `{"name": "x", "name": "y", "direction": "push"}`, 400, nil},
		{"not UTF-8", "{\"name\": \"\xff\", \"direction\": \"push\"}", 400, nil},
		{"half a surrogate pair", `{"name": "\ud800", "direction": "push"}`, 400, nil},
		{"too large", `{"name": "x", "direction": "push", "description": "` + strings.Repeat("a", 70_000) + `"}`, 413, nil},
		{"nothing", `{}`, 422, []string{"direction missing", "name missing"}},
		{"null counts as absent", `{"name": null, "direction": null}`, 422, []string{"direction missing", "name missing"}},
		{"unknown fields", `{"name": "x", "direction": "push", "b": 1, "a": 1}`, 422, []string{"a unknown_field", "b unknown_field"}},
		{"names match exactly", `{"Name": "x", "name": "x", "direction": "push"}`, 422, []string{"Name unknown_field"}},
		{
			"what an answer holds", `{"name": "x", "direction": "push", "is_approved": true, "review_state": "approved", "active": false}`, 422,
			[]string{"active unknown_field", "is_approved unknown_field", "review_state unknown_field"},
		},
		{
			"wrong types, each named", `{"name": 1, "description": [], "direction": true, "visibility": {}, "attribution": 1, "licence": 1, "layer_name": false,
			"spec_url": 1, "pull_url": 1, "pull_auth_header": 1, "pull_interval_seconds": "60"}`, 422,
			[]string{
				"attribution invalid_type", "description invalid_type", "direction invalid_type", "layer_name invalid_type", "licence invalid_type",
				"name invalid_type", "pull_auth_header invalid_type", "pull_interval_seconds invalid_type", "pull_url invalid_type", "spec_url invalid_type", "visibility invalid_type",
			},
		},
		{
			"shape and values, in one answer", `{"name": 1, "direction": "pull", "pull_url": "http://example.org/", "visibility": "x", "what": 1}`, 422,
			[]string{"name invalid_type", "pull_url not_https", "visibility invalid_visibility", "what unknown_field"},
		},
		{"a pull feed without its address", `{"name": "x", "direction": "pull"}`, 422, []string{"pull_url missing"}},
		{"a push feed with one", `{"name": "x", "direction": "push", "pull_url": "https://example.org/"}`, 422, []string{"pull_url not_for_push"}},
		{"an IP address", `{"name": "x", "direction": "pull", "pull_url": "https://127.0.0.1/"}`, 422, []string{"pull_url ip_literal"}},
		{"a local name", `{"name": "x", "direction": "pull", "pull_url": "https://printer.local/"}`, 422, []string{"pull_url not_public_host"}},
		{"a header of the transport", `{` + pull + `, "pull_auth_header": "Host: x"}`, 422, []string{"pull_auth_header reserved_name"}},
		{"an empty header", `{` + pull + `, "pull_auth_header": ""}`, 422, []string{"pull_auth_header empty"}},
		{"a header with a line break", `{` + pull + `, "pull_auth_header": "A: b\r\nC: d"}`, 422, []string{"pull_auth_header bad_characters"}},
		{"an interval beyond numbers", `{` + pull + `, "pull_interval_seconds": 1e999}`, 201, nil},
		{"all optional fields null", `{` + pull + `, "description": null, "visibility": null, "pull_auth_header": null, "pull_interval_seconds": null,
			"attribution": null, "licence": null, "layer_name": null, "spec_url": null}`, 201, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := owner.Send(http.MethodPost, "/v2/feeds", tt.body).Want(t, tt.status)
			if tt.status == http.StatusCreated {
				return
			}
			if kind := got.Header.Get("Content-Type"); kind != "application/problem+json" {
				t.Errorf("Content-Type %q", kind)
			}
			wrong := got.FieldErrors(t)
			slices.Sort(wrong)
			if diff := cmp.Diff(tt.wrong, wrong); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	owner.Send(http.MethodPost, "/v2/feeds", `{"name": "x", "direction": "push"}`, "Content-Type", "text/plain").Want(t, http.StatusUnsupportedMediaType)
}

// TestPatchBodies checks D5.3 for changes, and the meaning of null there.
func TestPatchBodies(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	r := owner.Register(`{"name": "x", "description": "d", "attribution": "a", "licence": "c", "layer_name": "l", "spec_url": "https://example.org/spec",
		"direction": "pull", "pull_url": "https://example.org/", "pull_auth_header": "A: b"}`)
	for _, tt := range []struct {
		name, body string
		status     int
		wrong      []string
	}{
		{"malformed", `{`, 400, nil},
		{"an array", `[{"active": true}]`, 400, nil},
		{"a member twice", `{"active": true, "active": false}`, 400, nil},
		{"what cannot be null", `{"name": null, "visibility": null, "active": null, "pull_url": null, "pull_interval_seconds": null}`, 422, []string{
			"active invalid_type", "name invalid_type", "pull_interval_seconds invalid_type", "pull_url invalid_type", "visibility invalid_type",
		}},
		{"wrong types", `{"active": "true", "pull_interval_seconds": true}`, 422, []string{"active invalid_type", "pull_interval_seconds invalid_type"}},
		{"what never changes", `{"direction": "push", "layer_slug": "x", "id": "x"}`, 422, []string{
			"direction unknown_field", "id unknown_field", "layer_slug unknown_field",
		}},
		{"shape and values", `{"active": 1, "pull_url": "ftp://example.org/", "name": ""}`, 422, []string{
			"active invalid_type", "name missing", "pull_url not_https",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wrong := owner.Send(http.MethodPatch, r.Path(), tt.body).Want(t, tt.status).FieldErrors(t)
			slices.Sort(wrong)
			if diff := cmp.Diff(tt.wrong, wrong); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	want := owner.Send(http.MethodGet, r.Path(), "").FeedOf(t)
	if diff := cmp.Diff(want, r.Feed); diff != "" {
		t.Errorf("a refused change changed the feed (-now +before):\n%s", diff)
	}
	d.Advance(time.Minute)
	maps.Copy(want, map[string]any{
		"description": "", "attribution": "", "licence": "", "layer_name": "x", "spec_url": "", "has_pull_auth_header": false,
		"updated_at": "2026-11-21T08:01:00.000Z", "next_fetch_at": "2026-11-21T08:01:00.000Z",
	})
	got := owner.Send(http.MethodPatch, r.Path(), `{"description": null, "attribution": null, "licence": null, "layer_name": null, "spec_url": null, "pull_auth_header": null}`)
	want["review_version"] = got.FeedOf(t)["review_version"]
	if diff := cmp.Diff(want, got.FeedOf(t)); diff != "" {
		t.Errorf("cleared by null (-want +got):\n%s", diff)
	}
	maps.Copy(want, map[string]any{
		"name": "y", "description": "D", "attribution": "A", "licence": "C", "layer_name": "L", "spec_url": "https://example.org/s", "visibility": "public",
		"active": false, "pull_url": "https://example.com/", "has_pull_auth_header": true, "pull_interval_seconds": 60.0, "next_fetch_at": nil,
	})
	got = owner.Send(http.MethodPatch, r.Path(), `{"name": "y", "description": "D", "attribution": "A", "licence": "C", "layer_name": "L", "spec_url": "https://example.org/s",
		"visibility": "public", "active": false, "pull_url": "https://example.com", "pull_auth_header": "C: d", "pull_interval_seconds": 60}`)
	want["pull_url"], want["review_version"] = "https://example.com", got.FeedOf(t)["review_version"]
	if diff := cmp.Diff(want, got.FeedOf(t)); diff != "" {
		t.Errorf("all fields in one change (-want +got):\n%s", diff)
	}
	d.Advance(time.Minute)
	again := owner.Send(http.MethodPatch, r.Path(), `{"active": true}`).FeedOf(t)
	if again["next_fetch_at"] != "2026-11-21T08:02:00.000Z" || again["active"] != true {
		t.Errorf("re-activated: %v, next poll %v (D6.1)", again["active"], again["next_fetch_at"])
	}
}

// TestManagementNeedsTheOwnersSession checks D5.3 and D11.5: only sessions may manage, and only their own feeds.
func TestManagementNeedsTheOwnersSession(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, other := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("other@example.com", mapdata.Driver)
	push, pull := owner.RegisterPush("Chargers"), owner.Register(`{"name": "Roads", "direction": "pull", "pull_url": "https://example.org/"}`)
	_, token, err := func() (any, string, error) {
		accounts, err := d.Accounts.List(t.Context())
		if err != nil {
			return nil, "", err
		}
		text, made, err := d.Accounts.CreateAPIToken(t.Context(), accounts[0].ID, "server")
		return made, text, err
	}()
	if err != nil {
		t.Fatal(err)
	}
	const unknown = "/v2/feeds/0199a3c2-7d41-7c52-9b8e-2f6a1c0d9e47"
	calls := []struct{ method, path, body string }{
		{http.MethodGet, "", ""},
		{http.MethodPatch, "", `{"name": "stolen"}`},
		{http.MethodPatch, "", `{"name": 1}`},
		{http.MethodDelete, "", ""},
		{http.MethodPost, "/rotate-token", ""},
	}
	for _, c := range calls {
		d.Browser().Send(c.method, push.Path()+c.path, c.body).Want(t, http.StatusUnauthorized)
		d.Browser().Send(c.method, push.Path()+c.path, c.body, "Authorization", "Bearer "+token).Want(t, http.StatusUnauthorized)
		other.Send(c.method, push.Path()+c.path, c.body).Want(t, http.StatusNotFound)
		other.Send(c.method, pull.Path()+c.path, c.body).Want(t, http.StatusNotFound)
		owner.Send(c.method, unknown+c.path, c.body).Want(t, http.StatusNotFound)
		owner.Send(c.method, "/v2/feeds/no-id"+c.path, c.body).Want(t, http.StatusNotFound)
		owner.Send(c.method, strings.ToUpper(push.Path())+c.path, c.body).Want(t, http.StatusNotFound)
		owner.Send(c.method, push.Path()+c.path, c.body, "Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site").Want(t,
			map[bool]int{true: http.StatusOK, false: http.StatusForbidden}[c.method == http.MethodGet])
	}
	for _, c := range []struct{ method, path string }{{http.MethodGet, "/v2/feeds"}, {http.MethodPost, "/v2/feeds"}} {
		d.Browser().Send(c.method, c.path, "").Want(t, http.StatusUnauthorized)
		d.Browser().Send(c.method, c.path, "", "Authorization", "Bearer "+token).Want(t, http.StatusUnauthorized)
	}
	owner.Send(http.MethodPost, pull.Path()+"/rotate-token", "").Want(t, http.StatusConflict)
	if got := owner.Send(http.MethodGet, push.Path(), "").FeedOf(t); got["name"] != "Chargers" {
		t.Errorf("the feed is called %v", got["name"])
	}
}

// TestFeedFieldsByRole checks D5.4.
func TestFeedFieldsByRole(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, other := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("other@example.com", mapdata.Driver)
	curator := d.SignedInAs("curator@example.com", mapdata.Curator)
	r := owner.Register(`{"name": "Roads", "direction": "pull", "visibility": "public", "pull_url": "https://example.org/"}`)
	other.Send(http.MethodGet, r.Path(), "").Want(t, http.StatusNotFound)
	full := curator.Send(http.MethodGet, r.Path(), "").FeedOf(t)
	if diff := cmp.Diff(r.Feed, full); diff != "" {
		t.Errorf("a curator sees (-owner +curator):\n%s", diff)
	}
	curator.Send(http.MethodPost, r.Path()+"/approve", "").Want(t, http.StatusOK)
	brief := map[string]any{}
	for _, name := range []string{"id", "name", "description", "attribution", "licence", "direction", "visibility", "layer_id", "layer_name", "layer_slug"} {
		brief[name] = r.Feed[name]
	}
	brief["is_approved"], brief["is_public"] = true, true
	if diff := cmp.Diff(brief, other.Send(http.MethodGet, r.Path(), "").FeedOf(t)); diff != "" {
		t.Errorf("others see (-want +got):\n%s", diff)
	}
	list := func(b *httpapitest.Browser) []map[string]any {
		var got struct{ Feeds []map[string]any }
		b.Send(http.MethodGet, "/v2/feeds", "").Want(t, http.StatusOK).Decode(t, &got)
		return got.Feeds
	}
	mine := other.RegisterPush("Mine")
	if diff := cmp.Diff([]map[string]any{mine.Feed, brief}, list(other)); diff != "" {
		t.Errorf("the list of others (-want +got):\n%s", diff)
	}
	if got := list(owner); len(got) != 1 || got[0]["pull_url"] != "https://example.org/" {
		t.Errorf("the owner's list: %v", got)
	}
	if got := list(d.SignedInAs("third@example.com", mapdata.Driver)); len(got) != 1 {
		t.Errorf("a list of one public feed has %d", len(got))
	}
}

// TestReviewOverHTTP checks States and D5.5, D5.7, D4.8: which callers read the entities in each state.
func TestReviewOverHTTP(t *testing.T) {
	d := httpapitest.NewService(t)
	owner, curator := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("curator@example.com", mapdata.Curator)
	admin, guest := d.SignedInAs("admin@example.com", mapdata.Admin), d.Browser()
	r := owner.Register(`{"name": "Roads", "direction": "pull", "visibility": "public", "pull_url": "https://example.org/1"}`)
	id, _ := mapdata.ParseFeedID(r.ID())
	d.StoreEntity(id)
	shown := func(when string, want bool) {
		t.Helper()
		if got := len(d.NearbyIDs(guest)) == 1; got != want {
			t.Errorf("%s: a guest sees it: %v, want %v", when, got, want)
		}
		if len(d.NearbyIDs(owner)) != 1 {
			t.Errorf("%s: the owner does not see it", when)
		}
		var sources struct{ Sources []map[string]any }
		guest.Send(http.MethodGet, "/v2/sources", "").Decode(t, &sources)
		if listed := len(sources.Sources) == 1; listed != want {
			t.Errorf("%s: it is listed: %v, want %v", when, listed, want)
		}
	}
	patch := func(body string) map[string]any {
		t.Helper()
		return owner.Send(http.MethodPatch, r.Path(), body).FeedOf(t)
	}
	shown("pending", false)
	owner.Send(http.MethodPost, r.Path()+"/approve", "").Want(t, http.StatusForbidden)
	owner.Send(http.MethodPost, r.Path()+"/reject", `{"note": "x"}`).Want(t, http.StatusForbidden)
	owner.Send(http.MethodPost, r.Path()+"/reject", `{}`).Want(t, http.StatusForbidden)
	d.Browser().Send(http.MethodPost, r.Path()+"/approve", "").Want(t, http.StatusUnauthorized)
	shown("refused decisions", false)

	if f := curator.Send(http.MethodPost, r.Path()+"/approve", "").FeedOf(t); f["is_approved"] != true || f["is_public"] != true || f["entity_count"] != 1.0 {
		t.Errorf("approved: %v", f)
	}
	shown("approved", true)
	if f := patch(`{"pull_url": "https://example.org/2?x=y"}`); f["review_state"] != "approved" {
		t.Errorf("another path: %v", f["review_state"])
	}
	shown("another path", true)
	if f := patch(`{"pull_url": "https://example.com/2"}`); f["review_state"] != "pending" || f["is_approved"] != false || f["is_public"] != false || f["review_note"] == "" {
		t.Errorf("another origin: %v %v %v %q", f["review_state"], f["is_approved"], f["is_public"], f["review_note"])
	}
	shown("another origin", false)
	admin.Send(http.MethodPost, r.Path()+"/approve", "").Want(t, http.StatusOK)
	shown("approved again", true)
	if f := patch(`{"visibility": "private"}`); f["review_state"] != "approved" || f["is_public"] != false {
		t.Errorf("private: %v, public %v", f["review_state"], f["is_public"])
	}
	shown("private", false)
	if f := patch(`{"visibility": "public"}`); f["review_state"] != "pending" {
		t.Errorf("public again: %v", f["review_state"])
	}
	shown("public again", false)

	if wrong := curator.Send(http.MethodPost, r.Path()+"/reject", `{}`).Want(t, http.StatusUnprocessableEntity).FieldErrors(t); !slices.Equal(wrong, []string{"note missing"}) {
		t.Errorf("rejected without a note: %v", wrong)
	}
	curator.Send(http.MethodPost, r.Path()+"/reject", `{"note": " "}`).Want(t, http.StatusUnprocessableEntity)
	if f := curator.Send(http.MethodPost, r.Path()+"/reject", `{"note": "No."}`).FeedOf(t); f["review_state"] != "rejected" || f["review_note"] != "No." || f["active"] != true {
		t.Errorf("rejected: %v", f)
	}
	shown("rejected", false)
	if f := patch(`{"description": "better"}`); f["review_state"] != "pending" || f["review_note"] != "" {
		t.Errorf("changed after a rejection: %v %q", f["review_state"], f["review_note"])
	}

	emails, err := d.DB.DueEmails(t.Context(), d.Time(), d.Time(), 10)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, l := range emails {
		got = append(got, fmt.Sprint(l.Address, " ", l.Kind, " ", l.Data["note"]))
	}
	want := []string{"owner@example.com feed_approved ", "owner@example.com feed_approved ", "owner@example.com feed_rejected No."}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("e-mails (-want +got):\n%s", diff)
	}
}

// TestDeleteOverHTTP checks D5.6.
func TestDeleteOverHTTP(t *testing.T) {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	r := owner.RegisterPush("Cameras")
	d.Push(*r.Token, httpapitest.Rows(3, 52, 5)).Want(t, http.StatusOK)
	if f := owner.Send(http.MethodGet, r.Path(), "").FeedOf(t); f["entity_count"] != 3.0 || f["last_push_at"] != "2026-11-21T08:00:00.000Z" {
		t.Errorf("%v entities, last push %v", f["entity_count"], f["last_push_at"])
	}
	if got := d.NearbyIDs(owner); len(got) != 3 {
		t.Fatalf("the owner sees %v", got)
	}
	owner.Send(http.MethodDelete, r.Path(), "").Want(t, http.StatusNoContent)
	if got := d.NearbyIDs(owner); len(got) != 0 {
		t.Errorf("the owner still sees %v", got)
	}
	owner.Send(http.MethodGet, r.Path(), "").Want(t, http.StatusNotFound)
	owner.Send(http.MethodDelete, r.Path(), "").Want(t, http.StatusNotFound)
	d.Push(*r.Token, httpapitest.Rows(3, 52, 5)).Want(t, http.StatusUnauthorized)
	if again := owner.RegisterPush("Cameras"); again.Layer["slug"] != "cameras" {
		t.Errorf("the layer is gone, and its slug still taken: %v", again.Layer["slug"])
	}
}

// TestFeedLimits checks D5.9.
func TestFeedLimits(t *testing.T) {
	t.Run("20 feeds", func(t *testing.T) {
		d := httpapitest.NewService(t)
		owner := d.SignedInAs("owner@example.com", mapdata.Driver)
		for range 20 {
			owner.RegisterPush("Chargers")
		}
		owner.Send(http.MethodPost, "/v2/feeds", `{"name": "x", "direction": "push"}`).Want(t, http.StatusConflict)
	})
	t.Run("60 requests a minute", func(t *testing.T) {
		d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 60})
		owner, other := d.SignedInAs("owner@example.com", mapdata.Driver), d.SignedInAs("other@example.com", mapdata.Driver)
		for range 60 {
			owner.Send(http.MethodGet, "/v2/feeds", "").Want(t, http.StatusOK)
		}
		late := owner.Send(http.MethodPost, "/v2/feeds", `{"name": "x", "direction": "push"}`).Want(t, http.StatusTooManyRequests)
		if got := late.Header.Get("Retry-After"); got != "1" {
			t.Errorf("Retry-After %q", got)
		}
		other.Send(http.MethodGet, "/v2/feeds", "").Want(t, http.StatusOK)
		d.Advance(time.Second)
		owner.RegisterPush("x")
	})
}
