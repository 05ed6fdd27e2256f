package httpapitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
)

// AlertsAnswer is the response of GET /v2/alerts.
type AlertsAnswer struct {
	Alerts []struct {
		Entity    map[string]any
		Distance  float64 `json:"distance_m"`
		Seconds   *float64
		Direction float64 `json:"bearing"`
		Lead      float64 `json:"lead_m"`
		Stage     string
		Announce  bool
	}
	Sources  []map[string]any
	Networks []string `json:"networks_applied"`
	Pause    int      `json:"next_announce_after_seconds"`
	At       string   `json:"fetched_at_utc"`
}

// Summary abbreviates the list: external id, stage, and a ! on announced alerts.
func (a *AlertsAnswer) Summary() []string {
	all := []string{}
	for _, alert := range a.Alerts {
		text := fmt.Sprint(alert.Entity["external_id"], " ", alert.Stage)
		if alert.Announce {
			text += "!"
		}
		all = append(all, text)
	}
	return all
}

// Alerts reads alerts.
func (b *Browser) Alerts(path string) *AlertsAnswer {
	b.T.Helper()
	var a AlertsAnswer
	b.Send(http.MethodGet, path, "").Want(b.T, http.StatusOK).Decode(b.T, &a)
	return &a
}

// WantAlerts reads alerts, and fails the test unless their summary is as wanted.
func (b *Browser) WantAlerts(path string, want ...string) {
	b.T.Helper()
	if diff := cmp.Diff(append([]string{}, want...), b.Alerts(path).Summary()); diff != "" {
		b.T.Errorf("%s: %s", path, diff)
	}
}

// Row returns a v1 row the given number of metres north of 52, 5.
func Row(id, kind string, north float64) string {
	return fmt.Sprintf(`{"external_id":%q,"kind":%q,"lat":%.7f,"lng":5,"properties":{"street":"A2"}}`, id, kind, 52+north/111_195)
}

// NearbyPath reads what is near the place of most tests.
const NearbyPath = "/v2/entities/nearby?lat=52&lng=5&radius=2000"

// Read reads entities.
func (b *Browser) Read(path string) Answer {
	b.T.Helper()
	var a Answer
	b.Send(http.MethodGet, path, "").Want(b.T, http.StatusOK).Decode(b.T, &a)
	return a
}

// Publish registers a feed, pushes rows and approves it.
func (d *Service) Publish(name string, rows ...string) (owner *Browser, id string) {
	d.T.Helper()
	owner = d.SignedInAs(strings.ToLower(name)+"@example.org", mapdata.Driver)
	feed := owner.RegisterPush(name)
	d.Push(*feed.Token, "["+strings.Join(rows, ",")+"]").Want(d.T, http.StatusOK)
	curator := d.SignedInAs("curator-of-"+strings.ToLower(name)+"@example.org", mapdata.Curator)
	curator.Send(http.MethodPost, feed.Path()+"/approve", "").Want(d.T, http.StatusOK)
	d.WaitForIndex()
	return owner, feed.ID()
}

// Vote casts a vote and returns the entity of the response.
func (b *Browser) Vote(id, what string) map[string]any {
	b.T.Helper()
	method := http.MethodPost
	if what == "vote" {
		method = http.MethodDelete
	}
	var a struct{ Entity map[string]any }
	body := `{"lat":52,"lng":5}` // the place of all voted entities in the tests: a vote from elsewhere does not count
	if method == http.MethodDelete {
		body = ""
	}
	b.Send(method, "/v2/entities/"+id+"/"+what, body).Want(b.T, http.StatusOK).Decode(b.T, &a)
	return a.Entity
}

// Drove stores a vote of each account on each of the last three days, so that they count as separate people.
func (d *Service) Drove(emails ...string) {
	d.T.Helper()
	kind, _ := mapdata.ParseKind("alert.police")
	for _, email := range emails {
		a, err := d.Accounts.ByEmail(d.T.Context(), email)
		if err != nil {
			d.T.Fatal(err)
		}
		for i := range 3 {
			when := d.Time().Add(-time.Duration(i+1) * 24 * time.Hour)
			id := fmt.Sprintf("day %d of %s", i, email)
			if _, err := d.DB.CastVote(d.T.Context(), &mapdata.Ballot{
				Source: mapdata.Incidents, ExternalID: id, Account: a.ID, Vote: mapdata.Confirm, At: when,
				Live: &mapdata.Entity{
					ExternalID: id, Kind: kind, Point: geo.Point{Lat: 52, Lng: 5}, Properties: []byte(`{}`),
					FirstSeenAt: when, SeenAt: when, ChangedAt: when, Lifetime: time.Hour,
				},
			}); err != nil {
				d.T.Fatal(err)
			}
		}
	}
	d.signals.StoreChanged.Notify()
}

// WantHidden checks whether a guest reads a pin.
func (d *Service) WantHidden(what, id string, want bool) {
	d.T.Helper()
	d.WaitForIndex()
	hidden := true
	for _, e := range d.Browser().Read(NearbyPath).Entities {
		hidden = hidden && e["id"] != id
	}
	if hidden != want {
		d.T.Errorf("%s: hidden is %v, want %v", what, hidden, want)
	}
}

// Reported is the answer to a report.
type Reported struct {
	Entity    map[string]any
	CountedAs string `json:"counted_as"`
	Renewed   bool
}

// ID returns the id of the reported entity.
func (r *Reported) ID() string { return r.Entity["id"].(string) }

// Reports reports a kind the given number of metres north of 52, 5.
func (b *Browser) Reports(status int, kind string, metres float64) *Reported {
	b.T.Helper()
	var made Reported
	b.Send(http.MethodPost, "/v2/reports", fmt.Sprintf(`{"kind": %q, "lat": %v, "lng": 5}`, kind, 52+metres/111_195)).Want(b.T, status).Decode(b.T, &made)
	return &made
}

// ViewAnswer is a view's response as the page decodes it.
type ViewAnswer struct {
	Answer
	Clusters []struct {
		ID       string
		Lat, Lng float64
		Count    int
		KindID   string `json:"kind_id"`
	}
}

// View reads a view of the map.
func (s *ReadService) View(query string) (a ViewAnswer) {
	s.t.Helper()
	resp, body := s.Get("/v2/overlay/view?" + query)
	CheckAnswer(s.t, resp, body)
	if err := json.Unmarshal(body, &a); err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %s, %v: %s", query, resp.Status, err, body)
	}
	return a
}

// AddJams adds n jams around Fiji, on both sides of the antimeridian.
func (s *ReadService) AddJams(n int) {
	f := Feed(1, nil)
	var all []mapdata.Entity
	for i := range n {
		all = append(all, Entity(s.t, f, fmt.Sprint("jam-", i), "traffic.jam", -17+0.001*float64(i), 179.9-359.8*float64(i%2)))
	}
	s.AddFeed(f, all...)
}

// incidentsRead returns the live incidents in a read: their external ids and the source's status.
func (b *Browser) incidentsRead() string {
	b.T.Helper()
	a := b.Read(NearbyPath)
	return fmt.Sprint(a.ExternalIDs(), " ", a.Sources[0]["status"])
}

// WantIncidents fails the test unless a read has the wanted live incidents.
func (b *Browser) WantIncidents(when, want string) {
	b.T.Helper()
	if got := b.incidentsRead(); got != want {
		b.T.Errorf("%s: %s, want %s", when, got, want)
	}
}
