// The order of stops (pure).

import { distance, type Place } from "../geo/geo.ts";
import type { Stop } from "./types.ts";

/** Stops of one drive, at most. */
export const maxStops = 9;

/** moveStop moves the stop at an index to another one. */
export function moveStop(stops: readonly Stop[], from: number, to: number): readonly Stop[] {
  const moved = stops[from];
  const at = Math.max(0, Math.min(stops.length - 1, to));
  if (moved === undefined || at === from) return stops;
  const rest = stops.filter((_, i) => i !== from);
  return [...rest.slice(0, at), moved, ...rest.slice(at)];
}

/** removeStop removes a stop, but not the only one. */
export const removeStop = (stops: readonly Stop[], at: number): readonly Stop[] => (stops.length > 1 ? stops.filter((_, i) => i !== at) : stops);

/** insertStop adds a stop before the destination, where it makes the way shortest as the crow flies. Too many stops stay as they are. */
export function insertStop(stops: readonly Stop[], stop: Stop, from: Place | null): readonly Stop[] {
  if (stops.length >= maxStops || stops.some(({ place }) => distance(place, stop.place) < 1)) return stops;
  let best = { at: Math.max(0, stops.length - 1), extra: Infinity };
  for (let at = 0; at < stops.length; at++) {
    const before = at === 0 ? from : (stops[at - 1]?.place ?? null);
    const after = stops[at]?.place;
    if (after === undefined || before === null) continue;
    const extra = distance(before, stop.place) + distance(stop.place, after) - distance(before, after);
    if (extra < best.extra) best = { at, extra };
  }
  return [...stops.slice(0, best.at), stop, ...stops.slice(best.at)];
}

/** rowAt returns the index of the row onto which a handle was dragged by so many pixels. */
export function rowAt(from: number, dragged: number, rowHeight: number, rows: number): number {
  if (!(rowHeight > 0)) return from;
  return Math.max(0, Math.min(rows - 1, from + Math.round(dragged / rowHeight)));
}
