// The extent of the public data, which the map shows before a position is known (pure).

import type { Extent, OverlayConfig } from "../net/wire.ts";

/** Bounds are west, south, east and north in degrees, as MapLibre takes them; east may exceed 180. */
export type Bounds = [west: number, south: number, east: number, north: number];

const maxLatitude = 85; // degrees: Web Mercator ends there
const isWithin = (value: number, most: number): boolean => Number.isFinite(value) && Math.abs(value) <= most;

/** boundsOf returns an extent's bounds; null if there is none or it is no valid one. */
export function boundsOf(extent: Extent | null | undefined): Bounds | null {
  if (extent === null || extent === undefined) return null;
  const { west, south, east, north } = extent;
  if (!isWithin(west, 180) || !isWithin(east, 180) || !isWithin(south, 90) || !isWithin(north, 90) || south > north) return null;
  const clamp = (lat: number): number => Math.max(-maxLatitude, Math.min(maxLatitude, lat));
  return [west, clamp(south), east < west ? east + 360 : east, clamp(north)];
}

const closestOnStreets = 14;
const closestOnWorld = 8; // closer, the overview of the world shows neither a coast nor a place's name

/** extentOptions returns the pixels around the extent, and the closest zoom of a small one. */
export function extentOptions({ base_map }: Pick<OverlayConfig, "base_map">): { padding: number; maxZoom: number } {
  return { padding: 40, maxZoom: base_map === null ? closestOnWorld : closestOnStreets };
}
