// Results of a search: their order, and the description of their places (pure).

import { angleBetween, bearing, distance, type Place } from "../geo/geo.ts";
import type { Found } from "./types.ts";

/** Category is a kind of place that drivers look for near them. */
export type Category = "charger" | "fuel" | "parking" | "food";
/** categories lists the categories in their order. */
export const categories: readonly Category[] = ["charger", "fuel", "parking", "food"];

/** Tags of OpenStreetMap that are a category, as the search filters them. */
export const categoryTags: Readonly<Record<Category, readonly string[]>> = {
  charger: ["amenity:charging_station"],
  fuel: ["amenity:fuel"],
  parking: ["amenity:parking"],
  food: ["amenity:restaurant", "amenity:fast_food", "amenity:cafe", "amenity:food_court"],
};

/** Milliseconds between two requests while the driver types. */
export const typingInterval = 250;

/** typingDelay returns how long the next request waits, so that there is at most one each interval. */
export const typingDelay = (sentAt: number, now: number): number => Math.max(0, Math.min(typingInterval, sentAt + typingInterval - now));

/** Metres per second: a faster car's driver does not type (10 km/h). */
const typingSpeed = 10 / 3.6;
const typingAgain = 5 / 3.6;

/** mayType reports whether the driver may type. It changes back only below half of the speed, so that panels do not flicker in a queue. */
export const mayType = (speed: number | null, might: boolean): boolean => (speed ?? 0) <= (might ? typingSpeed : typingAgain);

/** Results of equal words, of which the nearest are meant. */
const perName = 3;

/** arrange orders results: near ones first among those of the same rank. The service ranks by words and nearness; the same place comes once. */
export function arrange(found: readonly Found[]): Found[] {
  const kept: Found[] = [];
  for (const one of [...found].sort(byBand)) {
    if (kept.some((other) => isSameResult(other, one))) continue;
    if (kept.filter(({ name }) => name === one.name).length >= perName) continue;
    kept.push(one);
  }
  return kept;
}

const near = 30_000; // metres: what is farther stands behind what is near
const band = ({ metres }: Found): number => (metres === null || metres <= near ? 0 : 1);
const byBand = (a: Found, b: Found): number => band(a) - band(b);

const isSameResult = (a: Found, b: Found): boolean => a.id === b.id || (a.name === b.name && a.detail === b.detail && distance(a.place, b.place) < 50);

/** Octant is a compass direction: 0 is north, 2 is east. */
export type Octant = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

/** octantOf returns the compass direction that is nearest to a bearing. */
export const octantOf = (degrees: number): Octant => (((Math.round(degrees / 45) % 8) + 8) % 8) as Octant;

/** arrowTo returns the degrees by which an arrow that points up is turned on a screen where up is the heading, or north. */
export const arrowTo = (from: Place, to: Place, up: number): number => Math.round((angleBetween(up, bearing(from, to)) + 360) % 360);
