// Whether the car has left the route (pure).

/** Off is since when the car seems to be beside the route, and how many fixes said so. */
export interface Off {
  since: number;
  fixes: number;
  /** How many of the last fixes in a row headed away from the route. */
  away: number;
}

/** Seen is a fix as it lies to the route. */
export interface Seen {
  /** Metres to the route. */
  offset: number;
  /** Degrees between its heading and the route; null if unknown. */
  turned: number | null;
  /** The part of the route near the fix that the car has not passed, as departureOf returns it; null if unknown. */
  departure: Departure | null;
  /** Metres. */
  accuracy: number;
  /** Metres per second. */
  speed: number;
}

/** Departure is how a fix lies to the route near it that the car has not passed. */
export interface Departure {
  /** Metres to the nearest of it. */
  offset: number;
  /** Degrees between the heading of the fix and the part whose direction is most alike. */
  turned: number;
}

const minOffset = 50; // metres
const minTurned = 120; // degrees
const minSpeed = 3; // metres per second: the heading of a slower car says little
const minDuration = 3000; // ms
const minFixes = 2; // a single one may be wrong
/** Degrees and metres from which on a car heads away from the route: the driver has taken another street. */
const minAway = 45;
const minAwayOffset = 10; // a car that cuts a corner is nearer
const maxAwayAccuracy = 30; // metres

/** headsAway reports whether one fix drives off the route. */
export function headsAway({ departure, accuracy, speed }: Seen): boolean {
  return departure !== null && departure.turned >= minAway && departure.offset >= minAwayOffset && speed >= minSpeed && accuracy <= maxAwayAccuracy;
}

/** isBeside reports whether one fix is beside the route, or against its direction. */
export function isBeside({ offset, turned, accuracy, speed }: Seen): boolean {
  if (offset > Math.max(minOffset, accuracy)) return true;
  return turned !== null && turned > minTurned && speed >= minSpeed;
}

/** judgeOff takes a fix at a time in milliseconds; null: the car is on the route. */
export function judgeOff(before: Off | null, seen: Seen, now: number): Off | null {
  const away = headsAway(seen);
  if (!away && !isBeside(seen)) return null;
  return { since: before?.since ?? now, fixes: (before?.fixes ?? 0) + 1, away: away ? (before?.away ?? 0) + 1 : 0 };
}

/** placedOff is a place beside the route that the driver set by hand: it needs no second fix. */
export const placedOff = (now: number): Off => ({ since: now - minDuration, fixes: minFixes, away: 0 });

/** hasLeft reports whether the car has left the route for good: two fixes head away from it, or it has been beside it for three seconds. */
export const hasLeft = (off: Off | null, now: number): boolean => off !== null && (off.away >= minFixes || (off.fixes >= minFixes && now - off.since >= minDuration));
