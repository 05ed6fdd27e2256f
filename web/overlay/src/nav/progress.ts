// How far the car is on the route: matched with each fix, and reckoned between fixes and through tunnels (pure).
//
// Times are milliseconds of a monotonic clock.

import type { Place } from "../geo/geo.ts";
import { hasLeft, judgeOff, placedOff, type Off, type Seen } from "./offroute.ts";
import { placeAt, segmentAt, type RouteLine } from "./routeline.ts";
import { bearingAround, departureOf, departureReach, snapToRoute, type Snap } from "./snaptoroute.ts";

/** TrackedFix is a fix of the browser, filtered by the page. */
export interface TrackedFix extends Place {
  at: number;
  heading: number | null;
  speed: number | null;
  accuracy: number | null;
}

/** Track is the state of following a car on a route. */
export interface Track {
  /** Metres of the line at the last fix on the route. */
  metres: number;
  /** Metres per second. */
  speed: number;
  /** Of the last fix on the route. */
  at: number;
  /** The fix that was taken last, on the route or beside it. */
  fix: TrackedFix;
  /** Metres between where the car was drawn and where the fix is, which are blended out. */
  correction: number;
  off: Off | null;
  /** How the last fix lies to the route. */
  snap: Snap;
}

/** Metres behind and ahead of the expected place in which a fix is searched on the route. */
const behind = 60;
const ahead = 400;
const speedReserve = 1.5; // the car may accelerate
const blendDuration = 1000; // ms
const maxBlend = 120; // metres: the car jumps farther
/** Milliseconds for which the car goes on without fixes at the speed of before: a tunnel of four kilometres. */
const maxReckoning = 180_000;
const minSpeed = 1; // metres per second: a slower car stands
/** Milliseconds without a fix after which the page shows that the place is reckoned. */
export const reckonedAfter = 10_000;
/** A heading counts from this speed on. */
const minHeadingSpeed = 2;

/** isFrozen reports whether a receiver repeats an old place although the car drives: such a fix says nothing. */
export const isFrozen = (before: TrackedFix, fix: TrackedFix): boolean => before.lat === fix.lat && before.lng === fix.lng && (fix.speed ?? 0) >= minHeadingSpeed;

/** beginTrack finds the car on a new route; null without a line. */
export function beginTrack(line: RouteLine, fix: TrackedFix): Track | null {
  const snap = snapToRoute(line, steady(fix), { from: 0, to: line.length, expected: 0 });
  if (snap === null) return null;
  const speed = fix.speed ?? 0;
  const off = judgeOff(null, seenOf(line, snap, fix, snap.metres), fix.at);
  return { metres: snap.metres, speed, at: fix.at, fix, correction: 0, off, snap };
}

/** follow takes a fix. Where it is beside the route, the car stays where it was reckoned. */
export function follow(line: RouteLine, track: Track, fix: TrackedFix): Track {
  if (fix.at === track.fix.at || isFrozen(track.fix, fix)) return track;
  if (fix.accuracy === null) return place(line, track, fix);
  const expected = metresAt(line, track, fix.at);
  const reach = Math.max(track.speed, fix.speed ?? 0) * ((fix.at - track.at) / 1000) * speedReserve;
  const found = snapToRoute(line, steady(fix), { from: track.metres - behind, to: track.metres + reach + ahead, expected });
  const near = found === null ? Infinity : found.offset;
  // A car that left the route may return to it much farther ahead.
  const anywhere = track.off !== null && near > behind ? snapToRoute(line, steady(fix), { from: track.metres - behind, to: line.length, expected }) : found;
  const snap = anywhere ?? track.snap;
  const off = judgeOff(track.off, seenOf(line, snap, fix, track.metres), fix.at);
  if (off !== null) return { ...track, fix, off, snap };
  const correction = expected - snap.metres;
  return { metres: snap.metres, speed: fix.speed ?? track.speed, at: fix.at, fix, correction: Math.abs(correction) > maxBlend ? 0 : correction, off: null, snap };
}

/** place takes a place that the driver set by hand, anywhere on the route or beside it. The car stands there. */
function place(line: RouteLine, track: Track, fix: TrackedFix): Track {
  const snap = snapToRoute(line, { ...fix, heading: null }, { from: 0, to: line.length, expected: null });
  if (snap === null) return track;
  const isOn = judgeOff(null, seenOf(line, snap, { ...fix, heading: null }, snap.metres), fix.at) === null;
  return { metres: isOn ? snap.metres : track.metres, speed: 0, at: fix.at, fix, correction: 0, off: isOn ? null : placedOff(fix.at), snap };
}

/** steady drops the heading of a car that hardly moves. */
const steady = (fix: TrackedFix): TrackedFix => ((fix.speed ?? 0) >= minHeadingSpeed ? fix : { ...fix, heading: null });

/** seenOf returns how a fix lies to the route, of a car that was so many metres along it before. */
function seenOf(line: RouteLine, { offset, turned }: Snap, fix: TrackedFix, metres: number): Seen {
  const speed = fix.speed ?? 0;
  const departure = offset > departureReach ? null : departureOf(line, steady(fix), metres - behind, metres + ahead);
  return { offset, turned, departure, accuracy: fix.accuracy ?? 0, speed };
}

/** metresAt returns how far the car is at a time, at the speed of before. */
export function metresAt(line: Pick<RouteLine, "length">, { metres, speed, at, correction }: Track, now: number): number {
  const elapsed = Math.max(0, now - at);
  const driven = speed < minSpeed ? 0 : (speed * Math.min(elapsed, maxReckoning)) / 1000;
  const blended = correction * Math.max(0, 1 - elapsed / blendDuration);
  return Math.max(0, Math.min(line.length, metres + driven + blended));
}

/** Reckoned is the car on the route at one moment. */
export interface Reckoned {
  metres: number;
  place: Place;
  bearing: number;
  isReckoned: boolean;
}

/** reckon returns the car on the route at a time. */
export function reckon(line: RouteLine, track: Track, now: number): Reckoned {
  const metres = metresAt(line, track, now);
  return { metres, place: placeAt(line, metres), bearing: bearingAround(line, segmentAt(line, metres)), isReckoned: now - track.at >= reckonedAfter };
}

/** drivenAt returns the metres of the line that are behind the car. Beside the line it is reckoned along it, but does not drive it. */
export const drivenAt = (line: Pick<RouteLine, "length">, track: Track, now: number): number => (track.off === null ? metresAt(line, track, now) : track.metres);

/** isOff reports whether the car has left the route. */
export const isOff = (track: Track, now: number): boolean => hasLeft(track.off, now);
