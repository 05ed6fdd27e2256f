// Finds where on a route a pin lies (pure): while led, the page chooses alerts along the route rather than by direction.

import type { AlertPin, RoadPlace } from "../alerts/alertrules.ts";
import { angleBetween, bearing, distance, nearestOnSegment, type Place } from "../geo/geo.ts";
import { placeAt, segmentAt, type RouteLine } from "./routeline.ts";

/** Metres from the route up to which a pin is on it: the page knows no other road on which it could be. */
const besideRoute = 30;
/** Metres behind the car that still count as ahead: both places are inexact. */
const behind = 5;
/** Degrees between the traffic that a pin concerns and the route. */
const sameDirection = 60;
/** Metres of the route that are looked at. */
const reach = 3100;
const metresPerDegree = 111_195;

/** Nearest is the point of the route ahead that is nearest to a place. */
interface Nearest {
  metres: number;
  offset: number;
}

/**
 * placeOnRoute returns where a pin lies on the route beyond so many metres of it; null if it does not lie there. Of a zone that is its
 * edge, of a line the first of its places that the route leads over in its direction.
 */
export function placeOnRoute(line: RouteLine, metres: number, pin: AlertPin): RoadPlace | null {
  if (pin.line && pin.line.length > 1) return lineOnRoute(line, metres, pin.line, pin.bearing ?? null);
  const radius = pin.zone / 2;
  const nearest = nearestAhead(line, metres - behind - radius, pin, Math.max(besideRoute, radius), pin.bearing ?? null);
  if (nearest === null) return null;
  if (radius === 0) return { distance: Math.max(0, nearest.metres - metres), reached: false };
  const half = Math.sqrt(Math.max(0, radius * radius - nearest.offset * nearest.offset));
  if (nearest.metres + half < metres) return null;
  return { distance: Math.max(0, nearest.metres - half - metres), reached: false };
}

function lineOnRoute(line: RouteLine, metres: number, places: readonly Place[], only: number | null): RoadPlace | null {
  if (isOnLine(line, metres, places)) return { distance: 0, reached: true };
  let first: number | null = null;
  for (let i = 1; i < places.length; i++) {
    const [from, to] = [places[i - 1], places[i]];
    if (from === undefined || to === undefined) continue;
    const direction = only === null ? null : bearing(from, to);
    for (const place of [from, to]) {
      const at = nearestAhead(line, metres - behind, place, besideRoute, direction);
      if (at !== null && (first === null || at.metres < first)) first = at.metres;
    }
  }
  return first === null ? null : { distance: Math.max(0, first - metres), reached: false };
}

/** isOnLine reports whether the car at so many metres of the route is on a pin's line. */
function isOnLine(line: RouteLine, metres: number, places: readonly Place[]): boolean {
  const car = placeAt(line, metres);
  return places.some((to, i) => {
    const from = places[i - 1];
    return from !== undefined && distance(car, nearestOnSegment(car, from, to)) <= besideRoute;
  });
}

/** nearestAhead returns the nearest place of the route from so many metres on that leads in a direction; null if none is within a distance. */
function nearestAhead(line: RouteLine, from: number, place: Place, within: number, direction: number | null): Nearest | null {
  const north = (within + 1) / metresPerDegree;
  const east = north / Math.max(0.01, Math.cos((place.lat * Math.PI) / 180));
  let best: Nearest | null = null;
  for (let i = segmentAt(line, Math.max(0, from)); i < line.places.length - 1; i++) {
    const start = line.metres[i] ?? 0;
    if (start > from + reach) break;
    const [a, b] = [line.places[i], line.places[i + 1]];
    if (a === undefined || b === undefined) continue;
    // Most segments are far from most pins, which two comparisons tell.
    if (Math.min(a.lat, b.lat) - north > place.lat || Math.max(a.lat, b.lat) + north < place.lat) continue;
    if (Math.min(a.lng, b.lng) - east > place.lng || Math.max(a.lng, b.lng) + east < place.lng) continue;
    const on = nearestOnSegment(place, a, b);
    const [offset, metres, leads] = [distance(place, on), start + distance(a, on), bearing(a, b)];
    if (metres < from || offset > within || (direction !== null && Math.abs(angleBetween(direction, leads)) > sameDirection)) continue;
    if (best === null || offset < best.offset) best = { metres, offset };
  }
  return best;
}
