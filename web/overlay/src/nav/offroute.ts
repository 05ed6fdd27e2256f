// Whether the car has left the route (pure).

/** Off holds since when the car seems to be beside the route, and the number of such fixes. */
export interface Off {
  since: number;
  fixes: number;
}

/** Seen is a fix relative to the route. */
export interface Seen {
  /** Metres to the route. */
  offset: number;
  /** Degrees between its heading and the route; null if unknown. */
  turned: number | null;
  /** Metres. */
  accuracy: number;
  /** Metres per second. */
  speed: number;
}

const minOffset = 50; // metres
const minTurned = 120; // degrees
const minSpeed = 3; // metres per second: the heading of a slower car says little
const minDuration = 3000; // ms
const minFixes = 2; // a single one may be wrong

/** isBeside reports whether one fix is beside the route, or against its direction. */
export function isBeside({ offset, turned, accuracy, speed }: Seen): boolean {
  if (offset > Math.max(minOffset, accuracy)) return true;
  return turned !== null && turned > minTurned && speed >= minSpeed;
}

/** judgeOff takes a fix at a time in milliseconds; null: the car is on the route. */
export function judgeOff(before: Off | null, seen: Seen, now: number): Off | null {
  if (!isBeside(seen)) return null;
  return before === null ? { since: now, fixes: 1 } : { since: before.since, fixes: before.fixes + 1 };
}

/** placedOff returns the state of a place beside the route that was set by hand: it needs no second fix. */
export const placedOff = (now: number): Off => ({ since: now - minDuration, fixes: minFixes });

/** hasLeft reports whether the car has left the route for good. */
export const hasLeft = (off: Off | null, now: number): boolean => off !== null && off.fixes >= minFixes && now - off.since >= minDuration;
