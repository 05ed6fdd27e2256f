// When a lost connection is tried again (pure). mono is a monotonic clock (performance.now), in milliseconds.

/** ClockSample is a look at both clocks of the car. */
export interface ClockSample {
  mono: number;
  /** Milliseconds since 1970, as the car believes. */
  wall: number;
}

const sleepThreshold = 10_000;

/**
 * hasSlept says whether the page was asleep between two ticks, and so has to reconnect now. Some clocks stop while a car sleeps,
 * so both are looked at; that a clock which was merely set reads as sleep costs one connection.
 */
export function hasSlept(before: ClockSample, now: ClockSample): boolean {
  return now.mono - before.mono > sleepThreshold || now.wall - before.wall > sleepThreshold;
}

const minBackoff = 1000;
const maxBackoff = 60_000;

/** backoff is how many milliseconds to wait before a try, after so many failures (1 or more); random is within [0, 1). */
export function backoff(failures: number, random: number): number {
  const wait = Math.min(maxBackoff, minBackoff * 2 ** Math.max(0, failures - 1));
  return Math.max(minBackoff, wait * (0.5 + random / 2)); // half of it by chance, so that cars do not come back together
}

/** LinkState is how a connection fares. Begin with `unlinked`. */
export interface LinkState {
  /** Since when it holds; null: it does not. */
  connectedSince: number | null;
  /** Since when the service is out of reach; null: it is not, or was never reached. */
  lostSince: number | null;
  failures: number;
  /** When to try again; -Infinity: now. */
  retryAt: number;
}

export const initialLink: LinkState = { connectedSince: null, lostSince: null, failures: 0, retryAt: -Infinity };

// What breaks sooner counts as one more failure: a service that hangs up on everybody must not be called once a second.
const stableAfter = 10_000;

/** linkSucceeded is after an answer, or after a stream has begun. */
export function linkSucceeded(link: LinkState, mono: number): LinkState {
  return { connectedSince: link.connectedSince ?? mono, lostSince: null, failures: link.failures, retryAt: link.retryAt };
}

/** linkFailed is after a failure; retryAfter is what the service asked for in seconds, null: nothing. */
export function linkFailed(link: LinkState, mono: number, random: number, retryAfter: number | null): LinkState {
  const wasStable = link.connectedSince !== null && mono - link.connectedSince >= stableAfter;
  const failures = wasStable ? 1 : link.failures + 1;
  const wait = Math.max(backoff(failures, random), (retryAfter ?? 0) * 1000);
  return { connectedSince: null, lostSince: link.lostSince ?? mono, failures, retryAt: mono + wait };
}

/** linkWoken is after the page was asleep, or the browser says that it is online again: what was waited for does not count. */
export function linkWoken(link: LinkState): LinkState {
  return { ...link, connectedSince: null, failures: 0, retryAt: -Infinity };
}

/** mayConnect says whether to connect. */
export function mayConnect(link: LinkState, mono: number): boolean {
  return link.connectedSince === null && mono >= link.retryAt;
}

/** outageDuration is for how many milliseconds the service has been out of reach. */
export function outageDuration(link: LinkState, mono: number): number {
  return link.lostSince === null ? 0 : Math.max(0, mono - link.lostSince);
}
