// The demo's drive as a position sensor: /?drive=demo, faster with &x=4. To the page it is what geolocation is.

import { bearing, distance, type Place } from "./geo.ts";
import type { Drive } from "./wire.ts";

const every = 1000; // ms of the drive between two fixes
const accuracy = 6; // metres
const fastestForward = 20;

/** parseSpeedUp reads &x=; nothing sensible is 1. */
export function parseSpeedUp(text: string | null): number {
  const factor = Number(text ?? "1");
  return factor >= 0.1 && factor <= fastestForward ? factor : 1;
}

/** Leg is the way from one place of the drive to the next. */
interface Leg {
  from: Place;
  to: Place;
  /** Seconds from the start of the drive. */
  begins: number;
  lasts: number;
  speeds: [from: number, to: number];
  heading: number;
}

/** Course is a drive with its timetable. */
export interface Course {
  legs: readonly Leg[];
  /** Seconds. */
  lasts: number;
}

/** courseOf reckons when the car is where. */
export function courseOf({ coordinates, speeds }: Drive): Course {
  const legs: Leg[] = [];
  let begins = 0;
  for (let i = 1; i < coordinates.length; i++) {
    const [before, after] = [coordinates[i - 1], coordinates[i]];
    if (before === undefined || after === undefined) continue;
    const [from, to] = [placeOf(before), placeOf(after)];
    const [first, second] = [speeds[i - 1] ?? 10, speeds[i] ?? 10];
    const metres = distance(from, to);
    if (metres === 0) continue;
    const lasts = metres / Math.max(0.5, (first + second) / 2);
    legs.push({ from, to, begins, lasts, speeds: [first, second], heading: bearing(from, to) });
    begins += lasts;
  }
  return { legs, lasts: begins };
}

const placeOf = ([lng, lat]: readonly [number, number]): Place => ({ lat, lng });

/** Moment is where the car is. */
export interface Moment extends Place {
  heading: number;
  speed: number;
}

/** momentAt is after so many seconds; the drive is a round, and goes on. null: it leads nowhere. */
export function momentAt({ legs, lasts }: Course, seconds: number): Moment | null {
  const at = lasts > 0 ? ((seconds % lasts) + lasts) % lasts : 0;
  const leg = legs[lastNotAfter(legs, at)];
  if (leg === undefined) return null;
  // Speed changes evenly with time, so the way is a parabola of it.
  const [first, second] = leg.speeds;
  const time = Math.min(1, (at - leg.begins) / leg.lasts);
  const way = (first * time + ((second - first) * time * time) / 2) / ((first + second) / 2 || 1);
  return {
    lat: leg.from.lat + (leg.to.lat - leg.from.lat) * way,
    lng: leg.from.lng + (leg.to.lng - leg.from.lng) * way,
    heading: leg.heading,
    speed: first + (second - first) * time,
  };
}

/** lastNotAfter searches by halves. */
function lastNotAfter(legs: readonly Leg[], at: number): number {
  let low = 0;
  let high = legs.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((legs[middle]?.begins ?? Infinity) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** DriveSensor drives as soon as somebody watches. */
export class DriveSensor implements Geolocation {
  readonly #read: () => Promise<Drive>;
  readonly #speedUp: number;
  readonly #watches = new Map<number, ReturnType<typeof setInterval> | null>();
  #last = 0;

  constructor(read: () => Promise<Drive>, speedUp: number) {
    this.#read = read;
    this.#speedUp = speedUp;
  }

  watchPosition(success: PositionCallback, failure?: PositionErrorCallback | null): number {
    const id = ++this.#last;
    this.#watches.set(id, null);
    this.#read().then(
      (drive) => {
        if (this.#watches.has(id)) this.#watches.set(id, this.#begin(courseOf(drive), success));
      },
      (error: unknown) => {
        failure?.({ code: 2, message: String(error), PERMISSION_DENIED: 1, POSITION_UNAVAILABLE: 2, TIMEOUT: 3 });
      },
    );
    return id;
  }

  clearWatch(id: number): void {
    clearInterval(this.#watches.get(id) ?? undefined);
    this.#watches.delete(id);
  }

  getCurrentPosition(): never {
    throw new Error("the drive can be watched only");
  }

  #begin(course: Course, success: PositionCallback): ReturnType<typeof setInterval> {
    const start = performance.now();
    const tell = (): void => {
      const moment = momentAt(course, ((performance.now() - start) * this.#speedUp) / 1000);
      if (moment !== null) success(positionOf(moment));
    };
    tell();
    return setInterval(tell, every / this.#speedUp);
  }
}

function positionOf({ lat, lng, heading, speed }: Moment): GeolocationPosition {
  const coords = { latitude: lat, longitude: lng, accuracy, heading, speed, altitude: null, altitudeAccuracy: null };
  return { timestamp: Date.now(), coords: { ...coords, toJSON: () => coords }, toJSON: () => coords };
}
