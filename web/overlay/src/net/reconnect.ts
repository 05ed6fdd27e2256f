// When a lost connection is tried again (pure). mono is a monotonic clock (performance.now), in milliseconds.

/** ClockSample is a reading of both of the car's clocks. */
export interface ClockSample {
  mono: number;
  /** Milliseconds since 1970 by the car's clock. */
  wall: number;
}

const sleepThreshold = 10_000;

/**
 * hasSlept reports whether the page was suspended between two samples and has to reconnect. Either clock may stop during sleep, so
 * both are compared. A wall clock that was merely set looks like sleep, which costs one reconnect.
 */
export function hasSlept(before: ClockSample, now: ClockSample): boolean {
  return now.mono - before.mono > sleepThreshold || now.wall - before.wall > sleepThreshold;
}

const minBackoff = 1000;
const maxBackoff = 60_000;

/** backoff returns the milliseconds to wait after so many failures (1 or more); random is within [0, 1). */
export function backoff(failures: number, random: number): number {
  const wait = Math.min(maxBackoff, minBackoff * 2 ** Math.max(0, failures - 1));
  return Math.max(minBackoff, wait * (0.5 + random / 2)); // jitter, so that cars do not reconnect at the same time
}

/** LinkState is the state of a connection. Start with `initialLink`. */
export interface LinkState {
  /** Since when it is connected; null if it is not. */
  connectedSince: number | null;
  /** Since when the service is unreachable; null if it is reachable or never was. */
  lostSince: number | null;
  failures: number;
  /** When to connect again; -Infinity for immediately. */
  retryAt: number;
}

/** initialLink is the state before the first attempt. */
export const initialLink: LinkState = { connectedSince: null, lostSince: null, failures: 0, retryAt: -Infinity };

// A connection that breaks sooner counts as one more failure, so that a service that closes every stream is not called each second.
const stableAfter = 10_000;

/** linkSucceeded returns the state after an answer or the start of a stream. */
export function linkSucceeded(link: LinkState, mono: number): LinkState {
  return { connectedSince: link.connectedSince ?? mono, lostSince: null, failures: link.failures, retryAt: link.retryAt };
}

/** linkFailed returns the state after a failure; retryAfter is the service's Retry-After in seconds, or null. */
export function linkFailed(link: LinkState, mono: number, random: number, retryAfter: number | null): LinkState {
  const wasStable = link.connectedSince !== null && mono - link.connectedSince >= stableAfter;
  const failures = wasStable ? 1 : link.failures + 1;
  const wait = Math.max(backoff(failures, random), (retryAfter ?? 0) * 1000);
  return { connectedSince: null, lostSince: link.lostSince ?? mono, failures, retryAt: mono + wait };
}

/** linkWoken returns the state after sleep or a browser's online event: the backoff is dropped. */
export function linkWoken(link: LinkState): LinkState {
  return { ...link, connectedSince: null, failures: 0, retryAt: -Infinity };
}

/** mayConnect reports whether to connect now. */
export function mayConnect(link: LinkState, mono: number): boolean {
  return link.connectedSince === null && mono >= link.retryAt;
}

/** outageDuration returns for how many milliseconds the service has been unreachable. */
export function outageDuration(link: LinkState, mono: number): number {
  return link.lostSince === null ? 0 : Math.max(0, mono - link.lostSince);
}
