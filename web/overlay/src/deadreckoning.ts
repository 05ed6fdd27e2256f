// Where the car is between two fixes, which way it goes and how fast, also where the browser says nothing of it (pure).
//
// Times are milliseconds of a clock that never jumps (performance.now): the times that come with fixes are the car's.

import { destination, bearing, distance, angleBetween, type Place } from "./geo.ts";

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

/** TrackPoint is a place that the car has been at. */
interface TrackPoint extends Place {
  at: number;
}

/** Motion is what is known of the car's way. Begin with null. */
export interface Motion extends Place {
  at: number;
  accuracy: number | null;
  heading: number | null;
  speed: number | null;
  /** How far what was drawn is from the fix: it goes to nothing within a moment, so that nothing leaps. */
  correction: { degrees: number; metres: number; angleBetween: number };
  /** Places of the last seconds, the oldest first. */
  trail: readonly TrackPoint[];
  /** A fix that was too far off to be believed, and how many have agreed with it. */
  outlier: (TrackPoint & { count: number }) | null;
}

/** Faster than so many metres a second is no car. */
export const maxSpeed = 80;
/** Without a fix for so long the car is in a tunnel. */
export const tunnelAfter = 10_000;

const minHeadingSpeed = 2; // m/s: below it a heading means nothing
const minFixInterval = 200; // ms: two fixes that come together may differ by their errors
const outlierConfirmations = 3; // fixes that agree
const trailDuration = 10_000; // ms
const trailInterval = 500; // ms between two crumbs
const minBaseline = 800; // ms: a speed over less is mostly error
const blendDuration = 700; // ms
const maxBlendDistance = 100; // metres: what is farther off leaps
const constantSpeedFor = 3000; // ms that the car is drawn onwards at its speed; from there it slows down

/** addFix adds a fix. What is no place, or an outlier, changes nothing but the doubt. */
export function addFix(motion: Motion | null, fix: RawFix, now: number): Motion | null {
  if (!(Math.abs(fix.lat) <= 90 && Math.abs(fix.lng) <= 180)) return motion;
  if (motion === null || fix.accuracy === null) return initialMotion(fix, now);
  if (!reachable(motion, fix, now)) return withOutlier(motion, fix, now);
  const kept = motion.trail.filter(({ at }) => now - at <= trailDuration);
  const velocity = velocityFrom(kept, fix, now);
  const speed = validOrNull(fix.speed) ?? velocity.speed;
  const heading = (speed >= minHeadingSpeed ? (validOrNull(fix.heading) ?? velocity.heading) : null) ?? motion.heading;
  return {
    lat: fix.lat,
    lng: fix.lng,
    at: now,
    accuracy: fix.accuracy,
    heading,
    speed,
    correction: correctionFrom(poseAt(motion, now), fix, heading),
    trail: extendTrail(kept, fix, now),
    outlier: null,
  };
}

/** validOrNull is a figure that means something; some browsers say NaN or -1 for what they do not know. */
function validOrNull(figure: number | null): number | null {
  return figure !== null && figure >= 0 && figure < Infinity ? figure : null;
}

function initialMotion(fix: RawFix, now: number): Motion {
  const speed = validOrNull(fix.speed);
  return {
    lat: fix.lat,
    lng: fix.lng,
    at: now,
    accuracy: fix.accuracy,
    heading: (speed ?? 0) >= minHeadingSpeed ? validOrNull(fix.heading) : null,
    speed,
    correction: { degrees: 0, metres: 0, angleBetween: 0 },
    trail: [{ lat: fix.lat, lng: fix.lng, at: now }],
    outlier: null,
  };
}

function reachable(from: TrackPoint, to: Place, now: number): boolean {
  return distance(from, to) <= (maxSpeed * Math.max(now - from.at, minFixInterval)) / 1000;
}

/** withOutlier believes a leap when several fixes in a row agree on it: then it was the place before that was wrong. */
function withOutlier(motion: Motion, fix: RawFix, now: number): Motion {
  const { outlier } = motion;
  const count = outlier !== null && reachable(outlier, fix, now) ? outlier.count + 1 : 1;
  if (count >= outlierConfirmations) return initialMotion(fix, now);
  return { ...motion, outlier: { lat: fix.lat, lng: fix.lng, at: now, count } };
}

/** velocityFrom reckons speed and heading from the latest crumb that is farther away than the fixes are wrong. */
function velocityFrom(trail: readonly TrackPoint[], fix: RawFix, now: number): { speed: number; heading: number | null } {
  for (const point of [...trail].reverse()) {
    const metres = distance(point, fix);
    const seconds = (now - point.at) / 1000;
    if (seconds * 1000 < minBaseline || metres <= (fix.accuracy ?? 0)) continue;
    return { speed: metres / seconds, heading: bearing(point, fix) };
  }
  return { speed: 0, heading: null };
}

function extendTrail(trail: readonly TrackPoint[], { lat, lng }: Place, now: number): readonly TrackPoint[] {
  const last = trail[trail.length - 1];
  return last !== undefined && now - last.at < trailInterval ? trail : [...trail, { lat, lng, at: now }];
}

function correctionFrom(drawn: Pose, fix: Place, heading: number | null): Motion["correction"] {
  const metres = distance(fix, drawn);
  if (metres > maxBlendDistance) return { degrees: 0, metres: 0, angleBetween: 0 };
  const turned = heading === null || drawn.heading === null ? 0 : angleBetween(heading, drawn.heading);
  return { degrees: bearing(fix, drawn), metres, angleBetween: turned };
}

/** poseAt is where the car is drawn at a frame. */
export function poseAt(motion: Motion, now: number): Pose {
  const elapsed = Math.max(0, now - motion.at);
  const { heading, speed, accuracy, correction } = motion;
  const extrapolated = heading !== null && speed !== null && speed >= minHeadingSpeed ? speed * extrapolatedSeconds(elapsed) : 0;
  let place: Place = { lat: motion.lat, lng: motion.lng };
  if (extrapolated > 0 && heading !== null) place = destination(place, heading, extrapolated);
  const remaining = Math.max(0, 1 - elapsed / blendDuration);
  if (correction.metres > 0 && remaining > 0) place = destination(place, correction.degrees, correction.metres * remaining);
  return {
    lat: place.lat,
    lng: place.lng,
    heading: heading === null ? null : (heading + correction.angleBetween * remaining + 360) % 360,
    speed,
    accuracy,
    held: accuracy !== null && elapsed >= tunnelAfter,
  };
}

/** extrapolatedSeconds is for how many seconds' way the car is drawn onwards: all at first, less and less then, none more in a tunnel. */
function extrapolatedSeconds(elapsed: number): number {
  if (elapsed <= constantSpeedFor) return elapsed / 1000;
  const slowing = tunnelAfter - constantSpeedFor;
  const into = Math.min(elapsed - constantSpeedFor, slowing);
  return (constantSpeedFor + into - (into * into) / (2 * slowing)) / 1000;
}
