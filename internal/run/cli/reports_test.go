package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// saw reports a kind at the place of all tests of reports, and returns the status and the entity's id.
func (c *client) saw(kind string) (status int, id string, retryAfter string) {
	c.s.t.Helper()
	resp, body := c.do(http.MethodPost, "/v2/reports", map[string]any{"kind": kind, "lat": 52.1, "lng": 5.1})
	var got struct {
		Entity struct {
			ID string `json:"id"`
		}
	}
	if err := json.Unmarshal(body, &got); err != nil {
		c.s.t.Fatalf("report: %d %s", resp.StatusCode, body)
	}
	return resp.StatusCode, got.Entity.ID, resp.Header.Get("Retry-After")
}

// report makes a report and checks the status of the answer.
func (c *client) report(t *testing.T, kind string, want int) (id string) {
	t.Helper()
	status, id, _ := c.saw(kind)
	if status != want {
		t.Fatalf("a report of %s: %d, want %d", kind, status, want)
	}
	return id
}

// readsOnly waits until the reader reads exactly these entities, by their ids.
func (c *client) readsOnly(when string, want ...string) {
	c.s.t.Helper()
	slices.Sort(want)
	eventually(c.s.t, fmt.Sprintf("%s: %v", when, want), func() bool {
		resp, body, err := c.try(http.MethodGet, "/v2/entities/nearby?lat=52.1&lng=5.1&radius=500", nil)
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
	config := strings.Replace(unlimited, "[limits]", "[limits]\nreports_per_day = 3", 1) + "\n[drivers]\ntrust_after = \"0s\"\n"
	nodes, _ := startNodes(t, 3, config, servers.Postgres(t).Database(t))
	ann, bob := nodes[0].signIn("ann@example.org"), nodes[1].signIn("bob@example.org")
	at := func(who *client, n int) *client { return who.at(nodes[n]) }
	guests := []*client{{s: nodes[0]}, {s: nodes[1]}, {s: nodes[2]}}
	all := func(when string, ids ...string) {
		t.Helper()
		for _, g := range guests {
			g.readsOnly(when, ids...)
		}
	}

	police := ann.report(t, "alert.police", http.StatusCreated)
	all("reported at the first node", police)
	if confirmed := bob.report(t, "alert.police", http.StatusOK); confirmed != police {
		t.Errorf("the second node makes %s of it", confirmed)
	}
	closed := at(ann, 1).report(t, "alert.road_closed", http.StatusCreated)
	at(ann, 2).readsOnly("its author reads a closure everywhere", police, closed)
	all("nobody else does", police)
	crash := at(ann, 2).report(t, "alert.accident", http.StatusCreated)
	all("reported at the third node", police, crash)
	if status, _, retry := ann.saw("alert.hazard"); status != http.StatusTooManyRequests || retry == "" {
		t.Errorf("the fourth report of a day, at the first node: %d, Retry-After %q", status, retry)
	}
	at(bob, 2).report(t, "alert.road_closed", http.StatusOK)
	all("two stand behind the closure", police, closed, crash)
	if resp, _ := at(bob, 0).do(http.MethodDelete, "/v2/reports/"+crash, nil); resp.StatusCode != http.StatusNotFound {
		t.Errorf("another account takes a report back: %d", resp.StatusCode)
	}
	if resp, _ := at(ann, 1).do(http.MethodDelete, "/v2/reports/"+crash, nil); resp.StatusCode != http.StatusNoContent {
		t.Errorf("taken back at the second node: %d", resp.StatusCode)
	}
	all("taken back", police, closed)

	_, exported := at(ann, 2).do(http.MethodGet, "/v2/account/export", nil)
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
	if _, other := bob.do(http.MethodGet, "/v2/account/export", nil); strings.Contains(string(other), "ann@") || !strings.Contains(string(other), `"reports":[]`) {
		t.Errorf("another account's export: %s", other)
	}
	nodes[2].cli("account", "delete", "--email", "ann@example.org")
	all("their author is gone", police, closed)
}

// TestReportsShownWhenConfirmed checks drivers.show, which applies to reports made after a start, and drivers.enabled.
func TestReportsShownWhenConfirmed(t *testing.T) {
	t.Parallel()
	const drivers = "\n[drivers]\ntrust_after = \"0s\"\n"
	s := startService(t, unlimited+drivers+"show = \"confirmed\"\n")
	ann, bob, guest := s.signIn("ann@example.org"), s.signIn("bob@example.org"), &client{s: s}
	police := ann.report(t, "alert.police", http.StatusCreated)
	ann.readsOnly("the author reads it", police)
	guest.readsOnly("a guest does not")
	bob.report(t, "alert.police", http.StatusOK)
	guest.readsOnly("two reported it", police)
	again := func(config string) {
		t.Helper()
		s.configure(config)
		mustBe(t, s.terminate())
		s.start(nil)
	}
	again(unlimited + drivers)
	crash := ann.report(t, "alert.accident", http.StatusCreated)
	guest.readsOnly("one is enough now", police, crash)
	again(unlimited + "\n[drivers]\nenabled = false\n")
	if status, _, _ := ann.saw("alert.hazard"); status != http.StatusNotFound {
		t.Errorf("reports are off: %d", status)
	}
	guest.readsOnly("no such source")
}
