// Package push takes batches of rows from the holder of a feed's push token (D7). The cheapest checks come first: the
// token's own checksum, the token, the room for bodies and the rate of requests; the request counts from then on,
// unless the service fails. Only then the body is read, row by row from its stream, counted against the rate of rows,
// and stored by ingest. Rows are held in room that all bodies of a node share, with a part for each account. A request
// that is refused for its rows stores nothing and gets its request back. A body that is refused although the token is
// good counts as a failed attempt in the feed's health (D4.15).
package push
