package httpapi_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/entities/law"
	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// alertsPath is the request of a car at 52, 5 that drives north at 25 m/s.
const alertsPath = "/v2/alerts?lat=52&lng=5&heading=0&speed=25"

// TestAlerts checks every member of a response.
func TestAlerts(t *testing.T) {
	r := newTestUpstream(t, httpapitest.Row("ice", "alert.hazard.ice", 250), httpapitest.Row("far", "alert.police", 1500), httpapitest.Row("behind", "alert.police", -50), httpapitest.Row("beyond", "alert.hazard", 2100), httpapitest.Row("jam", "traffic.jam", 2900))
	d := newServiceWithUpstreams(t, r)
	d.Publish("Ring", httpapitest.Row("camera", "camera.speed", 280), httpapitest.Row("charger", "charger.supercharger", 100))
	b := d.Browser()
	reply := b.Send(http.MethodGet, alertsPath, "").Want(t, http.StatusOK)
	if got := reply.Header.Get("Cache-Control"); got != "no-store" || reply.Header.Get("ETag") != "" || reply.Header.Get("RateLimit") == "" {
		t.Errorf("headers %v", reply.Header)
	}
	var a httpapitest.AlertsAnswer
	reply.Decode(t, &a)
	if diff := cmp.Diff([]string{"ice ahead!", "camera ahead", "far ahead", "jam ahead"}, a.Summary()); diff != "" {
		t.Error(diff)
	}
	ice := a.Alerts[0]
	if ice.Distance != 250 || ice.Seconds == nil || *ice.Seconds != 10 || ice.Direction != 0 || ice.Lead != 375 || ice.Entity["id"] != "incident:v1:aWNl" {
		t.Errorf("%+v", ice)
	}
	if len(a.Sources) != 2 || a.Pause != 5 || !slices.Equal(a.Networks, []string{"tesla"}) || a.At == "" {
		t.Errorf("%+v", a)
	}
	b.WantAlerts(alertsPath+"&seen=incident:v1:aWNl", "ice ahead", "camera ahead!", "far ahead", "jam ahead")
	b.WantAlerts(alertsPath+"&kinds=charger.supercharger,camera.speed", "charger ahead", "camera ahead!")
	b.WantAlerts(alertsPath + "&kinds=camera.speed&sources=incidents")
	b.WantAlerts(alertsPath+"&layers=ring", "camera ahead!")
	b.WantAlerts("/v2/alerts?lat=52&lng=5&heading=180&speed=25", "behind ahead!")
	b.WantAlerts("/v2/alerts?lat=52&lng=5&heading=360&speed=25", "ice ahead!", "camera ahead", "far ahead", "jam ahead")
	b.WantAlerts("/v2/alerts?lat=52&lng=5&speed=1.5", "behind ahead", "ice ahead", "camera ahead", "far ahead", "jam ahead")
	if seconds := b.Alerts("/v2/alerts?lat=52&lng=5&speed=1.5").Alerts[0].Seconds; seconds != nil {
		t.Errorf("%v seconds at 1.5 m/s", *seconds)
	}
}

// TestAlertsOfCameras checks that the second stage of a camera is announced to drivers who are too fast, or whose first
// announcement was early, according to the parameter seen. TestAlertLeads covers the other kinds.
func TestAlertsOfCameras(t *testing.T) {
	d := httpapitest.NewService(t)
	d.Publish("Ring", httpapitest.Row("camera", "camera.speed", 280))
	b := d.Browser()
	id := b.Alerts(alertsPath).Alerts[0].Entity["id"].(string)
	near := "/v2/alerts?lat=52.0015&lng=5&heading=0&speed=25&seen="
	b.WantAlerts(alertsPath, "camera ahead!")
	b.WantAlerts(alertsPath+"&seen="+id, "camera ahead")
	b.WantAlerts(near+id, "camera near")
	b.WantAlerts(near+id+"~300~12", "camera near!")
	b.WantAlerts(near+id+"~250~12", "camera near")
	b.WantAlerts(near+id+"~300~12,"+id+"~near", "camera near")
	b.WantAlerts(alertsPath+"&seen="+id+"~near", "camera ahead")
}

// TestAlertLeads checks that properties of a row decide on its announcement, and that closures are announced a minute ahead.
func TestAlertLeads(t *testing.T) {
	d := httpapitest.NewService(t)
	with := func(id, kind string, north float64, properties string) string {
		r := httpapitest.Row(id, kind, north)
		at := strings.LastIndex(r, `"properties":{`) + len(`"properties":{`)
		return r[:at] + properties + "," + r[at:]
	}
	d.Publish("Ring", with("opposite", "camera.speed", 60, `"bearing":180`), with("older", "alert.police", 65, `"heading_degrees":170`),
		with("both", "alert.police", 70, `"bearing":180,"both_directions":true`), with("limit", "camera.speed", 80, `"maxspeed_kmh":50,"bearing":10`),
		with("text", "alert.hazard", 90, `"bearing":"180"`), httpapitest.Row("closure", "alert.road_closed", 1490))
	b := d.Browser()
	a := b.Alerts(alertsPath)
	var seen []string
	want := []string{"opposite near", "older ahead", "both ahead!", "limit near", "text ahead", "closure ahead"}
	if diff := cmp.Diff(want, a.Summary()); diff != "" {
		t.Fatal(diff)
	}
	leads := []float64{300, 375, 375, 300, 375, 1500}
	for i, alert := range a.Alerts {
		if alert.Lead != leads[i] {
			t.Errorf("%v: lead %v m, want %v", alert.Entity["external_id"], alert.Lead, leads[i])
		}
		seen = append(seen, alert.Entity["id"].(string))
	}
	both, limit, text := seen[2], seen[3], seen[4]
	b.WantAlerts(alertsPath+"&seen="+both, "opposite near", "older ahead", "both ahead", "limit near!", "text ahead", "closure ahead")
	b.WantAlerts(alertsPath+"&seen="+both+","+limit, "opposite near", "older ahead", "both ahead", "limit near!", "text ahead", "closure ahead")
	b.WantAlerts(alertsPath+"&seen="+both+","+limit+"~near", "opposite near", "older ahead", "both ahead", "limit near", "text ahead!", "closure ahead")
	b.WantAlerts(alertsPath+"&seen="+both+","+limit+"~near,"+text, "opposite near", "older ahead", "both ahead", "limit near", "text ahead", "closure ahead!")
}

// TestAlertsAndVotes checks that entities that votes hide are not listed, not even for their owner and curators, and that entities
// that the caller voted on are not announced, nor is anything merged with them.
func TestAlertsAndVotes(t *testing.T) {
	r := newTestUpstream(t, httpapitest.Row("a", "alert.police", 100))
	d := newServiceWithUpstreams(t, r)
	owner, feed := d.Publish("Ring", httpapitest.Row("b", "alert.police", 110), httpapitest.Row("c", "alert.hazard.ice", 200))
	guest, driver, curator := d.Browser(), d.SignedInAs("driver@example.org", mapdata.Driver), d.SignedInAs("curator@example.org", mapdata.Curator)
	guest.WantAlerts(alertsPath, "a ahead!", "c ahead")
	guest.WantAlerts(alertsPath+"&seen="+mapdata.EntityID(mapdata.SourceID("feed:"+feed), "b"), "a ahead", "c ahead!")
	driver.Vote("incident:v1:YQ", "confirm")
	d.WaitForIndex()
	driver.WantAlerts(alertsPath, "a ahead", "c ahead!")
	guest.WantAlerts(alertsPath, "a ahead!", "c ahead")
	driver.Vote("incident:v1:YQ", "vote")
	d.WaitForIndex()
	driver.WantAlerts(alertsPath, "a ahead!", "c ahead")
	ice := mapdata.EntityID(mapdata.SourceID("feed:"+feed), "c")
	for i := range 3 {
		d.SignedInAs(fmt.Sprintf("d%d@example.org", i), mapdata.Driver).Vote(ice, "dispute")
	}
	d.WaitForIndex()
	for _, b := range []*httpapitest.Browser{guest, owner, curator} {
		b.WantAlerts(alertsPath, "a ahead!")
	}
	if seen := owner.Read(httpapitest.NearbyPath); len(seen.Entities) != 2 {
		t.Errorf("the owner sees %v", seen.ExternalIDs())
	}
}

// TestAlertsParameters checks that the response to a bad request lists all errors.
func TestAlertsParameters(t *testing.T) {
	d := httpapitest.NewService(t)
	d.WaitForIndex()
	b := d.Browser()
	for query, want := range map[string][]string{
		"":                                  {"lat missing", "lng missing", "speed missing"},
		"lat=52&lng=5&speed=2":              {"heading missing"},
		"lat=91&lng=x&speed=-1&heading=361": {"lat out_of_range", "lng not_a_number", "speed out_of_range", "heading out_of_range"},
		"lat=52&lng=5&speed=101&heading=0":  {"speed out_of_range"},
		"lat=52&lng=5&speed=0&heading=":     {"heading missing"},
		"lat=52&lng=5&speed=0&heading=1&seen=a&seen=b":           {"seen repeated"},
		"lat=52&lng=5&speed=0&seen=" + strings.Repeat("x,", 201): {"seen too_many"},
		"lat=52&lng=5&speed=0&state=" + strings.Repeat("x", 513): {"state too_long"},
		"lat=52&lng=5&speed=0&bbox=1":                            {"bbox bbox_not_accepted"},
		"lat=52&lng=5&speed=0&kinds=moose":                       {"kinds unknown_kind"},
		"lat=52&lng=5&speed=0&sources=moose":                     {"sources unknown_source"},
		"lat=52&lng=5&sources=moose":                             {"speed missing", "sources unknown_source"},
	} {
		var p struct {
			Errors []struct{ Parameter, Code string }
		}
		b.Send(http.MethodGet, "/v2/alerts?"+query, "").Want(t, http.StatusBadRequest).Decode(t, &p)
		var got []string
		for _, e := range p.Errors {
			got = append(got, e.Parameter+" "+e.Code)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", query, diff)
		}
	}
}

// newLaw returns a law with an area around 52, 5.
func newLaw(t *testing.T, properties string) *law.Law {
	t.Helper()
	l, err := law.Parse([]byte(`{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"X",` + properties +
		`},"geometry":{"type":"Polygon","coordinates":[[[4,51],[6,51],[6,53],[4,53],[4,51]]]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestEntitiesHiddenByLaw checks that entities that the law hides are in no response and accept no votes, except for their owner
// and curators.
func TestEntitiesHiddenByLaw(t *testing.T) {
	r := newTestUpstream(t, httpapitest.Row("live", "alert.police", 100))
	d := httpapitest.NewServiceWith(t, httpapitest.Options{
		Manage: 100, Requests: 60, Entities: 10_000, Upstreams: []string{r.URL}, Law: newLaw(t, `"hide":["alert.police","camera.speed"]`),
	})
	owner, feed := d.Publish("Ring", httpapitest.Row("fed", "alert.police", 110), httpapitest.Row("camera", "camera.speed", 200), httpapitest.Row("ice", "alert.hazard.ice", 290))
	guest, driver, curator := d.Browser(), d.SignedInAs("driver@example.org", mapdata.Driver), d.SignedInAs("curator@example.org", mapdata.Curator)
	for _, tt := range []struct {
		who  *httpapitest.Browser
		want []string
	}{
		{guest, []string{"ice"}},
		{driver, []string{"ice"}},
		{owner, []string{"camera", "fed", "ice"}},
		{curator, []string{"camera", "ice", "live"}},
	} {
		a := tt.who.Read(httpapitest.NearbyPath)
		ids := a.ExternalIDs()
		slices.Sort(ids)
		if diff := cmp.Diff(tt.want, ids); diff != "" {
			t.Error(diff)
		}
		var hidden []string
		if tt.who != curator {
			hidden = []string{"alert.police", "camera.speed"}
		}
		if diff := cmp.Diff(hidden, a.HiddenKinds); diff != "" {
			t.Errorf("hidden_kinds: %s", diff)
		}
		tt.who.WantAlerts(alertsPath, "ice ahead!")
	}
	for _, id := range []string{"incident:v1:bGl2ZQ", mapdata.EntityID(mapdata.SourceID("feed:"+feed), "fed")} {
		driver.Send(http.MethodGet, "/v2/entities/"+id, "").Want(t, http.StatusNotFound)
		driver.Send(http.MethodPost, "/v2/entities/"+id+"/confirm", "").Want(t, http.StatusNotFound)
		curator.Send(http.MethodGet, "/v2/entities/"+id, "").Want(t, http.StatusOK)
	}
	a := curator.Read(httpapitest.NearbyPath)
	if a.Entities[0]["confirm_count"] != 0.0 {
		t.Errorf("a refused vote counts: %v", a.Entities[0])
	}
	curator.Send(http.MethodPost, "/v2/entities/"+mapdata.EntityID(mapdata.SourceID("feed:"+feed), "fed")+"/confirm", "").Want(t, http.StatusOK)
}

// TestCamerasShownAsZones checks that no response to a driver contains the position of a camera that is shown as a zone.
func TestCamerasShownAsZones(t *testing.T) {
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 100, Requests: 60, Entities: 10_000, Law: newLaw(t, `"camera_zone":true`)})
	owner, feed := d.Publish("Ring", httpapitest.Row("camera", "camera.speed", 123.4))
	guest, driver := d.Browser(), d.SignedInAs("driver@example.org", mapdata.Driver)
	id := mapdata.EntityID(mapdata.SourceID("feed:"+feed), "camera")
	middle := law.Middle(geo.Point{Lat: 52 + 123.4/111_195, Lng: 5}, 4000)
	away := geo.Distance(geo.Point{Lat: 52, Lng: 5}, middle)
	geom := fmt.Sprintf(`"geom":{"type":"Point","coordinates":[%v,%v]}`, middle.Lng, middle.Lat)
	for _, request := range [][2]string{
		{http.MethodGet, "/v2/entities/nearby?lat=52&lng=5&radius=5000"},
		{http.MethodGet, alertsPath},
		{http.MethodGet, "/v2/entities/" + id},
		{http.MethodPost, "/v2/entities/" + id + "/confirm"},
		{http.MethodDelete, "/v2/entities/" + id + "/vote"},
	} {
		body := driver.Send(request[0], request[1], "").Want(t, http.StatusOK).Body
		if !strings.Contains(body, geom) || !strings.Contains(body, `"properties":{"wayside_zone_m":4000}`) || !strings.Contains(body, id) ||
			strings.Contains(body, "52.0011") || strings.Contains(body, "A2") {
			t.Errorf("%v: %s", request, body)
		}
	}
	d.WaitForIndex()
	if a := guest.Alerts(alertsPath).Alerts; len(a) != 1 || a[0].Distance != max(0, away-2000) || !a[0].Announce || a[0].Stage != "ahead" {
		t.Errorf("%v m from the middle: %+v", away, a)
	}
	guest.WantAlerts(alertsPath+"&seen="+id, "camera ahead")
	from := fmt.Sprintf("/v2/alerts?lat=%.5f&lng=5&heading=0&speed=25", middle.Lat-3500/111_195.0)
	if a := guest.Alerts(from).Alerts; len(a) != 1 || a[0].Distance < 1490 || a[0].Distance > 1900 {
		t.Errorf("3.5 km before the middle: %+v", a)
	}
	if got := owner.Read(httpapitest.NearbyPath).Entities; len(got) != 1 || got[0]["properties"].(map[string]any)["street"] != "A2" {
		t.Errorf("the owner sees %v", got)
	}
}
