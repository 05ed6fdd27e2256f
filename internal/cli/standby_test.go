package cli

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"wayside/internal/throwaway"
)

// TestStandbyIsPromoted stops the database for good under load, and makes its standby the one that is written to: nothing
// that was acknowledged is lost, reads go on, pushes are refused honestly, and within ten seconds all nodes are back by
// themselves, with what is followed and what is polled.
func TestStandbyIsPromoted(t *testing.T) {
	first := startDatabase(t)
	second := first.Standby(t)
	f := startFleet(t, 2, first.URLs(second))
	f.startLoad()
	defer f.load.stop()
	f.goesOn("at first", true, 0, 1)
	f.goesOn("at first", false, 0, 1)
	f.agree("at first")
	f.lease(first)

	t.Log("the database is killed")
	mustBe(t, first.Kill())
	f.goesOn("only a standby is there", false, 0, 1)
	f.refusesWrites("only a standby is there")
	f.goesOn("only a standby is there, still", false, 0, 1)

	t.Log("the standby is promoted")
	mustBe(t, second.Promote())
	promoted := time.Now()
	f.goesOn("the standby was promoted", true, 0, 1)
	t.Logf("both nodes take pushes %v after the promotion", time.Since(promoted).Round(time.Millisecond))
	f.agree("the standby was promoted")
	t.Logf("both nodes show all that was acknowledged %v after the promotion", time.Since(promoted).Round(time.Millisecond))
	if took := time.Since(promoted); took > 10*time.Second {
		t.Errorf("the nodes were back %v after the promotion", took)
	}
	eventually(t, "a feed whose lease was of a node that is gone is polled", func() bool { return f.polls(second, promoted) > 0 })
	f.load.stop()
	f.check("in the end", f.load.pushed, time.Now().Add(10*time.Second))
}

// lease leaves a pull feed that is due in the hands of a node that is gone, for some seconds to come.
func (f *fleet) lease(database *throwaway.PG) {
	f.t.Helper()
	owner := f.nodes[0].signIn("puller@example.org")
	resp, body := owner.do(http.MethodPost, "/v2/feeds", map[string]any{
		"name": "polled", "direction": "pull", "visibility": "public", "pull_url": "https://feed.example.org/rows.json",
	})
	if resp.StatusCode != http.StatusCreated {
		f.t.Fatalf("register: %d %s", resp.StatusCode, body)
	}
	eventually(f.t, "the feed is polled for the first time", func() bool { return f.polls(database, time.Time{}) > 0 })
	conn := f.connect(database)
	defer conn.Close(context.Background())
	tag, err := conn.Exec(f.t.Context(), "UPDATE feeds SET lease_owner = 'gone', lease_until = $1, next_fetch_at = 0 WHERE direction = 'pull'",
		time.Now().Add(leaseOfGone).UnixMilli())
	if err != nil || tag.RowsAffected() != 1 {
		f.t.Fatalf("%v %v", tag, err)
	}
}

// leaseOfGone is longer than it takes until the standby is promoted.
const leaseOfGone = 8 * time.Second

// polls counts the attempts of pull feeds since then.
func (f *fleet) polls(database *throwaway.PG, since time.Time) (n int) {
	f.t.Helper()
	conn := f.connect(database)
	defer conn.Close(context.Background())
	mustBe(f.t, conn.QueryRow(f.t.Context(), `SELECT count(*) FROM attempts JOIN feeds ON feed_id = id WHERE direction = 'pull' AND at > $1`,
		since.UnixMilli()).Scan(&n))
	return n
}

func (f *fleet) connect(database *throwaway.PG) *pgx.Conn {
	f.t.Helper()
	conn, err := pgx.Connect(f.t.Context(), database.URL())
	mustBe(f.t, err)
	return conn
}
