package feeds_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"wayside/internal/ground/mapdata"
	"wayside/internal/http/httpapi/httpapitest"
)

// snapshotTest pushes snapshots in batches to a feed.
type snapshotTest struct {
	*httpapitest.Service
	owner *httpapitest.Browser
	feed  *httpapitest.Registered
}

func newSnapshotTest(t *testing.T) *snapshotTest {
	d := httpapitest.NewService(t)
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	return &snapshotTest{d, owner, owner.Register(`{"name": "Whole", "direction": "push"}`)}
}

// rows returns a batch. Names that begin with "a" are alerts, which expire; others are cameras.
func (s *snapshotTest) rows(names string) string {
	var all []string
	for _, name := range strings.Fields(names) {
		kind := "camera.speed"
		if name[0] == 'a' {
			kind = "alert.construction"
		}
		all = append(all, fmt.Sprintf(`{"external_id":%q,"kind":%q,"lat":52,"lng":5,"properties":{}}`, name, kind))
	}
	return "[" + strings.Join(all, ",") + "]"
}

// part pushes a batch of a snapshot and returns the answer about the snapshot: rows, missing and retired.
func (s *snapshotTest) part(id, names string, complete bool) [3]int {
	s.T.Helper()
	query := "?mode=snapshot&snapshot_id=" + id
	if complete {
		query += "&complete=true"
	}
	var answer struct {
		Accepted int
		Snapshot struct {
			ID                     string
			Complete               bool
			Rows, Missing, Retired int
		}
	}
	s.Browser().Send(http.MethodPost, "/v2/feeds/"+*s.feed.Token+"/entities"+query, s.rows(names)).Want(s.T, 200).Decode(s.T, &answer)
	if answer.Snapshot.ID != id || answer.Snapshot.Complete != complete || answer.Accepted != len(strings.Fields(names)) {
		s.T.Errorf("answer %+v", answer)
	}
	s.Advance(time.Minute)
	return [3]int{answer.Snapshot.Rows, answer.Snapshot.Missing, answer.Snapshot.Retired}
}

func (s *snapshotTest) holds(want string) {
	s.T.Helper()
	s.WaitForIndex()
	var a httpapitest.Answer
	s.owner.Send(http.MethodGet, "/v2/entities/nearby?lat=52&lng=5&radius=1000&limit=1000", "").Want(s.T, 200).Decode(s.T, &a)
	ids := a.ExternalIDs()
	slices.Sort(ids)
	if diff := cmp.Diff(strings.Fields(want), ids); diff != "" {
		s.T.Errorf("held (-want +got):\n%s", diff)
	}
}

// TestPushedSnapshots checks that the entities that all batches of a snapshot lack are treated by the rules of D6.9.
func TestPushedSnapshots(t *testing.T) {
	s := newSnapshotTest(t)
	same := func(got, want [3]int) {
		t.Helper()
		if got != want {
			t.Errorf("rows, missing, retired: %v, want %v", got, want)
		}
	}
	same(s.part("1", "c1 c2 a1", false), [3]int{3, 0, 0})
	same(s.part("1", "c3 a2", true), [3]int{5, 0, 0})
	same(s.part("2", "c1", false), [3]int{1, 0, 0})
	s.Push(*s.feed.Token, s.rows("c4")).Want(t, 200) // an ordinary push meanwhile: seen, though in no batch
	same(s.part("2", "c3 a2", true), [3]int{3, 2, 0})
	same(s.part("2", "c3 a2", true), [3]int{3, 0, 0}) // a repeated batch is not another snapshot
	s.holds("a1 a2 c1 c2 c3 c4")
	same(s.part("3", "c1 c3 a2", true), [3]int{3, 3, 0})
	same(s.part("4", "c1 c3 c4 a2", true), [3]int{4, 2, 1})
	s.holds("a1 a2 c1 c3 c4")
	// An entity that is seen again counts anew.
	same(s.part("5", "c1 c3 a1 a2", true), [3]int{4, 1, 0})
	same(s.part("6", "c1 c3 c4 a1 a2", true), [3]int{5, 0, 0})
	same(s.part("7", "c1 c3 a1 a2", true), [3]int{4, 1, 0})
	same(s.part("8", "", true), [3]int{0, 5, 0})
	same(s.part("9", "", true), [3]int{0, 5, 1})
	s.holds("a1 a2 c1 c3")
	s.Advance(8 * 24 * time.Hour)
	s.holds("c1 c3")
}

// TestPushedSnapshotsExpire checks that a snapshot that is not completed within a day begins anew, and so does one that is no
// longer among the eight that are remembered.
func TestPushedSnapshotsExpire(t *testing.T) {
	s := newSnapshotTest(t)
	s.part("0", "c1 c2", true)
	s.part("slow", "c1", false)
	s.Advance(24 * time.Hour)
	if got := s.part("slow", "c2", true); got != [3]int{1, 1, 0} {
		t.Errorf("completed after a day: %v", got)
	}
	s.part("old", "c1", false)
	for i := range 8 {
		s.part(fmt.Sprint("new", i), "c1", false)
	}
	if got := s.part("old", "", false); got != [3]int{0, 0, 0} {
		t.Errorf("a forgotten snapshot goes on: %v", got)
	}
}

// TestPushedSnapshotsOfAFullFeed checks that an entity whose new version finds no room stays as it was and is not missing,
// whichever batch contains it.
func TestPushedSnapshotsOfAFullFeed(t *testing.T) {
	d := httpapitest.NewServiceWith(t, httpapitest.Options{Manage: 100, Requests: 60, Entities: 10_000, Storage: mapdata.StorageLimits{
		EntitiesPerFeed: 3, BytesPerFeed: 100, UnreviewedEntitiesPerFeed: 3, UnreviewedBytesPerFeed: 100, BytesPerAccount: 1000,
	}})
	owner := d.SignedInAs("owner@example.com", mapdata.Driver)
	s := &snapshotTest{d, owner, owner.Register(`{"name": "Full", "direction": "push"}`)}
	s.part("1", "c1 c2 c3", true)
	larger := func(name string) string {
		return fmt.Sprintf(`[{"external_id":%q,"kind":"camera.speed","lat":52,"lng":5,"properties":{"x":%q}}]`, name, strings.Repeat("x", 100))
	}
	address := "/v2/feeds/" + *s.feed.Token + "/entities?mode=snapshot&snapshot_id="
	for _, snapshot := range []string{"2", "3", "4"} {
		for i, batch := range []string{larger("c1"), s.rows("c4"), larger("c2")} {
			query := snapshot
			if i == 2 {
				query += "&complete=true"
			}
			answer := s.Browser().Send(http.MethodPost, address+query, batch).Want(t, 200)
			if !strings.Contains(answer.Body, `"accepted":0`) || !strings.Contains(answer.Body, "feed_full") {
				t.Errorf("batch %d of snapshot %s: %s", i, snapshot, answer.Body)
			}
			if i == 2 && !strings.Contains(answer.Body, `"rows":3,"missing":1`) {
				t.Errorf("only c3 is missing in snapshot %s: %s", snapshot, answer.Body)
			}
			s.Advance(time.Minute)
		}
	}
	s.holds("c1 c2")
	s.Push(*s.feed.Token, s.rows("c4")).Want(t, 200)
	s.holds("c1 c2 c4") // c3 made room
}

// TestPushedSnapshotThatShrinks checks that the owner is notified, once.
func TestPushedSnapshotThatShrinks(t *testing.T) {
	s := newSnapshotTest(t)
	s.part("1", "c1 c2 c3", true)
	s.part("2", "c1", true)
	emails := s.TakeEmails()
	if len(emails) != 1 || emails[0].Kind != mapdata.EmailShrank || emails[0].Data["rows"] != "1" || emails[0].Data["rows_before"] != "3" {
		t.Errorf("e-mails %+v", emails)
	}
	s.part("3", "c1 c2 c3", true)
	s.part("4", "c1", true)
	if emails := s.TakeEmails(); emails != nil {
		t.Errorf("when it shrinks again: %+v", emails)
	}
}

func TestWrongSnapshotParameters(t *testing.T) {
	s := newSnapshotTest(t)
	for query, want := range map[string]string{
		"mode=batch":                                           "invalid_mode",
		"mode=snapshot":                                        "missing_snapshot_id",
		"mode=snapshot&snapshot_id=":                           "invalid_snapshot_id",
		"mode=snapshot&snapshot_id=a%20b":                      "invalid_snapshot_id",
		"mode=snapshot&snapshot_id=a&complete=1":               "invalid_complete",
		"snapshot_id=a":                                        "missing_mode",
		"complete=true":                                        "missing_mode",
		"mode=snapshot&snapshot_id=a&snapshot_id=b":            "repeated",
		"mode=snapshot&snapshot_id=" + strings.Repeat("a", 65): "invalid_snapshot_id",
	} {
		answer := s.Browser().Send(http.MethodPost, "/v2/feeds/"+*s.feed.Token+"/entities?"+query, s.rows("c1")).Want(t, 400)
		if !strings.Contains(answer.Body, want) {
			t.Errorf("%s: %s, want %s", query, answer.Body, want)
		}
	}
	s.holds("")
}
