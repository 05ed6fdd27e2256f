// Queries for a view of the map and for the nearest entity (pure).

import { formatCoordinate } from "../net/api.ts";
import { normalizeLongitude } from "../geo/geo.ts";
import type { Settings } from "../settings/settings.ts";
import type { Viewport } from "../state/state.ts";
import type { Source, SourceHealth } from "../net/wire.ts";

/** Share of the view's width and height that is read beyond each edge, so that a small move needs no read. */
const margin = 0.1;
/** A read covers views down to this share of its width: a closer view may have more, such as live incidents. */
const closestCovered = 0.4;
const maxLatitude = 90; // degrees
const maxZoom = 22; // of the service
const maxListed = 100; // values that the service takes in a list

/** selectionOf returns the parameters that exclude hidden kinds and sources; null if all sources are hidden. */
export function selectionOf({ kinds_off, sources_off, networks }: Pick<Settings, "kinds_off" | "sources_off" | "networks">, sources: readonly Source[], health: readonly SourceHealth[]): Record<string, string> | null {
  const selection: Record<string, string> = {};
  if (kinds_off.length > 0) selection["kinds_off"] = [...kinds_off].sort().join(",");
  if (networks !== null && networks.length > 0) selection["networks"] = networks.join(",");
  if (sources_off.length === 0 || sources.length === 0) return selection;
  // The driver's private feeds are not in the catalogue, but among those around.
  const readable = new Set([...sources, ...health].map(({ id }) => id));
  const on = [...readable].filter((id) => !sources_off.includes(id)).sort();
  if (on.length === 0) return null;
  if (on.length < readable.size && on.length <= maxListed) selection["sources"] = on.join(",");
  return selection;
}

/** readBox returns the box to read for a view: with a margin, the whole globe at most. */
export function readBox({ west, south, east, north, zoom }: Viewport): Viewport {
  const [width, height] = [east - west, north - south];
  const clamp = (lat: number): number => Math.max(-maxLatitude, Math.min(maxLatitude, lat));
  return { west: west - margin * width, east: east + margin * width, south: clamp(south - margin * height), north: clamp(north + margin * height), zoom };
}

/** viewQuery returns the query of a view; a box over the antimeridian has its west east of its east. */
export function viewQuery(box: Viewport, selection: Record<string, string>): string {
  const isGlobe = box.east - box.west >= 360;
  const [west, east] = isGlobe ? [-180, 180] : [normalizeLongitude(box.west), normalizeLongitude(box.east)];
  const bbox = [west, box.south, east, box.north].map(formatCoordinate).join(",");
  return new URLSearchParams({ bbox, zoom: Math.max(0, Math.min(maxZoom, box.zoom)).toFixed(2), ...selection }).toString();
}

/** covers reports whether pins that were read for a box are all that a view shows. */
export function covers(box: Viewport, view: Viewport): boolean {
  const within = box.west <= view.west && box.east >= view.east && box.south <= Math.max(view.south, -maxLatitude) && box.north >= Math.min(view.north, maxLatitude);
  return within && view.east - view.west >= closestCovered * (box.east - box.west);
}
