package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"wayside/internal/feeds/provider/drivers"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// TestReportsOfNewAccountsShowNoClosure holds what D17.37 is for: hundreds of accounts that signed in an hour ago (two thousand if
// WAYSIDE_TEST_FULL is set) report closed roads where there is none, where a known account reported one, and where two did, and others
// dispute that. Nobody else sees another closure, none longer, and none that is said to be disputed, which routes would be led through.
func TestReportsOfNewAccountsShowNoClosure(t *testing.T) {
	t.Parallel()
	r := newReportTest(t)
	alone := r.ann.Reports(http.StatusCreated, "alert.road_closed", 400).ID()
	shown := r.bob.Reports(http.StatusCreated, "alert.road_closed", 0).ID()
	r.cem.Reports(http.StatusOK, "alert.road_closed", 0)
	r.WaitForIndex()
	closures := func() string {
		r.WaitForIndex()
		var all []string
		for _, e := range r.guest.Read(httpapitest.NearbyPath).Entities {
			all = append(all, fmt.Sprint(e["id"], e["expires_at"], e["kind_id"], e["status"], e["confidence"], e["confirm_count"], e["dispute_count"]))
		}
		return strings.Join(all, "\n")
	}
	want := closures()
	if !strings.Contains(want, shown) || strings.Contains(want, alone) {
		t.Fatalf("a guest reads %s", want)
	}
	accounts := 300
	if os.Getenv("WAYSIDE_TEST_FULL") != "" {
		accounts = 2000
	}
	fresh := make([]mapdata.AccountID, accounts)
	for i := range fresh {
		a, err := r.Accounts.Create(t.Context(), fmt.Sprintf("crowd%d@example.org", i))
		if err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("crowd %d", i)
		s := &mapdata.Session{ID: id, TokenHash: []byte(id), Account: a.ID, CreatedAt: r.Time(), SeenAt: r.Time()}
		if err := r.DB.CreateSession(t.Context(), s, ""); err != nil {
			t.Fatal(err)
		}
		fresh[i] = a.ID
	}
	r.Advance(time.Hour)
	for i, id := range fresh {
		lat := 52 + []float64{-800, 400, 0}[i%3]/111_195
		request := &drivers.Request{Account: id, Kind: "alert.road_closed", Lat: fmt.Append(nil, lat), Lng: []byte("5")}
		if _, err := r.Reports.Report(t.Context(), request); err != nil {
			t.Fatal(err)
		}
	}
	if got := closures(); got != want {
		t.Errorf("a guest reads\n%s\nand before\n%s", got, want)
	}
	for i := range 20 {
		r.SignedInAs(fmt.Sprintf("doubter%d@example.org", i), mapdata.Driver).Vote(shown, "dispute")
	}
	if got := closures(); got != want {
		t.Errorf("disputed by new accounts, a guest reads\n%s\nand before\n%s", got, want)
	}
	if !r.reads(r.ann, alone) {
		t.Error("the author does not read their closure any more")
	}
}

// TestReportLivesAndIsHidden checks the other rules of D17.37: a report has half the lifetime, and lives longer with a confirm; one
// dispute that counts hides it; the author's confidence is 0.3.
func TestReportLivesAndIsHidden(t *testing.T) {
	t.Parallel()
	r := newReportTest(t)
	made := r.ann.Reports(http.StatusCreated, "alert.accident", 0)
	id := made.ID()
	lives := func(what string, e map[string]any, want time.Duration) {
		t.Helper()
		if ends, err := time.Parse(time.RFC3339, e["expires_at"].(string)); err != nil || ends.Sub(r.Time()).Round(time.Second) != want {
			t.Errorf("%s: until %v, want %v from now", what, e["expires_at"], want)
		}
	}
	lives("reported", made.Entity, time.Hour)
	if made.Entity["confidence"] != 0.3 || made.Entity["layer_slug"] != "drivers" {
		t.Errorf("the report is %v", made.Entity)
	}
	r.Advance(30 * time.Minute)
	if again := r.ann.Reports(http.StatusOK, "alert.accident", 90); !again.Renewed || again.ID() != id || again.Entity["confirm_count"] != 0.0 {
		t.Errorf("one's own report again: %+v", again)
	} else {
		lives("renewed", again.Entity, time.Hour)
	}
	r.Advance(45 * time.Minute)
	lives("confirmed", r.bob.Reports(http.StatusOK, "alert.accident", -90).Entity, time.Hour)

	police := r.ann.Reports(http.StatusCreated, "alert.police", 0).ID()
	fresh := r.SignedInAs("fresh@example.org", mapdata.Driver)
	fresh.Vote(police, "dispute")
	if !r.reads(r.guest, police) {
		t.Error("the dispute of a new account hides it")
	}
	r.bob.Vote(police, "dispute")
	if r.reads(r.guest, police) || r.reads(r.ann, police) {
		t.Error("one dispute does not hide it")
	}
	if again := r.cem.Reports(http.StatusOK, "alert.police", 0); again.ID() != police || !r.reads(r.guest, police) {
		t.Error("another report does not show it again")
	}
}

// TestReportsMatchOtherSources checks that a report confirms an entity of a feed, by the kind, its parent or its subtype, and not
// beyond the merge distance, but not one of the driver's own feed, because nobody votes on their own entities.
func TestReportsMatchOtherSources(t *testing.T) {
	t.Parallel()
	r := newReportTest(t)
	owner, feed := r.Publish("Ring", `{"external_id":"a","kind":"alert.hazard","lat":52,"lng":5,"properties":{}}`)
	id := mapdata.EntityID(mapdata.SourceID("feed:"+feed), "a")
	if got := r.ann.Reports(http.StatusOK, "alert.hazard.ice", 110); got.ID() != id || got.Entity["confirm_count"] != 1.0 {
		t.Errorf("ice at a hazard counts as %+v", got)
	}
	r.bob.Reports(http.StatusCreated, "alert.hazard.ice", 130)
	r.bob.Reports(http.StatusCreated, "alert.police", 0)
	owner.Reports(http.StatusCreated, "alert.hazard", 10)
}

// TestHostileReports sends reports that no page sends, and checks that none is stored, and that the answer names the fields.
func TestHostileReports(t *testing.T) {
	t.Parallel()
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000, Reports: true, Law: newLaw(t, `"hide":["alert.police"]`)})
	ann := d.SignedInAs("ann@example.org", mapdata.Driver)
	at := `"lat": 52, "lng": 5`
	old := d.Time().Add(-10*time.Minute - time.Second).Format(time.RFC3339)
	future := d.Time().Add(6 * time.Minute).Format(time.RFC3339)
	for _, tt := range []struct {
		name, body string
		status     int
		codes      string
	}{
		{"no JSON", `{`, http.StatusBadRequest, ""},
		{"an array", `[]`, http.StatusBadRequest, ""},
		{"the same member twice", `{"kind": "traffic.jam", "kind": "alert.police", ` + at + `}`, http.StatusBadRequest, ""},
		{"nothing", `{}`, http.StatusUnprocessableEntity, "kind missing lat missing_lat"},
		{"a camera", `{"kind": "camera.speed", ` + at + `}`, http.StatusUnprocessableEntity, "kind unknown_kind"},
		{"no kind of the list", `{"kind": "alert.\u0000", ` + at + `}`, http.StatusUnprocessableEntity, "kind unknown_kind"},
		{"an object as a kind", `{"kind": {}, ` + at + `}`, http.StatusUnprocessableEntity, "kind invalid_type"},
		{"a place as words", `{"kind": "traffic.jam", "lat": "52", "lng": 5}`, http.StatusUnprocessableEntity, "lat invalid_lat"},
		{"a place beyond the poles", `{"kind": "traffic.jam", "lat": 90.1, "lng": 5}`, http.StatusUnprocessableEntity, "lat invalid_lat"},
		{"a place beyond numbers", `{"kind": "traffic.jam", "lat": 1e999, "lng": 5}`, http.StatusUnprocessableEntity, "lat invalid_lat"},
		{"an object as a place", `{"kind": "traffic.jam", "lat": {"a": [1]}, "lng": 5}`, http.StatusUnprocessableEntity, "lat invalid_lat"},
		{"a heading beyond the circle", `{"kind": "traffic.jam", ` + at + `, "heading": 361}`, http.StatusUnprocessableEntity, "heading invalid_heading"},
		{"a heading as words", `{"kind": "traffic.jam", ` + at + `, "heading": "north"}`, http.StatusUnprocessableEntity, "heading invalid_type"},
		{"too old", `{"kind": "traffic.jam", ` + at + `, "observed_at": "` + old + `"}`, http.StatusUnprocessableEntity, "observed_at too_old"},
		{"to come", `{"kind": "traffic.jam", ` + at + `, "observed_at": "` + future + `"}`, http.StatusUnprocessableEntity, "observed_at invalid_observed_at"},
		{"a text", `{"kind": "traffic.jam", ` + at + `, "description": "<script>"}`, http.StatusUnprocessableEntity, "description unknown_field"},
		{"properties", `{"kind": "traffic.jam", ` + at + `, "properties": {"street": "x"}}`, http.StatusUnprocessableEntity, "properties unknown_field"},
		{"a kind that the law hides", `{"kind": "alert.police", "lat": 52.001, "lng": 5}`, http.StatusUnprocessableEntity, "kind hidden_by_law"},
		{"a long text", `{"kind": "` + strings.Repeat("x", 5000) + `", ` + at + `}`, http.StatusRequestEntityTooLarge, ""},
	} {
		var problem struct {
			Errors []struct{ Field, Code string }
		}
		answer := ann.Send(http.MethodPost, "/v2/reports", tt.body)
		if err := json.Unmarshal([]byte(answer.Body), &problem); err != nil || answer.StatusCode != tt.status {
			t.Errorf("%s: %s %s", tt.name, answer.Status, answer.Body)
			continue
		}
		var codes []string
		for _, e := range problem.Errors {
			codes = append(codes, e.Field, e.Code)
		}
		if got := strings.Join(codes, " "); got != tt.codes {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.codes)
		}
	}
	for _, id := range []string{"x", "drivers:v1:", "drivers:v1:eA", mapdata.EntityID(mapdata.Incidents, "x"), "drivers:v1:" + strings.Repeat("e", 400)} {
		ann.Send(http.MethodDelete, "/v2/reports/"+id, "").Want(t, http.StatusNotFound)
	}
	d.Browser().Send(http.MethodPost, "/v2/reports", `{}`).Want(t, http.StatusUnauthorized)
	ann.Send(http.MethodPost, "/v2/reports", `{"kind": "traffic.jam", `+at+`}`, "Sec-Fetch-Site", "cross-site").Want(t, http.StatusForbidden)
	d.WaitForIndex()
	if left := d.Browser().Read(httpapitest.NearbyPath).Entities; len(left) != 0 {
		t.Errorf("stored: %v", left)
	}
}

// TestReportsThatWaited checks that a report that waited for a connection is judged by when it was seen: what is implausible now was
// not eight minutes ago (D17.37).
func TestReportsThatWaited(t *testing.T) {
	t.Parallel()
	r := newReportTest(t)
	reports := func(metres float64, observed string) httpapitest.Reply {
		return r.ann.Send(http.MethodPost, "/v2/reports", fmt.Sprintf(`{"kind": "alert.police", "lat": %v, "lng": 5%s}`, 52+metres/111_195, observed))
	}
	reports(0, fmt.Sprintf(`, "observed_at": %q`, r.Time().Add(-8*time.Minute).Format(time.RFC3339))).Want(t, http.StatusCreated)
	if refused := reports(43_000, ""); refused.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(refused.Body, `"implausible"`) {
		t.Errorf("43 km further eight minutes later: %s %s", refused.Status, refused.Body)
	}
	var made httpapitest.Reported
	reports(41_000, `, "heading": 90.5`).Want(t, http.StatusCreated).Decode(t, &made)
	if properties, _ := made.Entity["properties"].(map[string]any); properties["bearing"] != 90.5 || len(properties) != 1 { // D17.35
		t.Errorf("the properties are %v", properties)
	}
}
