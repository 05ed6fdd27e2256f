// Package push takes batches of rows from the holder of a feed's push token (D7). What is checked first costs least: the
// token's own checksum, the token, the rate of requests, and only then the body is read, decoded, counted against the rate
// of rows, and stored by ingest. A request that is refused for its rate stores nothing and takes nothing from the other
// rate. A body that is refused although the token is good counts as a failed attempt in the feed's health (D4.15).
package push
