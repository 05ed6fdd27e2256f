// Package postgres is the store for several machines: PostgreSQL 15 or later with PostGIS. It keeps the same promises
// as store/sqlite, which store/storetest verifies, with the same tables.
//
// Writers work concurrently. A transaction takes its locks in one order: first the feed's row, in every transaction
// that alters a feed's entities or its row; then rows of entities, votes and the like; the counter in the table state
// last of all. Statements that need the counter are queued (store.Tx.AtCommit) and sent in one batch with the commit,
// so that no node waits for the counter longer than one commit takes, whatever happens to the node that holds it. The
// counter's lock makes the order of revisions the order of commits, which a sequence would not.
//
// Each such transaction notifies one channel, on which every node listens: see Listen. A notification is only a hint.
package postgres
