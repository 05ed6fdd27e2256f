// Dead reckoning: position, heading and speed between two fixes, also where the browser reports no heading or speed (pure).
//
// Times are milliseconds of a monotonic clock (performance.now); the timestamps of fixes come from the car's clock and are not used.

import { destination, bearing, distance, angleBetween, type Place } from "../geo/geo.ts";

/** RawFix is a fix as the browser reports it. */
export interface RawFix extends Place {
  /** Metres; null for a place that was set by hand and is exact. */
  accuracy: number | null;
  /** Degrees clockwise from north; null if unknown. */
  heading: number | null;
  /** Metres per second; null if unknown. */
  speed: number | null;
}

/** Pose is the place, heading and speed with which the car is drawn at one moment. */
export interface Pose extends Place {
  /** Degrees clockwise from north; null if unknown. */
  heading: number | null;
  /** Metres per second; null if unknown. */
  speed: number | null;
  /** Metres; null if exact. */
  accuracy: number | null;
  /** No fix came for so long that the car is drawn at its last known place, as in a tunnel. */
  held: boolean;
}

/** TrackPoint is a past position of the car. */
interface TrackPoint extends Place {
  at: number;
}

/** Motion is the state of the filter. Start with null. */
export interface Motion extends Place {
  at: number;
  accuracy: number | null;
  heading: number | null;
  speed: number | null;
  /** Difference between the drawn pose and the fix. It is blended out, so that the car does not jump. */
  correction: { degrees: number; metres: number; angleBetween: number };
  /** Positions of the last seconds, oldest first. */
  trail: readonly TrackPoint[];
  /** A fix that was rejected as an outlier, and how many fixes have agreed with it. */
  outlier: (TrackPoint & { count: number }) | null;
}

/** Metres per second: a fix that needs a higher speed is an outlier. */
export const maxSpeed = 80;
/** Milliseconds without a fix after which the pose is held. */
export const tunnelAfter = 10_000;

const minHeadingSpeed = 2; // m/s: below it a heading is unreliable
const minFixInterval = 200; // ms: the error of two fixes in quick succession looks like speed
const outlierConfirmations = 3; // fixes that agree
const trailDuration = 10_000; // ms
const trailInterval = 500; // ms between two track points
const minBaseline = 800; // ms: over a shorter time the errors of fixes dominate the speed
const blendDuration = 700; // ms
const maxBlendDistance = 100; // metres: larger corrections are not blended
const constantSpeedFor = 3000; // ms that the car is extrapolated at constant speed; after that it decelerates

/** addFix adds a fix. An invalid place changes nothing, and an outlier only the record of outliers. */
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

/** validOrNull returns a usable number or null; some browsers report NaN or -1 for unknown values. */
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

/** withOutlier accepts an outlier after several fixes in a row agree with it: then the earlier position was wrong. */
function withOutlier(motion: Motion, fix: RawFix, now: number): Motion {
  const { outlier } = motion;
  const count = outlier !== null && reachable(outlier, fix, now) ? outlier.count + 1 : 1;
  if (count >= outlierConfirmations) return initialMotion(fix, now);
  return { ...motion, outlier: { lat: fix.lat, lng: fix.lng, at: now, count } };
}

/** velocityFrom computes speed and heading from the latest track point that is farther away than the fix's error. */
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

/** poseAt returns the pose to draw at a time. */
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

/** extrapolatedSeconds returns for how many seconds' distance the car is extrapolated: decelerating to zero when the pose is held. */
function extrapolatedSeconds(elapsed: number): number {
  if (elapsed <= constantSpeedFor) return elapsed / 1000;
  const slowing = tunnelAfter - constantSpeedFor;
  const into = Math.min(elapsed - constantSpeedFor, slowing);
  return (constantSpeedFor + into - (into * into) / (2 * slowing)) / 1000;
}
