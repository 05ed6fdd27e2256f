// Package sqlite is the embedded store: one file, in WAL mode, durable before each write returns (synchronous=FULL).
//
// One connection writes, by transactions that take the write lock when they begin, so that none fails halfway; a few
// others read at the same time. Other processes may read and write at the same time. Every transaction that concerns
// followers raises one counter and adds one row to the log of changes, under the write lock, so that the order of
// revisions is the order of commits. The statements of the use cases are in the scripts of package store.
package sqlite
