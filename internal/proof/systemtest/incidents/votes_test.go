package incidents

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wayside/internal/proof/systemtest"
)

// TestVotesSurviveRestarts checks suppression (D9.5), and that an acknowledged vote survives any end of the service.
func TestVotesSurviveRestarts(t *testing.T) {
	t.Parallel()
	one := systemtest.StartProvider(t, "one", systemtest.Incident("a", "alert.police", 0, ""))
	raw := systemtest.StartProvider(t, "raw", systemtest.Incident("b", "alert.accident", 500, ""))
	s := systemtest.StartService(t, systemtest.ManyVotes+one.AsUpstream("incidents")+raw.AsUpstream("incidents-raw"))
	guest := &systemtest.Client{Service: s}
	id := guest.Look(2000).Pins["a"].ID
	if resp, body := guest.Do(http.MethodPost, "/v2/entities/"+id+"/dispute", nil); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a guest's vote: %d %s", resp.StatusCode, body)
	}
	drivers := make([]*systemtest.Client, 4)
	for i := range drivers {
		drivers[i] = s.SignIn(fmt.Sprintf("driver%d@example.org", i))
	}
	curator := s.SignIn("curator@example.org")
	s.CLI("account", "role", "--email", "curator@example.org", "curator")
	shows := func(what string, c *systemtest.Client, want string) {
		t.Helper()
		got := ""
		systemtest.WithinWindows(t, 50*time.Millisecond, what, func() bool {
			p, there := c.Look(2000).Pins["a"]
			got = "nothing"
			if there {
				got = p.Votes()
			}
			if there && p.ID != id {
				t.Errorf("%s: the id is %s now, and was %s", what, p.ID, id)
			}
			return got == want
		})
	}
	for i, want := range []string{"disputed 0 1", "disputed 0 2", "disputed 0 3"} {
		if e := drivers[i].Vote(id, "dispute"); e.Votes() != want || e.ID != id {
			t.Errorf("dispute %d gives %+v", i, e)
		}
	}
	shows("hidden from guests", guest, "nothing")
	shows("hidden from drivers", drivers[0], "nothing")
	shows("shown to curators", curator, "disputed 0 3")
	if p := curator.Look(2000).Pins["a"]; p.Properties["disputed_until"] == nil {
		t.Errorf("the curator does not see for how long: %+v", p)
	}
	if err := s.Terminate(); err != nil {
		t.Errorf("exit: %v", err)
	}
	s.Start(nil)
	shows("hidden from guests after a restart", guest, "nothing")
	shows("shown to curators after a restart", curator, "disputed 0 3")
	if e := drivers[3].Vote(id, "confirm"); e.Votes() != "disputed 1 3" {
		t.Errorf("the confirm gives %+v", e)
	}
	s.Kill()
	s.Start(nil)
	shows("back, after a power cut", guest, "disputed 1 3")
	for i, want := range []string{"disputed 2 2", "confirmed 3 1", "confirmed 4 0"} {
		drivers[i].Vote(id, "confirm")
		s.Kill()
		s.Start(nil)
		shows("a changed vote", guest, want)
	}
}

// TestKillUnderVotes kills the service while drivers vote, and checks that every acknowledged vote is there, and that the counts
// equal the votes (D9.1, D12.5).
func TestKillUnderVotes(t *testing.T) {
	t.Parallel()
	const pins = 60
	var rows []string
	for i := range pins {
		rows = append(rows, systemtest.Incident(fmt.Sprint("pin:", i), "alert.police", 130*(i-pins/2), ""))
	}
	one := systemtest.StartProvider(t, "one", rows...)
	s := systemtest.StartService(t, systemtest.ManyVotes+one.AsUpstream("incidents"))
	before := (&systemtest.Client{Service: s}).Look(10_000)
	names := slices.Sorted(maps.Keys(before.Pins))
	if len(names) != pins {
		t.Fatalf("%d pins", len(names))
	}
	words := [...]string{"confirm", "confirm", "dispute", "dispute"} // of each driver: nothing is hidden by these
	var (
		drivers  [len(words)]*systemtest.Client
		answered [len(words)]int
		group    sync.WaitGroup
		done     atomic.Int64
		target   = int64(20 + rand.IntN(2*pins))
		enough   = make(chan struct{})
	)
	for i := range drivers {
		drivers[i] = s.SignIn(fmt.Sprintf("driver%d@example.org", i))
	}
	for i, word := range words {
		group.Go(func() {
			for _, name := range names {
				resp, _, err := drivers[i].Try(http.MethodPost, "/v2/entities/"+before.Pins[name].ID+"/"+word, nil)
				if err != nil || resp.StatusCode != http.StatusOK {
					return
				}
				answered[i]++
				if done.Add(1) == target {
					close(enough)
				}
			}
		})
	}
	<-enough
	s.Kill()
	group.Wait()
	s.Start(nil)
	after := (&systemtest.Client{Service: s}).Look(10_000)
	for n, name := range names {
		confirms, disputes := 0, 0
		for i, word := range words {
			yours := standing(drivers[i], before.Pins[name].ID)
			if n < answered[i] && yours != word {
				t.Errorf("driver %d's answered %s on %s became %q", i, word, name, yours)
			}
			switch yours {
			case "confirm":
				confirms++
			case "dispute":
				disputes++
			}
		}
		if p := after.Pins[name]; p.Confirms != confirms || p.Disputes != disputes {
			t.Errorf("%s has %d and %d votes, and shows %+v", name, confirms, disputes, p)
		}
	}
	t.Logf("killed after %v answers", answered)
}

// standing returns the caller's current vote; empty: none.
func standing(c *systemtest.Client, id string) string {
	c.Service.T.Helper()
	resp, body := c.Do(http.MethodGet, "/v2/entities/"+id, nil)
	var got struct {
		Explain struct{ Votes struct{ Yours string } }
	}
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK {
		c.Service.T.Fatalf("entity: %d %s", resp.StatusCode, body)
	}
	return got.Explain.Votes.Yours
}

// TestNewAccountsHideNothing checks that with the default votes.trust_after, the disputes of new accounts count but hide nothing
// (D9.8), also after a restart.
func TestNewAccountsHideNothing(t *testing.T) {
	t.Parallel()
	one := systemtest.StartProvider(t, "one", systemtest.Incident("a", "alert.police", 0, ""))
	s := systemtest.StartService(t, systemtest.Unlimited+one.AsUpstream("incidents"))
	guest := &systemtest.Client{Service: s}
	id := guest.Look(2000).Pins["a"].ID
	for i := range 4 {
		s.SignIn(fmt.Sprintf("driver%d@example.org", i)).Vote(id, "dispute")
	}
	shown := func() bool {
		p, there := guest.Look(2000).Pins["a"]
		return there && p.Votes() == "disputed 0 4"
	}
	systemtest.WithinWindows(t, 50*time.Millisecond, "shown with four disputes", shown)
	s.Kill()
	s.Start(nil)
	systemtest.WithinWindows(t, 50*time.Millisecond, "shown with four disputes after a restart", shown)
}
