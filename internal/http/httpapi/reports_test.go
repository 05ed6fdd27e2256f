package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// reportTest is a service with drivers' reports, and drivers who first signed in a day ago, and are known to be three people.
type reportTest struct {
	*testService
	guest, ann, bob, cem *browser
}

func newReportTest(t *testing.T) *reportTest {
	t.Helper()
	d := newTestServiceWith(t, serviceOptions{manage: 10_000, requests: 60, entities: 10_000, reports: true, trustAfter: 24 * time.Hour})
	r := &reportTest{testService: d, guest: d.browser()}
	for name, b := range map[string]**browser{"ann": &r.ann, "bob": &r.bob, "cem": &r.cem} {
		*b = d.signedInAs(name+"@example.org", mapdata.Driver)
	}
	d.advance(24 * time.Hour)
	d.drove("ann@example.org", "bob@example.org", "cem@example.org")
	return r
}

// reported is the answer to a report.
type reported struct {
	Entity    map[string]any
	CountedAs string `json:"counted_as"`
	Renewed   bool
}

func (r *reported) id() string { return r.Entity["id"].(string) }

// reports reports a kind the given number of metres north of 52, 5.
func (b *browser) reports(status int, kind string, metres float64) *reported {
	b.t.Helper()
	var made reported
	b.send(http.MethodPost, "/v2/reports", fmt.Sprintf(`{"kind": %q, "lat": %v, "lng": 5}`, kind, 52+metres/111_195)).want(b.t, status).decode(b.t, &made)
	return &made
}

// reads reports whether a browser reads an entity, by place and by id, which must agree.
func (r *reportTest) reads(b *browser, id string) bool {
	r.t.Helper()
	r.waitForIndex()
	near := false
	for _, e := range b.read(nearbyPath).Entities {
		near = near || e["id"] == id
	}
	single := b.send(http.MethodGet, "/v2/entities/"+id, "")
	if (single.StatusCode == http.StatusOK) != near {
		r.t.Errorf("among the entities nearby: %v, by its id: %s", near, single.Status)
	}
	return near
}

// TestReportedClosureNeedsTwo checks D17.37: only its author reads a closed road until two accounts that count support it, and a
// vote that is taken back hides it again.
func TestReportedClosureNeedsTwo(t *testing.T) {
	t.Parallel()
	r := newReportTest(t)
	made := r.ann.reports(http.StatusCreated, "alert.road_closed", 0)
	id := made.id()
	readers := func(when string, want ...bool) {
		t.Helper()
		for i, b := range []*browser{r.ann, r.bob, r.guest} {
			if got := r.reads(b, id); got != want[i] {
				t.Errorf("%s: reader %d (author, other, guest) reads it: %v, want %v", when, i, got, want[i])
			}
		}
	}
	readers("reported", true, false, false)
	r.bob.send(http.MethodPost, "/v2/entities/"+id+"/confirm", "").want(t, http.StatusNotFound)
	r.bob.send(http.MethodPost, "/v2/entities/"+id+"/dispute", "").want(t, http.StatusNotFound)
	r.ann.send(http.MethodPost, "/v2/entities/"+id+"/confirm", "").want(t, http.StatusForbidden)

	for i := range 5 {
		fresh := r.signedInAs(fmt.Sprintf("fresh%d@example.org", i), mapdata.Driver)
		if counted := fresh.reports(http.StatusOK, "alert.road_closed", 50); counted.id() != id || counted.CountedAs != "confirm" {
			t.Errorf("a report of the same counts as %+v", counted)
		}
	}
	readers("reported by five new accounts", true, false, false)

	r.bob.reports(http.StatusOK, "alert.road_closed", -50)
	readers("reported by an account that counts", true, true, true)
	r.bob.vote(id, "vote")
	readers("its report taken back", true, false, false)
	r.cem.reports(http.StatusOK, "alert.road_closed", 20)
	r.ann.send(http.MethodDelete, "/v2/reports/"+id, "").want(t, http.StatusNoContent)
	readers("taken back by the author", false, false, false)
	r.ann.send(http.MethodDelete, "/v2/reports/"+id, "").want(t, http.StatusNotFound)
}

// TestReportNamesItsStreet checks that a report has the name of the road on which its car is, and is taken without one where the road has
// none that a row can have.
func TestReportNamesItsStreet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ street, want string }{{"Triq \"il-Kbira\"", "Triq \"il-Kbira\""}, {"", ""}, {"a\xff", ""}, {strings.Repeat("x", 40_000), ""}} {
		d := newTestServiceWith(t, serviceOptions{
			manage: 10_000, requests: 60, entities: 10_000, reports: true, trustAfter: 24 * time.Hour,
			street: func(_ context.Context, at geo.Point, heading *float64) string {
				if at.Lat != 52 || at.Lng != 5 || heading == nil || *heading != 90 {
					t.Errorf("the street was asked for at %v, %v", at, heading)
				}
				return tt.street
			},
		})
		var made reported
		d.signedInAs("ann@example.org", mapdata.Driver).send(http.MethodPost, "/v2/reports", `{"kind":"alert.accident","lat":52,"lng":5,"heading":90}`).want(t, http.StatusCreated).decode(t, &made)
		properties, _ := made.Entity["properties"].(map[string]any)
		if got, _ := properties["street"].(string); got != tt.want || properties["bearing"] != 90.0 {
			t.Errorf("%.20q: the report has the properties %v", tt.street, properties)
		}
	}
}
