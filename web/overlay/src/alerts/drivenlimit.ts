// The speed limit of the last speed camera that the car passed (pure). It is what the driver is told where no map of limits is known,
// so it ends when the car leaves the road or has gone on for long.

import { minSpeed } from "./alertrules.ts";
import { angleBetween, bearing, distance, type Place } from "../geo/geo.ts";
import { placeOf, zoneWidthOf } from "../pins/shapes.ts";
import type { Entity } from "../net/wire.ts";

const passedWithin = 60; // metres: between two fixes a car drives at most so far
const validFor = 2000; // metres
const sameRoad = 60; // degrees between two headings on one road
const [lowest, highest] = [5, 200]; // km/h: other figures are no speed limits

/** PassedLimit is a limit and the place where it was passed. */
export interface PassedLimit {
  kmh: number;
  place: Place;
  /** Heading of the car there. */
  heading: number;
}

interface Car extends Place {
  heading: number | null;
  speed: number | null;
}

/** limitOf returns the limit of a camera in km/h; null if it is unknown. */
export function limitOf({ kind_id, properties }: Pick<Entity, "kind_id" | "properties">): number | null {
  const limit = properties["maxspeed_kmh"];
  if (!kind_id.startsWith("camera.") || typeof limit !== "number" || !(limit >= lowest && limit <= highest)) return null;
  return limit;
}

/** limitAfter returns the limit after a fix; before is the one before. */
export function limitAfter(before: PassedLimit | null, car: Car | null, entities: readonly Entity[]): PassedLimit | null {
  if (car === null) return null;
  const { heading, speed } = car;
  if (heading === null || speed === null || speed < minSpeed) return before;
  let nearest: { metres: number; kmh: number } | null = null;
  for (const entity of entities) {
    const kmh = limitOf(entity);
    if (kmh === null || zoneWidthOf(entity) > 0) continue; // where in a zone the camera is must not be seen
    const place = placeOf(entity);
    const metres = distance(car, place);
    if (metres > passedWithin || metres >= (nearest?.metres ?? Infinity) || Math.abs(angleBetween(heading, bearing(car, place))) < 90) continue;
    if (!faces(entity, heading)) continue;
    nearest = { metres, kmh };
  }
  if (nearest !== null) return before?.kmh === nearest.kmh && distance(before.place, car) <= passedWithin ? before : { kmh: nearest.kmh, place: { lat: car.lat, lng: car.lng }, heading };
  if (before === null || distance(before.place, car) > validFor || Math.abs(angleBetween(before.heading, heading)) > sameRoad) return null;
  return before;
}

/** faces reports whether a camera is for traffic in this direction; without a bearing it is for both. */
function faces({ properties }: Entity, heading: number): boolean {
  const towards = properties["bearing"];
  return typeof towards !== "number" || Math.abs(angleBetween(towards, heading)) <= sameRoad;
}
