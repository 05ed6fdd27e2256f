// How pins age, what the service's clock says, and when a lost connection is tried again (pure).
//
// mono is a clock that never jumps (performance.now), in milliseconds; server times are milliseconds since 1970. The car's own
// clock is never asked what time it is: it may be wrong by days, and be set while driving.

/** Freshness is how much a pin may be trusted to be still there. */
export type Freshness = "fresh" | "ageing" | "stale" | "gone";

/** Ageing is what the map needs to draw a pin. */
export interface Ageing {
  freshness: Freshness;
  /** 0 to 1. */
  opacity: number;
  /** The connection is lost for so long that the pin is drawn without its colour. */
  grey: boolean;
}

const opacities: Record<Freshness, number> = { fresh: 1, ageing: 0.75, stale: 0.5, gone: 0 };

// Shares of a lifetime that are left.
const ageingBelow = 0.5;
const staleBelow = 0.2;

/** After so many milliseconds without the service, pins are grey; reads come every few seconds. */
export const greyAfter = 30_000;
/** After so many, what decays is stale. */
const staleAfter = 5 * 60_000;

/** Lifetime is what an entity says of itself, in milliseconds since 1970. */
export interface Lifetime {
  lastSeen: number;
  /** null: it persists. */
  expires: number | null;
}

/** lifetimeOf reads the times of an entity. One that cannot be read counts as one that persists: it goes with the next read. */
export function lifetimeOf(entity: { last_seen_at: string; expires_at: string | null }): Lifetime {
  const expires = entity.expires_at === null ? NaN : Date.parse(entity.expires_at);
  return { lastSeen: Date.parse(entity.last_seen_at), expires: Number.isNaN(expires) ? null : expires };
}

/** age tells how to draw a pin at a time of the service's, when the service has been out of reach for lost milliseconds. */
export function age({ lastSeen, expires }: Lifetime, serverNow: number, lost: number): Ageing {
  const grey = lost >= greyAfter;
  if (expires === null) return ageing(grey ? "ageing" : "fresh", grey);
  // A pin is gone at the very instant of its expiry, as on the service.
  if (serverNow >= expires) return ageing("gone", grey);
  const life = expires - lastSeen;
  const left = life > 0 ? (expires - serverNow) / life : 0; // also where last_seen_at cannot be read
  if (left <= staleBelow || lost >= staleAfter) return ageing("stale", grey);
  return ageing(left <= ageingBelow || grey ? "ageing" : "fresh", grey);
}

const ageing = (freshness: Freshness, grey: boolean): Ageing => ({ freshness, opacity: opacities[freshness], grey });

/** ServerClock says what to add to mono for the service's time; null: the service has not answered yet. */
export type ServerClock = number | null;

// A cache on the way may hand out an answer that is so old; a clock is not set back for less.
const cachedFor = 30_000;

/**
 * heard sets the clock by an answer: what its fetched_at_utc says, and when it was asked for and received. The service wrote
 * its time between the two; as long as that fits what the clock says, nothing moves.
 */
export function heard(clock: ServerClock, fetched: string, asked: number, received: number): ServerClock {
  const wrote = Date.parse(fetched);
  if (Number.isNaN(wrote)) return clock;
  const earliest = wrote - received;
  const latest = wrote - asked;
  if (clock === null) return (earliest + latest) / 2;
  return Math.min(Math.max(clock, earliest), latest + cachedFor);
}

/** serverTime is the service's time; wall is the car's clock, for as long as the service has said nothing. */
export function serverTime(clock: ServerClock, mono: number, wall: number): number {
  return clock === null ? wall : mono + clock;
}

/** Tick is a look at both clocks of the car. */
export interface Tick {
  mono: number;
  /** Milliseconds since 1970, as the car believes. */
  wall: number;
}

const sleepLasts = 10_000;

/**
 * hasSlept says whether the page was asleep between two ticks, and so has to reconnect now. Some clocks stop while a car sleeps,
 * so both are looked at; that a clock which was merely set reads as sleep costs one connection.
 */
export function hasSlept(before: Tick, now: Tick): boolean {
  return now.mono - before.mono > sleepLasts || now.wall - before.wall > sleepLasts;
}

const shortestWait = 1000;
const longestWait = 60_000;

/** backoff is how many milliseconds to wait before a try, after so many failures (1 or more); random is within [0, 1). */
export function backoff(failures: number, random: number): number {
  const wait = Math.min(longestWait, shortestWait * 2 ** Math.max(0, failures - 1));
  return Math.max(shortestWait, wait * (0.5 + random / 2)); // half of it by chance, so that cars do not come back together
}

/** Link is how a connection fares. Begin with `unlinked`. */
export interface Link {
  /** Since when it holds; null: it does not. */
  upSince: number | null;
  /** Since when the service is out of reach; null: it is not, or was never reached. */
  lostSince: number | null;
  failures: number;
  /** When to try again; -Infinity: now. */
  tryAt: number;
}

export const unlinked: Link = { upSince: null, lostSince: null, failures: 0, tryAt: -Infinity };

// What breaks sooner counts as one more failure: a service that hangs up on everybody must not be called once a second.
const steadyAfter = 10_000;

/** linked is after an answer, or after a stream has begun. */
export function linked(link: Link, mono: number): Link {
  return { upSince: link.upSince ?? mono, lostSince: null, failures: link.failures, tryAt: link.tryAt };
}

/** broken is after a failure; retryAfter is what the service asked for in seconds, null: nothing. */
export function broken(link: Link, mono: number, random: number, retryAfter: number | null): Link {
  const steady = link.upSince !== null && mono - link.upSince >= steadyAfter;
  const failures = steady ? 1 : link.failures + 1;
  const wait = Math.max(backoff(failures, random), (retryAfter ?? 0) * 1000);
  return { upSince: null, lostSince: link.lostSince ?? mono, failures, tryAt: mono + wait };
}

/** woken is after the page was asleep, or the browser says that it is online again: what was waited for does not count. */
export function woken(link: Link): Link {
  return { ...link, upSince: null, failures: 0, tryAt: -Infinity };
}

/** mayTry says whether to connect. */
export function mayTry(link: Link, mono: number): boolean {
  return link.upSince === null && mono >= link.tryAt;
}

/** lostFor is for how many milliseconds the service has been out of reach. */
export function lostFor(link: Link, mono: number): number {
  return link.lostSince === null ? 0 : Math.max(0, mono - link.lostSince);
}
