// Package store holds the transaction scripts of the durable store once, for every database: the rows that a use case
// reads, the decisions based on them and the rows that it writes, in which order and under which locks.
//
// A database's own package (sqlite, postgres) opens connections and transactions (Backend), describes the differences
// of its SQL (Dialect), embeds Scripts and so satisfies the ports of the use cases. It has separate code for operations
// on many rows: reading and writing entities in bulk, and reading the log of changes.
//
// A statement is one text wherever both databases accept it. Parameters are numbered ($1); times are milliseconds since
// 1970, NULL for never.
//
// The folder is the district of what lasts: below it are the two databases, their migrations, and replica, which brings changes to
// the projections. It may know only the ground; the suites of its contracts may know what they test.
package store
