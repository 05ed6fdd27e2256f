package postgres

import (
	"testing"
)

// TestSettings checks that under any defaults of the server, acknowledged writes are durable and an idle transaction
// ends, and that stricter settings of the operator stay.
func TestSettings(t *testing.T) {
	for _, c := range []struct{ commit, idle, wantCommit, wantIdle string }{
		{"off", "0", "on", idleInTransaction}, {"on", "0", "on", idleInTransaction}, {"remote_apply", "90s", "remote_apply", "90s"},
	} {
		url := Servers.Migrated(t)
		db, err := Open(t.Context(), Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{
			"SET synchronous_commit = " + c.commit, "SET idle_in_transaction_session_timeout = '" + c.idle + "'",
		} {
			if _, err := db.pool.Exec(t.Context(), `ALTER DATABASE `+db.pool.Config().ConnConfig.Database+" "+statement); err != nil {
				t.Fatal(err)
			}
		}
		db.pool.Reset() // for connections with the new defaults
		var commit, idle string
		err = db.pool.QueryRow(t.Context(), `SELECT current_setting('synchronous_commit'), current_setting('idle_in_transaction_session_timeout')`).
			Scan(&commit, &idle)
		if err != nil || commit != c.wantCommit || idle != c.wantIdle {
			t.Errorf("defaults %s and %s: synchronous_commit is %s, the timeout %s, %v; want %s and %s", c.commit, c.idle, commit, idle, err, c.wantCommit, c.wantIdle)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
