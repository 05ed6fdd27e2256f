// Package postgres is the store for several machines: PostgreSQL 15 or later with PostGIS. It keeps the same promises as
// store/sqlite, which are store/storetest's, with the same tables.
//
// Writers work side by side. A transaction takes its locks in one order: the feed's row first, by whatever alters a
// feed's entities or its row; then rows of entities, votes and the like; the counter in the table state last of all.
// What needs the counter is queued (store.Tx.AtCommit) and sent in one batch with the commit, so that no node waits for the
// counter longer than one commit takes, whatever happens to the node that holds it. The counter's lock makes the order
// of revisions the order of commits, which a sequence would not.
//
// Each such transaction notifies one channel, on which every node listens: see Listen. A notification is only a hint.
package postgres
