// Where the car is between two fixes, which way it goes and how fast, also where the browser says nothing of it (pure).
//
// Times are milliseconds of a clock that never jumps (performance.now): the times that come with fixes are the car's.

import { along, bearing, distance, turn, type Place } from "./geo.ts";

/** RawFix is what the browser says. */
export interface RawFix extends Place {
  /** Metres; null: a place that somebody named, and so exact. */
  accuracy: number | null;
  /** Degrees clockwise from north; null: unknown. */
  heading: number | null;
  /** Metres a second; null: unknown. */
  speed: number | null;
}

/** Pose is where and how the car is drawn at one moment. */
export interface Pose extends Place {
  /** Degrees clockwise from north; null: unknown. */
  heading: number | null;
  /** Metres a second; null: unknown. */
  speed: number | null;
  /** Metres; null: exact. */
  accuracy: number | null;
  /** There was no fix for so long that the place is the last one known: a tunnel. */
  held: boolean;
}

/** Crumb is a place that the car has been at. */
interface Crumb extends Place {
  at: number;
}

/** Motion is what is known of the car's way. Begin with null. */
export interface Motion extends Place {
  at: number;
  accuracy: number | null;
  heading: number | null;
  speed: number | null;
  /** How far what was drawn is from the fix: it goes to nothing within a moment, so that nothing leaps. */
  offset: { degrees: number; metres: number; turn: number };
  /** Places of the last seconds, the oldest first. */
  trail: readonly Crumb[];
  /** A fix that was too far off to be believed, and how many have agreed with it. */
  doubt: (Crumb & { count: number }) | null;
}

/** Faster than so many metres a second is no car. */
export const fastest = 80;
/** Without a fix for so long the car is in a tunnel. */
export const tunnelAfter = 10_000;

const slowest = 2; // m/s: below it a heading means nothing
const shortestGap = 200; // ms: two fixes that come together may differ by their errors
const believeAfter = 3; // fixes that agree
const trailLasts = 10_000; // ms
const trailStep = 500; // ms between two crumbs
const baseLasts = 800; // ms: a speed over less is mostly error
const blendLasts = 700; // ms
const blendWithin = 100; // metres: what is farther off leaps
const steadyFor = 3000; // ms that the car is drawn onwards at its speed; from there it slows down

/** take adds a fix. What is no place, or an outlier, changes nothing but the doubt. */
export function take(motion: Motion | null, fix: RawFix, now: number): Motion | null {
  if (!(Math.abs(fix.lat) <= 90 && Math.abs(fix.lng) <= 180)) return motion;
  if (motion === null || fix.accuracy === null) return begin(fix, now);
  if (!reachable(motion, fix, now)) return doubted(motion, fix, now);
  const kept = motion.trail.filter(({ at }) => now - at <= trailLasts);
  const way = wayTo(kept, fix, now);
  const speed = known(fix.speed) ?? way.speed;
  const heading = (speed >= slowest ? (known(fix.heading) ?? way.heading) : null) ?? motion.heading;
  return {
    lat: fix.lat,
    lng: fix.lng,
    at: now,
    accuracy: fix.accuracy,
    heading,
    speed,
    offset: offsetFrom(poseAt(motion, now), fix, heading),
    trail: extended(kept, fix, now),
    doubt: null,
  };
}

/** known is a figure that means something; some browsers say NaN or -1 for what they do not know. */
function known(figure: number | null): number | null {
  return figure !== null && figure >= 0 && figure < Infinity ? figure : null;
}

function begin(fix: RawFix, now: number): Motion {
  const speed = known(fix.speed);
  return {
    lat: fix.lat,
    lng: fix.lng,
    at: now,
    accuracy: fix.accuracy,
    heading: (speed ?? 0) >= slowest ? known(fix.heading) : null,
    speed,
    offset: { degrees: 0, metres: 0, turn: 0 },
    trail: [{ lat: fix.lat, lng: fix.lng, at: now }],
    doubt: null,
  };
}

function reachable(from: Crumb, to: Place, now: number): boolean {
  return distance(from, to) <= (fastest * Math.max(now - from.at, shortestGap)) / 1000;
}

/** doubted believes a leap when several fixes in a row agree on it: then it was the place before that was wrong. */
function doubted(motion: Motion, fix: RawFix, now: number): Motion {
  const { doubt } = motion;
  const count = doubt !== null && reachable(doubt, fix, now) ? doubt.count + 1 : 1;
  if (count >= believeAfter) return begin(fix, now);
  return { ...motion, doubt: { lat: fix.lat, lng: fix.lng, at: now, count } };
}

/** wayTo reckons speed and heading from the latest crumb that is farther away than the fixes are wrong. */
function wayTo(trail: readonly Crumb[], fix: RawFix, now: number): { speed: number; heading: number | null } {
  for (const crumb of [...trail].reverse()) {
    const metres = distance(crumb, fix);
    const seconds = (now - crumb.at) / 1000;
    if (seconds * 1000 < baseLasts || metres <= (fix.accuracy ?? 0)) continue;
    return { speed: metres / seconds, heading: bearing(crumb, fix) };
  }
  return { speed: 0, heading: null };
}

function extended(trail: readonly Crumb[], { lat, lng }: Place, now: number): readonly Crumb[] {
  const last = trail[trail.length - 1];
  return last !== undefined && now - last.at < trailStep ? trail : [...trail, { lat, lng, at: now }];
}

function offsetFrom(drawn: Pose, fix: Place, heading: number | null): Motion["offset"] {
  const metres = distance(fix, drawn);
  if (metres > blendWithin) return { degrees: 0, metres: 0, turn: 0 };
  const turned = heading === null || drawn.heading === null ? 0 : turn(heading, drawn.heading);
  return { degrees: bearing(fix, drawn), metres, turn: turned };
}

/** poseAt is where the car is drawn at a frame. */
export function poseAt(motion: Motion, now: number): Pose {
  const after = Math.max(0, now - motion.at);
  const { heading, speed, accuracy, offset } = motion;
  const onwards = heading !== null && speed !== null && speed >= slowest ? speed * drawnFor(after) : 0;
  let place: Place = { lat: motion.lat, lng: motion.lng };
  if (onwards > 0 && heading !== null) place = along(place, heading, onwards);
  const share = Math.max(0, 1 - after / blendLasts);
  if (offset.metres > 0 && share > 0) place = along(place, offset.degrees, offset.metres * share);
  return {
    lat: place.lat,
    lng: place.lng,
    heading: heading === null ? null : (heading + offset.turn * share + 360) % 360,
    speed,
    accuracy,
    held: accuracy !== null && after >= tunnelAfter,
  };
}

/** drawnFor is for how many seconds' way the car is drawn onwards: all at first, less and less then, none more in a tunnel. */
function drawnFor(after: number): number {
  if (after <= steadyFor) return after / 1000;
  const slowing = tunnelAfter - steadyFor;
  const into = Math.min(after - steadyFor, slowing);
  return (steadyFor + into - (into * into) / (2 * slowing)) / 1000;
}
