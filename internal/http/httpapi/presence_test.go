package httpapi_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// drove stores a vote of each account on each of the last three days, so that they count as separate people.
func (d *testService) drove(emails ...string) {
	d.t.Helper()
	kind, _ := mapdata.ParseKind("alert.police")
	for _, email := range emails {
		a, err := d.accounts.ByEmail(d.t.Context(), email)
		if err != nil {
			d.t.Fatal(err)
		}
		for i := range 3 {
			when := d.time().Add(-time.Duration(i+1) * 24 * time.Hour)
			id := fmt.Sprintf("day %d of %s", i, email)
			if _, err := d.db.CastVote(d.t.Context(), &mapdata.Ballot{
				Source: mapdata.Incidents, ExternalID: id, Account: a.ID, Vote: mapdata.Confirm, At: when,
				Live: &mapdata.Entity{
					ExternalID: id, Kind: kind, Point: geo.Point{Lat: 52, Lng: 5}, Properties: []byte(`{}`),
					FirstSeenAt: when, SeenAt: when, ChangedAt: when, Lifetime: time.Hour,
				},
			}); err != nil {
				d.t.Fatal(err)
			}
		}
	}
	d.signals.StoreChanged.Notify()
}

// wantHidden checks whether a guest reads a pin.
func (d *testService) wantHidden(what, id string, want bool) {
	d.t.Helper()
	d.waitForIndex()
	hidden := true
	for _, e := range d.browser().read(nearbyPath).Entities {
		hidden = hidden && e["id"] != id
	}
	if hidden != want {
		d.t.Errorf("%s: hidden is %v, want %v", what, hidden, want)
	}
}

// TestVotesFromAfarDoNotHide checks that a dispute hides a report only if the account sent a position within 5 km in the last ten
// minutes, by each way of sending one, and that it stands otherwise.
func TestVotesFromAfarDoNotHide(t *testing.T) {
	t.Parallel()
	const away = 52.0 + 5_010.0/111_195
	for name, tt := range map[string]struct {
		sends  func(b *browser)
		waits  time.Duration
		hidden bool
	}{
		"nothing":          {func(*browser) {}, 0, false},
		"a read":           {func(b *browser) { b.read(nearbyPath) }, 0, true},
		"a read long ago":  {func(b *browser) { b.read(nearbyPath) }, 10*time.Minute + time.Second, false},
		"a read elsewhere": {func(b *browser) { b.read(fmt.Sprintf("/v2/entities/nearby?lat=%v&lng=5&radius=50000", away)) }, 0, false},
		"alerts": {func(b *browser) {
			b.send(http.MethodGet, "/v2/alerts?lat=52.02&lng=5&speed=20&heading=0", "").want(t, http.StatusOK)
		}, 0, true},
		"a report":          {func(b *browser) { b.reports(http.StatusCreated, "alert.hazard.animal", 1_000) }, 0, true},
		"a read of a guest": {func(b *browser) { b.authService.browser().read(nearbyPath) }, 0, false},
		"a jump that no car makes": {func(b *browser) {
			b.read("/v2/entities/nearby?lat=40&lng=5&radius=2000")
			b.read(nearbyPath)
		}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReportTest(t)
			id := r.ann.reports(http.StatusCreated, "alert.police", 0).id()
			tt.sends(r.bob)
			r.advance(tt.waits)
			r.bob.send(http.MethodPost, "/v2/entities/"+id+"/dispute", "").want(t, http.StatusOK)
			r.wantHidden("a dispute after "+name, id, tt.hidden)
			var own struct {
				Explain struct{ Votes struct{ Yours string } }
			}
			if !tt.hidden {
				r.bob.send(http.MethodGet, "/v2/entities/"+id, "").want(t, http.StatusOK).decode(t, &own)
				if own.Explain.Votes.Yours != "dispute" {
					t.Errorf("the voter reads their vote as %q", own.Explain.Votes.Yours)
				}
				r.bob.send(http.MethodPost, "/v2/entities/"+id+"/dispute", `{"lat":52.03,"lng":5}`).want(t, http.StatusOK)
				r.wantHidden("a dispute that says where, after "+name, id, name != "a jump that no car makes")
			}
		})
	}
}

// TestPlaceOfVote checks the body of a vote, which may be left out.
func TestPlaceOfVote(t *testing.T) {
	t.Parallel()
	r := newReportTest(t)
	id := r.ann.reports(http.StatusCreated, "alert.police", 0).id()
	for _, tt := range []struct {
		body   string
		status int
	}{
		{``, http.StatusOK},
		{`{"lat":-90,"lng":180}`, http.StatusOK},
		{`{}`, http.StatusUnprocessableEntity},
		{`{"lat":52}`, http.StatusUnprocessableEntity},
		{`{"lat":90.1,"lng":5}`, http.StatusUnprocessableEntity},
		{`{"lat":52,"lng":-180.1}`, http.StatusUnprocessableEntity},
		{`{"lat":"52","lng":5}`, http.StatusUnprocessableEntity},
		{`{"lat":52,"lng":5,"speed":9}`, http.StatusUnprocessableEntity},
		{`[52,5]`, http.StatusBadRequest},
		{`{"lat":1e400,"lng":5}`, http.StatusUnprocessableEntity},
		{`{"lat":52,"lng":5}` + strings.Repeat(" ", 1000), http.StatusOK},
		{`{"lat":52,"lng":5}` + strings.Repeat(" ", 1024), http.StatusRequestEntityTooLarge},
	} {
		if got := r.bob.send(http.MethodPost, "/v2/entities/"+id+"/confirm", tt.body); got.StatusCode != tt.status {
			t.Errorf("%s: %s, want %d", tt.body, got.Status, tt.status)
		}
	}
}
