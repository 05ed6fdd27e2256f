package cli

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
)

// TestVotesSurviveRestarts checks suppression (D9.5), and that an acknowledged vote survives any end of the service.
func TestVotesSurviveRestarts(t *testing.T) {
	t.Parallel()
	one := startProvider(t, "one", incident("a", "alert.police", 0, ""))
	raw := startProvider(t, "raw", incident("b", "alert.accident", 500, ""))
	s := startService(t, manyVotes+one.asUpstream("incidents")+raw.asUpstream("incidents-raw"))
	guest := &client{s: s}
	id := guest.look(2000).pins["a"].ID
	if resp, body := guest.do(http.MethodPost, "/v2/entities/"+id+"/dispute", nil); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a guest's vote: %d %s", resp.StatusCode, body)
	}
	drivers := make([]*client, 4)
	for i := range drivers {
		drivers[i] = s.signIn(fmt.Sprintf("driver%d@example.org", i))
	}
	curator := s.signIn("curator@example.org")
	s.cli("account", "role", "--email", "curator@example.org", "curator")
	shows := func(what string, c *client, want string) {
		t.Helper()
		got := ""
		withinWindows(t, 50*time.Millisecond, what, func() bool {
			p, there := c.look(2000).pins["a"]
			got = "nothing"
			if there {
				got = p.votes()
			}
			if there && p.ID != id {
				t.Errorf("%s: the id is %s now, and was %s", what, p.ID, id)
			}
			return got == want
		})
	}
	for i, want := range []string{"disputed 0 1", "disputed 0 2", "disputed 0 3"} {
		if e := drivers[i].vote(id, "dispute"); e.votes() != want || e.ID != id {
			t.Errorf("dispute %d gives %+v", i, e)
		}
	}
	shows("hidden from guests", guest, "nothing")
	shows("hidden from drivers", drivers[0], "nothing")
	shows("shown to curators", curator, "disputed 0 3")
	if p := curator.look(2000).pins["a"]; p.Properties["disputed_until"] == nil {
		t.Errorf("the curator does not see for how long: %+v", p)
	}
	if err := s.terminate(); err != nil {
		t.Errorf("exit: %v", err)
	}
	s.start(nil)
	shows("hidden from guests after a restart", guest, "nothing")
	shows("shown to curators after a restart", curator, "disputed 0 3")
	if e := drivers[3].vote(id, "confirm"); e.votes() != "disputed 1 3" {
		t.Errorf("the confirm gives %+v", e)
	}
	s.kill()
	s.start(nil)
	shows("back, after a power cut", guest, "disputed 1 3")
	for i, want := range []string{"disputed 2 2", "confirmed 3 1", "confirmed 4 0"} {
		drivers[i].vote(id, "confirm")
		s.kill()
		s.start(nil)
		shows("a changed vote", guest, want)
	}
}

// vote casts a vote that must succeed, and returns the entity in the answer. It reads the nearby entities first, because votes of
// drivers who are far away do not count.
func (c *client) vote(id, what string) *liveEntity {
	c.s.t.Helper()
	c.look(2000)
	resp, body := c.do(http.MethodPost, "/v2/entities/"+id+"/"+what, nil)
	var got struct{ Entity liveEntity }
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK {
		c.s.t.Fatalf("%s: %d %s", what, resp.StatusCode, body)
	}
	return &got.Entity
}

// TestKillUnderVotes kills the service while drivers vote, and checks that every acknowledged vote is there, and that the counts
// equal the votes (D9.1, D12.5).
func TestKillUnderVotes(t *testing.T) {
	t.Parallel()
	const pins = 60
	var rows []string
	for i := range pins {
		rows = append(rows, incident(fmt.Sprint("pin:", i), "alert.police", 130*(i-pins/2), ""))
	}
	one := startProvider(t, "one", rows...)
	s := startService(t, manyVotes+one.asUpstream("incidents"))
	before := (&client{s: s}).look(10_000)
	names := slices.Sorted(maps.Keys(before.pins))
	if len(names) != pins {
		t.Fatalf("%d pins", len(names))
	}
	words := [...]string{"confirm", "confirm", "dispute", "dispute"} // of each driver: nothing is hidden by these
	var (
		drivers  [len(words)]*client
		answered [len(words)]int
		group    sync.WaitGroup
		done     atomic.Int64
		target   = int64(20 + rand.IntN(2*pins))
		enough   = make(chan struct{})
	)
	for i := range drivers {
		drivers[i] = s.signIn(fmt.Sprintf("driver%d@example.org", i))
	}
	for i, word := range words {
		group.Go(func() {
			for _, name := range names {
				resp, _, err := drivers[i].try(http.MethodPost, "/v2/entities/"+before.pins[name].ID+"/"+word, nil)
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
	s.kill()
	group.Wait()
	s.start(nil)
	after := (&client{s: s}).look(10_000)
	for n, name := range names {
		confirms, disputes := 0, 0
		for i, word := range words {
			yours := drivers[i].standing(before.pins[name].ID)
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
		if p := after.pins[name]; p.Confirms != confirms || p.Disputes != disputes {
			t.Errorf("%s has %d and %d votes, and shows %+v", name, confirms, disputes, p)
		}
	}
	t.Logf("killed after %v answers", answered)
}

// standing returns the caller's current vote; empty: none.
func (c *client) standing(id string) string {
	c.s.t.Helper()
	resp, body := c.do(http.MethodGet, "/v2/entities/"+id, nil)
	var got struct {
		Explain struct{ Votes struct{ Yours string } }
	}
	if err := json.Unmarshal(body, &got); err != nil || resp.StatusCode != http.StatusOK {
		c.s.t.Fatalf("entity: %d %s", resp.StatusCode, body)
	}
	return got.Explain.Votes.Yours
}

// TestNewAccountsHideNothing checks that with the default votes.trust_after, the disputes of new accounts count but hide nothing
// (D9.8), also after a restart.
func TestNewAccountsHideNothing(t *testing.T) {
	t.Parallel()
	one := startProvider(t, "one", incident("a", "alert.police", 0, ""))
	s := startService(t, unlimited+one.asUpstream("incidents"))
	guest := &client{s: s}
	id := guest.look(2000).pins["a"].ID
	for i := range 4 {
		s.signIn(fmt.Sprintf("driver%d@example.org", i)).vote(id, "dispute")
	}
	shown := func() bool {
		p, there := guest.look(2000).pins["a"]
		return there && p.votes() == "disputed 0 4"
	}
	withinWindows(t, 50*time.Millisecond, "shown with four disputes", shown)
	s.kill()
	s.start(nil)
	withinWindows(t, 50*time.Millisecond, "shown with four disputes after a restart", shown)
}
