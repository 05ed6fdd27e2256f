// The zoom of the map while the driver is led (pure).

import { zoomFor } from "../map/camera.ts";

const nearZoom = 17; // a junction with the streets around it
const begins = 350; // metres before a junction; where one drives fast, seconds
const secondsBefore = 14;
const ends = 60;

/** ledZoom returns the zoom: closer at low speed, and before a junction so many metres ahead; null: there is none. */
export function ledZoom(speed: number | null, distance: number | null): number {
  const usual = zoomFor(speed);
  if (distance === null) return usual;
  const from = Math.max(begins, (speed ?? 0) * secondsBefore);
  if (distance >= from) return usual;
  const share = Math.min(1, (from - distance) / (from - ends));
  return usual + (Math.max(usual, nearZoom) - usual) * share;
}
