package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"wayside/internal/mapdata"
)

// isStandby says whether a code is what a server answers that cannot be written to: a standby, or a former primary. Its
// connections are given up, since others may lead elsewhere by now.
func isStandby(code string) bool {
	return code == "25006" || code == "55000" // read_only_sql_transaction, "recovery is in progress"
}

// unreplicated is the key under which a connection keeps that a commit was told to wait no longer for its standbys.
const unreplicated = "wayside.unreplicated"

// noteUnreplicated looks for the warning of a commit that did not reach its standbys: where it is cancelled, or exceeds
// statement_timeout, while it waits for a synchronous standby, the server reports success with a warning.
func noteUnreplicated(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.Routine == "SyncRepWaitForLSN" { // the text is in the server's language, and the code is any warning's
		conn.CustomData()[unreplicated] = true
	}
}

// resetUnreplicated forgets what was noted of an earlier transaction.
func resetUnreplicated(conn *pgconn.PgConn) { delete(conn.CustomData(), unreplicated) }

// replicated fails where the commit was cut short: it is on this server alone, and would go with it.
func replicated(conn *pgconn.PgConn) error {
	if _, is := conn.CustomData()[unreplicated]; !is {
		return nil
	}
	return fmt.Errorf("%w: committed, but perhaps on no standby", mapdata.ErrUnavailable)
}
