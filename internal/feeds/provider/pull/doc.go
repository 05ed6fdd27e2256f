// Package pull polls the providers that publish their snapshots at a URL (D6).
//
// A Poller looks for due feeds every second, leases them, and starts a goroutine for each poll: it waits for its turn
// at the host, fetches (safehttp enforces every limit), and spools the body, to disk when it is more than a few
// kilobytes. Only a complete body is parsed, few at a time: a provider that trickles costs a connection, not memory.
// The result is recorded in one transaction, by ingest when it was good, by the Store when it failed.
//
// Pure functions determine when the next poll is due: a phase from the hash of the feed's id after success, a backoff
// after failure. A lease that expires during a poll, because many wait for one host, is renewed when this node claims
// the feed again; if another node has claimed it, the poll is cancelled and nothing is recorded.
package pull
