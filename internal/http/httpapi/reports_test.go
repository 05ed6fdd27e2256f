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
	"wayside/internal/http/httpapi/httpapitest"
)

// reportTest is a service with drivers' reports, and drivers who first signed in a day ago, and are known to be three people.
type reportTest struct {
	*httpapitest.Service
	guest, ann, bob, cem *httpapitest.Browser
}

func newReportTest(t *testing.T) *reportTest {
	t.Helper()
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000, Reports: true, TrustAfter: 24 * time.Hour})
	r := &reportTest{Service: d, guest: d.Browser()}
	for name, b := range map[string]**httpapitest.Browser{"ann": &r.ann, "bob": &r.bob, "cem": &r.cem} {
		*b = d.SignedInAs(name+"@example.org", mapdata.Driver)
	}
	d.Advance(24 * time.Hour)
	d.Drove("ann@example.org", "bob@example.org", "cem@example.org")
	return r
}

// reads reports whether a browser reads an entity, by place and by id, which must agree.
func (r *reportTest) reads(b *httpapitest.Browser, id string) bool {
	r.T.Helper()
	r.WaitForIndex()
	near := false
	for _, e := range b.Read(httpapitest.NearbyPath).Entities {
		near = near || e["id"] == id
	}
	single := b.Send(http.MethodGet, "/v2/entities/"+id, "")
	if (single.StatusCode == http.StatusOK) != near {
		r.T.Errorf("among the entities nearby: %v, by its id: %s", near, single.Status)
	}
	return near
}

// TestReportedClosureNeedsTwo checks D17.37: only its author reads a closed road until two accounts that count support it, and a
// vote that is taken back hides it again.
func TestReportedClosureNeedsTwo(t *testing.T) {
	t.Parallel()
	r := newReportTest(t)
	made := r.ann.Reports(http.StatusCreated, "alert.road_closed", 0)
	id := made.ID()
	readers := func(when string, want ...bool) {
		t.Helper()
		for i, b := range []*httpapitest.Browser{r.ann, r.bob, r.guest} {
			if got := r.reads(b, id); got != want[i] {
				t.Errorf("%s: reader %d (author, other, guest) reads it: %v, want %v", when, i, got, want[i])
			}
		}
	}
	readers("reported", true, false, false)
	r.bob.Send(http.MethodPost, "/v2/entities/"+id+"/confirm", "").Want(t, http.StatusNotFound)
	r.bob.Send(http.MethodPost, "/v2/entities/"+id+"/dispute", "").Want(t, http.StatusNotFound)
	r.ann.Send(http.MethodPost, "/v2/entities/"+id+"/confirm", "").Want(t, http.StatusForbidden)

	for i := range 5 {
		fresh := r.SignedInAs(fmt.Sprintf("fresh%d@example.org", i), mapdata.Driver)
		if counted := fresh.Reports(http.StatusOK, "alert.road_closed", 50); counted.ID() != id || counted.CountedAs != "confirm" {
			t.Errorf("a report of the same counts as %+v", counted)
		}
	}
	readers("reported by five new accounts", true, false, false)

	r.bob.Reports(http.StatusOK, "alert.road_closed", -50)
	readers("reported by an account that counts", true, true, true)
	r.bob.Vote(id, "vote")
	readers("its report taken back", true, false, false)
	r.cem.Reports(http.StatusOK, "alert.road_closed", 20)
	r.ann.Send(http.MethodDelete, "/v2/reports/"+id, "").Want(t, http.StatusNoContent)
	readers("taken back by the author", false, false, false)
	r.ann.Send(http.MethodDelete, "/v2/reports/"+id, "").Want(t, http.StatusNotFound)
}

// TestReportNamesItsStreet checks that a report has the name of the road on which its car is, and is taken without one where the road has
// none that a row can have.
func TestReportNamesItsStreet(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ street, want string }{{"Triq \"il-Kbira\"", "Triq \"il-Kbira\""}, {"", ""}, {"a\xff", ""}, {strings.Repeat("x", 40_000), ""}} {
		d := httpapitest.NewServiceWith(t, httpapitest.Options{
			Manage: 10_000, Requests: 60, Entities: 10_000, Reports: true, TrustAfter: 24 * time.Hour,
			Street: func(_ context.Context, at geo.Point, heading *float64) string {
				if at.Lat != 52 || at.Lng != 5 || heading == nil || *heading != 90 {
					t.Errorf("the street was asked for at %v, %v", at, heading)
				}
				return tt.street
			},
		})
		var made httpapitest.Reported
		d.SignedInAs("ann@example.org", mapdata.Driver).Send(http.MethodPost, "/v2/reports", `{"kind":"alert.accident","lat":52,"lng":5,"heading":90}`).Want(t, http.StatusCreated).Decode(t, &made)
		properties, _ := made.Entity["properties"].(map[string]any)
		if got, _ := properties["street"].(string); got != tt.want || properties["bearing"] != 90.0 {
			t.Errorf("%.20q: the report has the properties %v", tt.street, properties)
		}
	}
}
