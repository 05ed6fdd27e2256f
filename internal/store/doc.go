// Package store holds the transaction scripts of the durable store once, for every database: which rows a use case reads,
// what it decides by them and what it writes, in which order and under which locks.
//
// A database's own package (sqlite, postgres) opens connections and transactions (Backend), says in which words its SQL
// differs (Dialect), embeds Scripts and so satisfies the ports of the use cases. By hand it does what moves many rows:
// reading and writing entities in bulk, and reading the log of changes.
//
// A statement is one text wherever both databases take it. Parameters are numbered ($1); times are milliseconds since
// 1970, NULL for never.
package store
