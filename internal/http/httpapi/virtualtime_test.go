package httpapi_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/feeds/refprovider"
	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// These tests check the rules that depend on the time of day or on minutes and days passing, through the public handler and a real
// upstream. Only the injected clock moves.

// recordedProvider is the reference provider behind a server that records the tenants of the calls.
type recordedProvider struct {
	*httptest.Server
	now func() time.Time

	mu       sync.Mutex
	provider *refprovider.Provider
	tenants  []string
}

// newRecordedProvider starts a provider that accepts a secret; the service sends "s". now becomes usable once the service exists.
func newRecordedProvider(t *testing.T, now func() time.Time, secret string) *recordedProvider {
	t.Helper()
	p := &recordedProvider{now: now}
	p.accept(secret)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.tenants = append(p.tenants, r.URL.Query().Get("tenant"))
		handler := p.provider.Handler()
		p.mu.Unlock()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// accept replaces the provider by one that accepts the secret and has no snapshot: until publish is called, it answers 503.
func (p *recordedProvider) accept(secret string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.provider = refprovider.New(refprovider.Config{Secret: secret, Now: p.now, Log: slog.New(slog.DiscardHandler)})
}

// publish sets the rows of the provider's answers.
func (p *recordedProvider) publish(t *testing.T, rows ...string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	decoded, err := p.provider.Decode([]byte("[" + strings.Join(rows, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	p.provider.Set(decoded, p.now())
}

// calls returns the tenants of all calls so far.
func (p *recordedProvider) calls() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.tenants)
}

// newServiceWithProviders returns the service with one reference provider for each secret that they accept.
func newServiceWithProviders(t *testing.T, secrets ...string) (d *httpapitest.Service, providers []*recordedProvider) {
	t.Helper()
	limits := httpapitest.Options{Manage: 10_000, Requests: 60, Entities: 10_000}
	for _, secret := range secrets {
		p := newRecordedProvider(t, func() time.Time { return d.Time() }, secret)
		providers = append(providers, p)
		limits.Upstreams = append(limits.Upstreams, p.URL)
	}
	d = httpapitest.NewServiceWith(t, limits)
	d.WaitForIndex()
	return d, providers
}

// TestUpstreamPausesAfter401 checks D8.6: an upstream that refuses the secret is not called for five minutes, for any driver,
// is shown as failing, and the others are called meanwhile.
func TestUpstreamPausesAfter401(t *testing.T) {
	d, providers := newServiceWithProviders(t, "another secret", "s")
	refusing, other := providers[0], providers[1]
	other.publish(t, httpapitest.Row("other", "alert.police", 10))
	guest, driver := d.Browser(), d.SignedInAs("driver@example.org", mapdata.Driver)
	guest.WantIncidents("at first", "[other] degraded")
	refusing.accept("s") // the provider corrects its secret, which the service learns of after the pause
	for _, at := range []time.Duration{time.Minute, 3 * time.Minute, 5*time.Minute - time.Millisecond} {
		d.Advance(httpapitest.Start.Add(at).Sub(d.Time()))
		refusing.publish(t, httpapitest.Row("refused", "alert.police", 500))
		other.publish(t, httpapitest.Row("other", "alert.police", 10))
		for _, b := range []*httpapitest.Browser{guest, driver} {
			b.WantIncidents("after "+at.String(), "[other] degraded")
		}
	}
	if n := len(refusing.calls()); n != 1 {
		t.Errorf("%d calls before the pause ended", n)
	}
	if n := len(other.calls()); n < 7 {
		t.Errorf("the other upstream got %d calls", n)
	}
	d.Advance(time.Millisecond)
	driver.Read(httpapitest.NearbyPath)
	if n := len(refusing.calls()); n != 2 {
		t.Errorf("%d calls after five minutes", n)
	}
	driver.WantIncidents("after five minutes", "[other refused] online")
}

// TestIncidentsAreFreshForFiveMinutes checks Limits and D8.6: the last incidents of a failing upstream are shown for five minutes
// after its last good answer, and not a millisecond longer, in a read, by id, and for votes.
func TestIncidentsAreFreshForFiveMinutes(t *testing.T) {
	d, providers := newServiceWithProviders(t, "s")
	upstream := providers[0]
	upstream.publish(t, httpapitest.Row("a", "alert.police", 10))
	guest, driver := d.Browser(), d.SignedInAs("driver@example.org", mapdata.Driver)
	guest.WantIncidents("at first", "[a] online")
	d.Advance(2 * time.Minute)
	upstream.publish(t, httpapitest.Row("a", "alert.police", 10))
	guest.WantIncidents("seen again", "[a] online") // the five minutes begin again
	upstream.accept("s")                            // it has no snapshot: 503
	id := mapdata.EntityID(mapdata.Incidents, "a")
	for _, after := range []time.Duration{time.Minute, 5*time.Minute - time.Millisecond} {
		d.Advance(httpapitest.Start.Add(2*time.Minute + after).Sub(d.Time()))
		guest.WantIncidents(after.String()+" after the last good answer", "[a] offline")
		guest.Send(http.MethodGet, "/v2/entities/"+id, "").Want(t, http.StatusOK)
		driver.Vote(id, "confirm") // does not prolong a live incident (D9.6)
	}
	d.Advance(time.Millisecond)
	guest.WantIncidents("5m after the last good answer", "[] offline")
	guest.Send(http.MethodGet, "/v2/entities/"+id, "").Want(t, http.StatusNotFound)
	driver.Send(http.MethodPost, "/v2/entities/"+id+"/dispute", "").Want(t, http.StatusNotFound)
}

// TestTenantChangesAtMidnight checks D8.2: an upstream sees one tenant for a driver for a day in UTC, another one the next day,
// and never that of another driver or upstream.
func TestTenantChangesAtMidnight(t *testing.T) {
	d, providers := newServiceWithProviders(t, "s", "s")
	for _, p := range providers {
		p.publish(t)
	}
	drivers := []*httpapitest.Browser{d.Browser(), d.SignedInAs("ada@example.org", mapdata.Driver), d.SignedInAs("bob@example.org", mapdata.Driver)}
	midnight := httpapitest.Start.Truncate(24 * time.Hour).Add(24 * time.Hour)
	seen := make(map[string]string) // the driver of each tenant
	read := func(at time.Duration, day string) {
		t.Helper()
		d.Advance(midnight.Add(at).Sub(d.Time()))
		for i, driver := range drivers {
			before := [...]int{len(providers[0].calls()), len(providers[1].calls())}
			driver.Read(httpapitest.NearbyPath)
			for n, p := range providers {
				calls := p.calls()[before[n]:]
				if len(calls) != 1 || len(calls[0]) != 64 || strings.Trim(calls[0], "0123456789abcdef") != "" {
					t.Fatalf("%s from midnight, upstream %d was called with %q for driver %d", at, n, calls, i)
				}
				whose := fmt.Sprintf("driver %d at upstream %d, %s", i, n, day)
				if other, known := seen[calls[0]]; known && other != whose {
					t.Errorf("%s has the tenant of %s", whose, other)
				}
				seen[calls[0]] = whose
			}
		}
	}
	read(-12*time.Hour, "first day")
	read(-time.Millisecond, "first day")
	read(0, "second day") // within four seconds of the last answer: the new day is a new key
	read(24*time.Hour-time.Millisecond, "second day")
	read(24*time.Hour, "third day")
	if want := len(drivers) * len(providers) * 3; len(seen) != want {
		t.Errorf("%d tenants, want %d: one for each driver, upstream and day", len(seen), want)
	}
}

// TestSuppressionEndsByTime checks D9.5: three more disputes than confirms hide a pin for 30 minutes from the last one, and five
// hide a pin of a persistent kind for 7 days. Then it is shown again without a vote or a push.
func TestSuppressionEndsByTime(t *testing.T) {
	for _, tt := range []struct {
		kind     string
		disputes int
		hidden   time.Duration
	}{
		{"alert.construction", 3, 30 * time.Minute},
		{"camera.speed", 5, 7 * 24 * time.Hour},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			d := httpapitest.NewService(t)
			owner, _ := d.Publish("Ring", httpapitest.Row("a", tt.kind, 10))
			guest := d.Browser()
			d.WaitForIndex()
			id := guest.Read(httpapitest.NearbyPath).Entities[0]["id"].(string)
			until := time.Time{}
			for i := range tt.disputes {
				if diff := cmp.Diff([]string{"a"}, d.NearbyIDs(guest)); diff != "" {
					t.Fatalf("after %d disputes: %s", i, diff)
				}
				d.Advance(time.Minute)
				d.SignedInAs(fmt.Sprintf("driver%d@example.org", i), mapdata.Driver).Vote(id, "dispute")
				until = d.Time().Add(tt.hidden)
			}
			shown := func(at time.Time, want ...string) {
				t.Helper()
				d.Advance(at.Sub(d.Time()))
				if got := d.NearbyIDs(guest); !slices.Equal(got, want) {
					t.Errorf("%s after the last dispute a guest sees %v, want %v", at.Sub(until.Add(-tt.hidden)), got, want)
				}
				status := http.StatusOK
				if len(want) == 0 {
					status = http.StatusNotFound
				}
				guest.Send(http.MethodGet, "/v2/entities/"+id, "").Want(t, status)
			}
			shown(d.Time())
			seen := owner.Read(httpapitest.NearbyPath).Entities
			if len(seen) != 1 || seen[0]["properties"].(map[string]any)["disputed_until"] != until.Format("2006-01-02T15:04:05.000Z") {
				t.Errorf("the owner sees %v, want it disputed until %s", seen, until)
			}
			shown(until.Add(-time.Millisecond))
			shown(until, "a")
			if seen = owner.Read(httpapitest.NearbyPath).Entities; len(seen) != 1 || seen[0]["properties"].(map[string]any)["disputed_until"] != nil {
				t.Errorf("after the suppression the owner sees %v", seen)
			}
		})
	}
}
