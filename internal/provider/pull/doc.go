// Package pull polls the providers that publish their snapshots at a URL (D6).
//
// A Poller looks for due feeds every second, leases them, and gives each a goroutine of its own for the length of one
// poll: it waits for its turn at the host, fetches (safehttp holds every limit), and spools the body, to disk when it is
// more than a few kilobytes. Only a whole body is parsed, few at a time: a provider that trickles costs a connection,
// not memory. What came of it is recorded in one transaction, by ingest when it was good, by the Store when it failed.
//
// When the next poll is due is decided by pure functions: a phase from the hash of the feed's id after success, a backoff
// after failure. A lease that expires during a poll, because many wait for one host, is renewed when this node claims
// the feed again; if another node has claimed it, the poll is cancelled and nothing is recorded.
package pull
