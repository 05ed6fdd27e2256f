package people

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"wayside/internal/proof/systemtest"
)

// saw reports a kind at the place of all tests of reports, and returns the status and the entity's id.
func saw(c *systemtest.Client, kind string) (status int, id string, retryAfter string) {
	c.Service.T.Helper()
	resp, body := c.Do(http.MethodPost, "/v2/reports", map[string]any{"kind": kind, "lat": 52.1, "lng": 5.1})
	var got struct {
		Entity struct {
			ID string `json:"id"`
		}
	}
	if err := json.Unmarshal(body, &got); err != nil {
		c.Service.T.Fatalf("report: %d %s", resp.StatusCode, body)
	}
	return resp.StatusCode, got.Entity.ID, resp.Header.Get("Retry-After")
}

// report makes a report and checks the status of the answer.
func report(t *testing.T, c *systemtest.Client, kind string, want int) (id string) {
	t.Helper()
	status, id, _ := saw(c, kind)
	if status != want {
		t.Fatalf("a report of %s: %d, want %d", kind, status, want)
	}
	return id
}

// readsOnly waits until the reader reads exactly these entities, by their ids.
func readsOnly(c *systemtest.Client, when string, want ...string) {
	c.Service.T.Helper()
	slices.Sort(want)
	systemtest.Eventually(c.Service.T, fmt.Sprintf("%s: %v", when, want), func() bool {
		resp, body, err := c.Try(http.MethodGet, "/v2/entities/nearby?lat=52.1&lng=5.1&radius=500", nil)
		var got struct {
			Entities []struct {
				ID string `json:"id"`
			}
		}
		if err != nil || resp.StatusCode != http.StatusOK || json.Unmarshal(body, &got) != nil {
			return false
		}
		ids := []string{}
		for _, e := range got.Entities {
			ids = append(ids, e.ID)
		}
		slices.Sort(ids)
		return slices.Equal(ids, want)
	})
}

// TestNodesShareReports checks that a report at one of three nodes is read, confirmed and taken back at the others, that the limits
// of an account apply to all nodes together, and how the export and the deletion of the account treat its reports (D17.35 to
// D17.38).
func TestNodesShareReports(t *testing.T) {
	t.Parallel()
	config := strings.Replace(systemtest.Unlimited, "[limits]", "[limits]\nreports_per_day = 3", 1) + "\n[drivers]\ntrust_after = \"0s\"\n"
	nodes, _ := systemtest.StartNodes(t, 3, config, servers.Postgres(t).Database(t))
	ann, bob := nodes[0].SignIn("ann@example.org"), nodes[1].SignIn("bob@example.org")
	at := func(who *systemtest.Client, n int) *systemtest.Client { return who.At(nodes[n]) }
	guests := []*systemtest.Client{{Service: nodes[0]}, {Service: nodes[1]}, {Service: nodes[2]}}
	all := func(when string, ids ...string) {
		t.Helper()
		for _, g := range guests {
			readsOnly(g, when, ids...)
		}
	}

	police := report(t, ann, "alert.police", http.StatusCreated)
	all("reported at the first node", police)
	if confirmed := report(t, bob, "alert.police", http.StatusOK); confirmed != police {
		t.Errorf("the second node makes %s of it", confirmed)
	}
	closed := report(t, at(ann, 1), "alert.road_closed", http.StatusCreated)
	readsOnly(at(ann, 2), "its author reads a closure everywhere", police, closed)
	all("nobody else does", police)
	crash := report(t, at(ann, 2), "alert.accident", http.StatusCreated)
	all("reported at the third node", police, crash)
	if status, _, retry := saw(ann, "alert.hazard"); status != http.StatusTooManyRequests || retry == "" {
		t.Errorf("the fourth report of a day, at the first node: %d, Retry-After %q", status, retry)
	}
	report(t, at(bob, 2), "alert.road_closed", http.StatusOK)
	all("two stand behind the closure", police, closed, crash)
	if resp, _ := at(bob, 0).Do(http.MethodDelete, "/v2/reports/"+crash, nil); resp.StatusCode != http.StatusNotFound {
		t.Errorf("another account takes a report back: %d", resp.StatusCode)
	}
	if resp, _ := at(ann, 1).Do(http.MethodDelete, "/v2/reports/"+crash, nil); resp.StatusCode != http.StatusNoContent {
		t.Errorf("taken back at the second node: %d", resp.StatusCode)
	}
	all("taken back", police, closed)

	_, exported := at(ann, 2).Do(http.MethodGet, "/v2/account/export", nil)
	var own struct {
		Reports []struct {
			EntityID string  `json:"entity_id"`
			KindID   string  `json:"kind_id"`
			Lat      float64 `json:"lat"`
			At       string  `json:"at"`
		}
	}
	if err := json.Unmarshal(exported, &own); err != nil {
		t.Fatalf("%v: %s", err, exported)
	}
	kinds := []string{}
	for _, r := range own.Reports {
		if kinds = append(kinds, r.KindID); r.EntityID == "" || r.Lat != 52.1 || r.At == "" {
			t.Errorf("the export has %+v", r)
		}
	}
	if slices.Sort(kinds); !slices.Contains(kinds, "alert.police") || !slices.Contains(kinds, "alert.road_closed") {
		t.Errorf("the export has reports of %v", kinds)
	}
	if _, other := bob.Do(http.MethodGet, "/v2/account/export", nil); strings.Contains(string(other), "ann@") || !strings.Contains(string(other), `"reports":[]`) {
		t.Errorf("another account's export: %s", other)
	}
	nodes[2].CLI("account", "delete", "--email", "ann@example.org")
	all("their author is gone", police, closed)
}

// TestReportsShownWhenConfirmed checks drivers.show, which applies to reports made after a start, and drivers.enabled.
func TestReportsShownWhenConfirmed(t *testing.T) {
	t.Parallel()
	const drivers = "\n[drivers]\ntrust_after = \"0s\"\n"
	s := systemtest.StartService(t, systemtest.Unlimited+drivers+"show = \"confirmed\"\n")
	ann, bob, guest := s.SignIn("ann@example.org"), s.SignIn("bob@example.org"), &systemtest.Client{Service: s}
	police := report(t, ann, "alert.police", http.StatusCreated)
	readsOnly(ann, "the author reads it", police)
	readsOnly(guest, "a guest does not")
	report(t, bob, "alert.police", http.StatusOK)
	readsOnly(guest, "two reported it", police)
	again := func(config string) {
		t.Helper()
		s.Configure(config)
		systemtest.Must(t, s.Terminate())
		s.Start(nil)
	}
	again(systemtest.Unlimited + drivers)
	crash := report(t, ann, "alert.accident", http.StatusCreated)
	readsOnly(guest, "one is enough now", police, crash)
	again(systemtest.Unlimited + "\n[drivers]\nenabled = false\n")
	if status, _, _ := saw(ann, "alert.hazard"); status != http.StatusNotFound {
		t.Errorf("reports are off: %d", status)
	}
	readsOnly(guest, "no such source")
}
