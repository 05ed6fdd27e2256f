package drives

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"wayside/internal/ground/geo"
	"wayside/internal/ground/mapdata"
	"wayside/internal/proof/systemtest"
	"wayside/internal/run/datadir"
	"wayside/internal/store/sqlite"
)

// knownAccounts makes a millisecond the age from which accounts' reports and votes count, instead of a day, because the test makes
// its accounts a moment before.
const knownAccounts = "votes_per_minute = 1000000\nreports_per_minute = 1000000\nreports_per_day = 1000000\n" +
	"[votes]\ntrust_after = \"1ms\"\n[drivers]\ntrust_after = \"1ms\"\n"

// TestOnePersonWithThreeMailboxes checks that three accounts of one person cannot close or open a road on a route: not from far
// away, not with invented positions, not one after the other, and not after votes elsewhere on the same day. Two people who have
// driven before close and open the road, whatever the three accounts do.
func TestOnePersonWithThreeMailboxes(t *testing.T) {
	t.Parallel()
	s := systemtest.NewService(t, systemtest.Unlimited+knownAccounts)
	town := twoBridges(t)
	s.ImportDrawing(town)
	s.Start(nil)
	guest, owner := &systemtest.Client{Service: s}, s.SignIn("owner@example.org")
	feed := owner.Register("closures")
	bridge := town.Place(t, "b")
	bridge.Lng = (bridge.Lng + town.Place(t, "c").Lng) / 2
	push := func(pins ...map[string]any) {
		t.Helper()
		if resp, answer := owner.Do(http.MethodPost, "/v2/feeds/"+feed.Token+"/entities", pins); resp.StatusCode != http.StatusOK {
			t.Fatalf("push: %d %s", resp.StatusCode, answer)
		}
	}
	closed := func(what string, want bool) {
		t.Helper()
		systemtest.Eventually(t, what, func() bool {
			got := routeOf(guest, town, "a", "d")
			return got.detours() == want
		})
	}
	// stays checks the road once the conditions have followed all earlier reports and votes, which it knows from a marker that it
	// pushes after them.
	markers := 0
	stays := func(what string, want bool) {
		t.Helper()
		markers++
		marker, place := fmt.Sprint("marker", markers), town.Place(t, "a")
		push(map[string]any{"external_id": marker, "kind": "alert.accident", "lat": place.Lat, "lng": place.Lng, "properties": map[string]any{}})
		systemtest.Eventually(t, what+": conditions follow", func() bool {
			return slices.ContainsFunc(conditionsAt(s, guest, place), func(c condition) bool {
				return c.EntityID == mapdata.EntityID(mapdata.SourceID("feed:"+feed.ID), marker)
			})
		})
		if got := routeOf(guest, town, "a", "d"); got.detours() != want {
			t.Fatalf("%s: the route detours is %v", what, got.detours())
		}
	}
	var mailboxes [3]*systemtest.Client
	for i := range mailboxes {
		mailboxes[i] = s.SignIn(fmt.Sprintf("mailbox%d@example.org", i))
	}
	people := [2]*systemtest.Client{s.SignIn("ann@example.org"), s.SignIn("bob@example.org")}

	official := map[string]any{"external_id": "official", "kind": "alert.road_closed", "lat": bridge.Lat, "lng": bridge.Lng, "properties": map[string]any{}}
	push(official)
	closed("closed officially", true)
	id := mapdata.EntityID(mapdata.SourceID("feed:"+feed.ID), "official")
	for _, m := range mailboxes {
		if resp, body := m.Do(http.MethodPost, "/v2/entities/"+id+"/dispute", nil); resp.StatusCode != http.StatusOK {
			t.Fatalf("a vote from nowhere: %d %s", resp.StatusCode, body)
		}
	}
	stays("disputed from nowhere", true)
	for _, m := range mailboxes {
		votesAt(m, bridge, id, "dispute")
	}
	stays("disputed with positions that are made up", true)

	// An afternoon of votes elsewhere, so that the accounts do not always act together.
	var decoys []map[string]any
	for i := range 12 {
		decoys = append(decoys, map[string]any{
			"external_id": fmt.Sprint("decoy", i), "kind": "camera.speed", "lat": bridge.Lat + float64(i+1)*1e-3, "lng": bridge.Lng, "properties": map[string]any{},
		})
	}
	push(decoys...)
	for i := range decoys {
		votesAt(mailboxes[i%3], bridge, mapdata.EntityID(mapdata.SourceID("feed:"+feed.ID), fmt.Sprint("decoy", i)), "confirm")
	}
	for _, m := range mailboxes {
		votesAt(m, bridge, id, "dispute")
	}
	stays("disputed after an afternoon of votes elsewhere", true)

	official["ttl_seconds"] = 1
	push(official)
	closed("open again", false)
	if got := reportClosure(s, mailboxes[0], bridge); got != http.StatusCreated {
		t.Fatalf("a report: %d", got)
	}
	for _, m := range mailboxes[1:] {
		if got := reportClosure(s, m, bridge); got != http.StatusOK {
			t.Fatalf("a report of the same: %d", got)
		}
	}
	report := conditionsAt(s, mailboxes[0], bridge)
	if len(report) != 1 || len(conditionsAt(s, guest, bridge)) != 0 {
		t.Fatalf("the author reads %v, a guest %v", report, conditionsAt(s, guest, bridge))
	}
	stays("reported by three mailboxes", false)

	// People with a history: accounts that voted on three earlier days. The service is stopped while their history is written.
	systemtest.Must(t, s.Terminate())
	remember(s, bridge, "ann@example.org", "bob@example.org")
	s.Start(nil)
	for i, p := range people {
		if got := reportClosure(s, p, bridge); got != http.StatusOK {
			t.Fatalf("the report of person %d: %d", i, got)
		}
		closed(fmt.Sprintf("reported by %d people beside three mailboxes", i+1), i == 1)
	}
	for _, m := range mailboxes[1:] { // the first one is the author
		votesAt(m, bridge, report[0].EntityID, "dispute")
	}
	stays("what two people closed, disputed by mailboxes", true)
}

// votesAt votes from a position.
func votesAt(c *systemtest.Client, at geo.Point, id, what string) {
	c.Service.T.Helper()
	if resp, body := c.Do(http.MethodPost, "/v2/entities/"+id+"/"+what, map[string]any{"lat": at.Lat, "lng": at.Lng}); resp.StatusCode != http.StatusOK {
		c.Service.T.Fatalf("%s: %d %s", what, resp.StatusCode, body)
	}
}

// remember stores a vote of each account on each of the last three days, in the database of a stopped service.
func remember(s *systemtest.Service, at geo.Point, emails ...string) {
	s.T.Helper()
	db, err := sqlite.Open(s.T.Context(), filepath.Join(s.Dir, datadir.DatabaseFile), sqlite.Options{})
	systemtest.Must(s.T, err)
	defer func() { systemtest.Must(s.T, db.Close()) }()
	kind, _ := mapdata.ParseKind("alert.police")
	for _, email := range emails {
		a, err := db.AccountByEmail(s.T.Context(), email)
		systemtest.Must(s.T, err)
		for i := range 3 {
			when := time.Now().Add(-time.Duration(i+1) * 24 * time.Hour)
			id := fmt.Sprintf("day %d of %s", i, email)
			_, err := db.CastVote(s.T.Context(), &mapdata.Ballot{
				Source: mapdata.Incidents, ExternalID: id, Account: a.ID, Vote: mapdata.Confirm, At: when,
				Live: &mapdata.Entity{ExternalID: id, Kind: kind, Point: at, Properties: []byte(`{}`), FirstSeenAt: when, SeenAt: when, ChangedAt: when, Lifetime: time.Hour},
			})
			systemtest.Must(s.T, err)
		}
	}
}
