// The zoom while the car stands: the one that shows the nearest pins (pure).

import { distance, bearing, type Place } from "../geo/geo.ts";

const [fewest, most] = [5, 10]; // pins that are shown
const [lowest, highest] = [12, 16]; // zooms
const streetZoom = 14; // more than the fewest pins are shown only down to this zoom
const margin = 72; // pixels at each edge that are left free for panels
const pixelsAtZoom0 = 512;
const metresAtEquator = 40_030_228.88; // WGS 84 mean radius × 2π
const radians = Math.PI / 180;

/** Metres per second: a slower car stands. */
export const stationaryBelow = 2;

/** Frame is the part of the map that is free. */
export interface Frame {
  /** Pixels, without the area that panels cover. */
  width: number;
  height: number;
  /** Degrees clockwise from north of the top edge. */
  bearing: number;
}

/** isStationary reports whether the zoom shows pins instead of the road ahead. */
export const isStationary = ({ heading, speed }: { heading: number | null; speed: number | null }): boolean => heading === null || (speed ?? 0) < stationaryBelow;

/** zoomOfPin returns the highest zoom at which a pin is on the screen of a car in the middle. */
function zoomOfPin(car: Place, pin: Place, metres: number, { width, height, bearing: up }: Frame): number {
  const angle = (bearing(car, pin) - up) * radians;
  const pixels = (metres * pixelsAtZoom0) / metresAtEquator / Math.cos(car.lat * radians); // at zoom 0
  const across = Math.abs(Math.sin(angle)) * pixels;
  const along = Math.abs(Math.cos(angle)) * pixels;
  const free = (side: number): number => Math.max(40, side / 2 - margin);
  return Math.log2(Math.min(free(width) / Math.max(across, 1e-9), free(height) / Math.max(along, 1e-9)));
}

/**
 * stationaryZoom returns the zoom that holds the nearest ten pins, or fewer, but not fewer than five, so that streets can be read.
 * Pins that are not on the screen at the lowest zoom do not count. Without pins it shows the streets around.
 */
export function stationaryZoom(car: Place, pins: readonly Place[], frame: Frame): number {
  const zooms = pins
    .map((pin) => ({ pin, metres: distance(car, pin) }))
    .sort((a, b) => a.metres - b.metres)
    .slice(0, most)
    .map(({ pin, metres }) => zoomOfPin(car, pin, metres, frame))
    .filter((zoom) => zoom >= lowest);
  if (zooms.length === 0) return streetZoom;
  for (let count = zooms.length; count > fewest; count--) {
    const zoom = Math.min(...zooms.slice(0, count));
    if (zoom >= streetZoom) return Math.min(zoom, highest);
  }
  return Math.min(highest, ...zooms.slice(0, fewest));
}
