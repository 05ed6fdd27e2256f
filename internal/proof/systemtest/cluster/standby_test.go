package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"wayside/internal/proof/systemtest"
	"wayside/internal/proof/testenv"
)

// TestStandbyIsPromoted kills the primary database under load and promotes its standby, and checks that no acknowledged write is
// lost, that reads continue, that pushes are answered with 503, and that within ten seconds all nodes recover, with replication and
// polls.
func TestStandbyIsPromoted(t *testing.T) {
	t.Parallel()
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
	systemtest.Must(t, first.Kill())
	f.goesOn("only a standby is there", false, 0, 1)
	f.refusesWrites("only a standby is there")
	f.goesOn("only a standby is there, still", false, 0, 1)

	if f.orphanedLeases(second) != 1 {
		t.Error("the standby does not have the lease")
	}

	t.Log("the standby is promoted")
	systemtest.Must(t, second.Promote())
	promoted := time.Now()
	f.goesOn("the standby was promoted", true, 0, 1)
	t.Logf("both nodes take pushes %v after the promotion", time.Since(promoted).Round(time.Millisecond))
	f.agree("the standby was promoted")
	t.Logf("both nodes show all that was acknowledged %v after the promotion", time.Since(promoted).Round(time.Millisecond))
	if took := time.Since(promoted); took > 30*time.Second { // a second on a quiet machine
		t.Errorf("the nodes were back %v after the promotion", took)
	}
	systemtest.Eventually(t, "the lease of the missing node expires and another node polls the feed", func() bool { return f.orphanedLeases(second) == 0 })
	f.load.stop()
	f.check("in the end", f.load.pushed, time.Now().Add(10*time.Second))
}

// lease leases a due pull feed to a node that does not exist, for some seconds.
func (f *fleet) lease(database *testenv.PG) {
	f.t.Helper()
	feed := f.nodes[0].SignIn("puller@example.org").Register("polled")
	conn := f.connect(database)
	defer conn.Close(context.Background())
	// The lease is written with SQL, because a registered pull feed is polled immediately.
	tag, err := conn.Exec(f.t.Context(), `UPDATE feeds SET direction = 'pull', pull_url = 'https://feed.example.org/rows.json', push_token_hash = NULL,
		pull_interval_ms = 60000, next_fetch_at = 0, lease_owner = 'gone', lease_until = $2 WHERE id = $1`,
		feed.ID, time.Now().Add(leaseOfGone).UnixMilli())
	if err != nil || tag.RowsAffected() != 1 {
		f.t.Fatalf("%v %v", tag, err)
	}
}

// leaseOfGone is longer than the time of the test before the database is killed.
const leaseOfGone = 5 * time.Second

// orphanedLeases counts the pull feeds that are still leased to a node that does not exist.
func (f *fleet) orphanedLeases(database *testenv.PG) (n int) {
	f.t.Helper()
	conn := f.connect(database)
	defer conn.Close(context.Background())
	systemtest.Must(f.t, conn.QueryRow(f.t.Context(), `SELECT count(*) FROM feeds WHERE lease_owner = 'gone'`).Scan(&n))
	return n
}

func (f *fleet) connect(database *testenv.PG) *pgx.Conn {
	f.t.Helper()
	conn, err := pgx.Connect(f.t.Context(), database.URL())
	systemtest.Must(f.t, err)
	return conn
}
