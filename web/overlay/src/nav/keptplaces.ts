// The places that the driver keeps: home, work and the last ten destinations (pure).

import { distance } from "../geo/geo.ts";
import { cleanName } from "./geouri.ts";
import type { Destination } from "../state/state.ts";

/** Slot names a place with a meaning of its own. */
export type Slot = "home" | "work";

/** KeptPlaces are the places that the driver keeps. */
export interface KeptPlaces {
  home: Destination | null;
  work: Destination | null;
  /** The latest first. */
  recent: readonly Destination[];
}

/** noPlaces is the state of a driver who keeps none. */
export const noPlaces: KeptPlaces = { home: null, work: null, recent: [] };

/** maxRecent limits the recent destinations. */
export const maxRecent = 10;
const sameWithin = 30; // metres

/** parsePlaces parses places of the browser's storage. Damaged ones are left out; it never throws. */
export function parsePlaces(value: unknown): KeptPlaces {
  if (typeof value !== "object" || value === null) return noPlaces;
  const { home, work, recent } = value as Record<string, unknown>;
  const list = Array.isArray(recent) ? recent : [];
  return {
    home: parseDestination(home),
    work: parseDestination(work),
    recent: list.slice(0, maxRecent).map(parseDestination).filter((one): one is Destination => one !== null),
  };
}

/** parseStoredPlaces parses the browser's stored text. */
export function parseStoredPlaces(text: string | null): KeptPlaces {
  try {
    return parsePlaces(JSON.parse(text ?? "null"));
  } catch {
    return noPlaces; // written by another script, or truncated
  }
}

function parseDestination(value: unknown): Destination | null {
  if (typeof value !== "object" || value === null) return null;
  const { place, name, detail } = value as Record<string, unknown>;
  const { lat, lng } = (typeof place === "object" && place !== null ? place : {}) as Record<string, unknown>;
  if (typeof lat !== "number" || typeof lng !== "number" || !(Math.abs(lat) <= 90 && Math.abs(lng) <= 180)) return null;
  return { place: { lat, lng }, name: text(name), detail: text(detail) };
}

const text = (value: unknown): string => (typeof value === "string" ? cleanName(value) : "");

/** isSame reports whether two destinations are one for the driver. */
export const isSame = (a: Destination, b: Destination): boolean => a.name === b.name && distance(a.place, b.place) <= sameWithin;

/** withRecent adds the latest destination, unless it is home or work. */
export function withRecent(places: KeptPlaces, latest: Destination): KeptPlaces {
  if ([places.home, places.work].some((one) => one !== null && distance(one.place, latest.place) <= sameWithin)) return places;
  const { place, name, detail } = latest;
  return { ...places, recent: [{ place, name: cleanName(name), detail: cleanName(detail) }, ...places.recent.filter((one) => !isSame(one, latest))].slice(0, maxRecent) };
}

/** withoutRecent removes a recent destination. */
export const withoutRecent = (places: KeptPlaces, gone: Destination): KeptPlaces => ({ ...places, recent: places.recent.filter((one) => !isSame(one, gone)) });

/** withSlot sets home or work; null removes it. */
export function withSlot(places: KeptPlaces, slot: Slot, destination: Destination | null): KeptPlaces {
  const kept = destination === null ? places : withoutRecent(places, destination);
  return { ...kept, [slot]: destination };
}
