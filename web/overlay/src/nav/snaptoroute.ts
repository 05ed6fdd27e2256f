// Where a fix is on a route (pure).

import { angleBetween, bearing, distance, nearestOnSegment, type Place } from "../geo/geo.ts";
import type { Departure } from "./offroute.ts";
import { placeAt, segmentAt, type RouteLine } from "./routeline.ts";

/** Snap is a place on a route. */
export interface Snap {
  /** Metres from the start of the route. */
  metres: number;
  place: Place;
  /** Degrees from north, of the route there. */
  bearing: number;
  /** Metres from the fix to the route. */
  offset: number;
  /** Degrees between the heading of the fix and the route, 0 to 180; null if the fix has none. */
  turned: number | null;
}

/** Snapped is a position to be snapped. */
export interface Snapped extends Place {
  heading: number | null;
}

/** Window is the part of the route that is searched, in metres from its start. */
export interface Window {
  from: number;
  to: number;
  /** Where the car is expected; null if nothing is known. */
  expected: number | null;
}

/** Metres that each degree between the headings counts: a parallel road 30 m away in the other direction is none to be on. */
const metresPerDegree = 0.4;
/** Metres of the route between the expected place and another one that count like one metre beside it. */
const expectedFactor = 0.05;
const maxExpectedPenalty = 40;
/** Metres: shorter segments have no direction that could be compared. */
const minSegment = 0.5;

/** snapToRoute finds the place in a window of the route that a fix belongs to, by distance, heading and expectation; null outside of the route. */
export function snapToRoute(line: RouteLine, fix: Snapped, { from, to, expected }: Window): Snap | null {
  let best: { snap: Snap; score: number } | null = null;
  const last = Math.min(segmentAt(line, to), line.places.length - 2);
  for (let i = segmentAt(line, Math.max(0, from)); i <= last; i++) {
    const [a, b] = [line.places[i], line.places[i + 1]];
    if (a === undefined || b === undefined) continue;
    const snap = within(line, snapToSegment(line, i, a, b, fix), fix, from, to);
    const unexpected = expected === null ? 0 : Math.min(maxExpectedPenalty, Math.abs(snap.metres - expected) * expectedFactor);
    const score = snap.offset + (snap.turned ?? 0) * metresPerDegree + unexpected;
    if (best === null || score < best.score) best = { snap, score };
  }
  return best?.snap ?? null;
}

/** Metres around a fix in which departureOf looks at the route. */
export const departureReach = 60;
/** Metres beyond its end from which on a segment has been passed. */
const passedBy = 10;

/**
 * departureOf compares a fix with the segments of a window of the route that are near it and that it has not passed; null without a
 * heading, or without such segments. A car that goes straight on where the route turns heads like the street that it came from, which it
 * has passed.
 */
export function departureOf(line: RouteLine, fix: Snapped, from: number, to: number): Departure | null {
  if (fix.heading === null) return null;
  let found: Departure | null = null;
  const last = Math.min(segmentAt(line, to), line.places.length - 2);
  for (let i = segmentAt(line, Math.max(0, from)); i <= last; i++) {
    const [a, b] = [line.places[i], line.places[i + 1]];
    if (a === undefined || b === undefined || (line.metres[i + 1] ?? 0) - (line.metres[i] ?? 0) < minSegment) continue;
    const offset = distance(fix, nearestOnSegment(fix, a, b));
    if (offset > departureReach) continue;
    const leads = bearing(a, b);
    const beyond = distance(b, fix) * Math.cos((angleBetween(leads, bearing(b, fix)) * Math.PI) / 180);
    if (beyond > passedBy) continue;
    const turned = Math.abs(angleBetween(fix.heading, leads));
    found = found === null ? { offset, turned } : { offset: Math.min(found.offset, offset), turned: Math.min(found.turned, turned) };
  }
  return found;
}

/** within moves a snap into a window that begins or ends in the middle of its segment: one of a motorway has kilometres. */
function within(line: RouteLine, snap: Snap, fix: Place, from: number, to: number): Snap {
  const metres = Math.max(from, Math.min(to, snap.metres));
  if (metres === snap.metres) return snap;
  const place = placeAt(line, metres);
  return { ...snap, metres, place, offset: distance(fix, place) };
}

function snapToSegment(line: RouteLine, segment: number, a: Place, b: Place, fix: Snapped): Snap {
  const place = nearestOnSegment(fix, a, b);
  const [start, end] = [line.metres[segment] ?? 0, line.metres[segment + 1] ?? 0];
  const degrees = end - start < minSegment ? bearingAround(line, segment) : bearing(a, b);
  return {
    metres: Math.min(end, start + distance(a, place)),
    place,
    bearing: degrees,
    offset: distance(fix, place),
    turned: fix.heading === null ? null : Math.abs(angleBetween(fix.heading, degrees)),
  };
}

/** bearingAround returns the bearing of the nearest segment that is long enough to have one. */
export function bearingAround(line: Pick<RouteLine, "places" | "metres">, segment: number): number {
  for (let away = 0; away < line.places.length; away++) {
    for (const i of [segment + away, segment - away]) {
      const [a, b] = [line.places[i], line.places[i + 1]];
      if (a !== undefined && b !== undefined && (line.metres[i + 1] ?? 0) - (line.metres[i] ?? 0) >= minSegment) return bearing(a, b);
    }
  }
  return 0;
}
