// The service's time, as its answers tell it (pure).
//
// The car's own clock is not trusted: it may be wrong by days, and be set while driving. mono is a monotonic clock
// (performance.now), in milliseconds; server times are milliseconds since 1970.

/** ServerClock is the offset from mono to the service's time; null: the service has not answered yet. */
export type ServerClock = number | null;

// A cache on the way may hand out an answer that is so old; a clock is not set back for less.
const maxCacheAge = 30_000;

/**
 * heard sets the clock by an answer: what its fetched_at_utc says, and when it was asked for and received. The service wrote
 * its time between the two; as long as that fits what the clock says, nothing moves.
 */
export function adjustClock(clock: ServerClock, fetched: string, asked: number, received: number): ServerClock {
  const writtenAt = Date.parse(fetched);
  if (Number.isNaN(writtenAt)) return clock;
  const earliest = writtenAt - received;
  const latest = writtenAt - asked;
  if (clock === null) return (earliest + latest) / 2;
  return Math.min(Math.max(clock, earliest), latest + maxCacheAge);
}

/** serverTime returns the service's time. Before the service has answered, it is the car's clock, wall. */
export function serverTime(clock: ServerClock, mono: number, wall: number): number {
  return clock === null ? wall : mono + clock;
}
