package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"wayside/internal/ground/mapdata"
)

// isStandby reports whether a code is that of a server that accepts no writes: a standby, or a former primary. Its
// connections are closed, since new ones may lead to another server.
func isStandby(code string) bool {
	return code == "25006" || code == "55000" // read_only_sql_transaction, "recovery is in progress"
}

// unreplicated is the key of a mark on a connection whose commit ended without its standbys.
const unreplicated = "wayside.unreplicated"

// noteUnreplicated looks for the warning of a commit that did not reach its standbys: when a commit that waits for a
// synchronous standby is cancelled, or exceeds statement_timeout, the server reports success with a warning.
func noteUnreplicated(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.Routine == "SyncRepWaitForLSN" { // the text is in the server's language, and the code is that of any warning
		conn.CustomData()[unreplicated] = true
	}
}

// resetUnreplicated clears the mark of an earlier transaction.
func resetUnreplicated(conn *pgconn.PgConn) { delete(conn.CustomData(), unreplicated) }

// replicated fails if the commit did not wait for its standbys, because it is then on this server alone, and would be
// lost with it.
func replicated(conn *pgconn.PgConn) error {
	if _, is := conn.CustomData()[unreplicated]; !is {
		return nil
	}
	return fmt.Errorf("%w: committed, but perhaps on no standby", mapdata.ErrUnavailable)
}
