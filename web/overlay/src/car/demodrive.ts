// The demo's drives as geolocation sensors, faster with &x=4: /?drive=demo leads to a destination, /?drive=loop around the town.

import { bearing, distance, type Place } from "../geo/geo.ts";
import type { DemoDrives, Drive, GuidedDrive } from "../net/wire.ts";

const fixInterval = 1000; // ms of the drive between two fixes
const accuracy = 6; // metres
const maxSpeedUp = 20;

/** parseSpeedUp reads &x= and returns 1 for an invalid value. */
export function parseSpeedUp(text: string | null): number {
  const factor = Number(text ?? "1");
  return factor >= 0.1 && factor <= maxSpeedUp ? factor : 1;
}

/** Leg is the segment between two places of the drive. */
interface Leg {
  /** Index of its first coordinate. */
  first: number;
  from: Place;
  to: Place;
  /** Seconds after the start of the drive. */
  startsAt: number;
  duration: number;
  speeds: [from: number, to: number];
  heading: number;
}

/** Timetable is a drive with the start time of each leg. */
export interface Timetable {
  legs: readonly Leg[];
  /** Seconds. */
  duration: number;
}

/** timetableOf computes when the car is where. */
export function timetableOf({ coordinates, speeds }: Drive): Timetable {
  const legs: Leg[] = [];
  let startsAt = 0;
  for (let i = 1; i < coordinates.length; i++) {
    const [before, after] = [coordinates[i - 1], coordinates[i]];
    if (before === undefined || after === undefined) continue;
    const [from, to] = [placeOf(before), placeOf(after)];
    const [first, second] = [speeds[i - 1] ?? 10, speeds[i] ?? 10];
    const metres = distance(from, to);
    if (metres === 0) continue;
    const duration = metres / Math.max(0.5, (first + second) / 2);
    legs.push({ first: i - 1, from, to, startsAt, duration, speeds: [first, second], heading: bearing(from, to) });
    startsAt += duration;
  }
  return { legs, duration: startsAt };
}

const placeOf = ([lng, lat]: readonly [number, number]): Place => ({ lat, lng });

/** isHidden reports whether the car gets no fixes after so many seconds of the drive. */
export function isHidden({ legs }: Timetable, tunnels: GuidedDrive["tunnels"], seconds: number): boolean {
  const first = legs[lastLegStarted(legs, seconds)]?.first ?? 0;
  return tunnels.some(([from, to]) => from <= first && first < to);
}

/** DrivePoint is the car's state at one moment. */
export interface DrivePoint extends Place {
  heading: number;
  speed: number;
}

/** pointAt returns the car's state after so many seconds of the drive, which repeats; null if the drive has no legs. */
export function pointAt({ legs, duration }: Timetable, seconds: number): DrivePoint | null {
  const at = duration > 0 ? ((seconds % duration) + duration) % duration : 0;
  const leg = legs[lastLegStarted(legs, at)];
  if (leg === undefined) return null;
  // Speed changes linearly with time, so the distance is quadratic.
  const [first, second] = leg.speeds;
  const time = Math.min(1, (at - leg.startsAt) / leg.duration);
  const progress = (first * time + ((second - first) * time * time) / 2) / ((first + second) / 2 || 1);
  return {
    lat: leg.from.lat + (leg.to.lat - leg.from.lat) * progress,
    lng: leg.from.lng + (leg.to.lng - leg.from.lng) * progress,
    heading: leg.heading,
    speed: first + (second - first) * time,
  };
}

/** lastLegStarted returns the index of the last leg that has started (binary search). */
function lastLegStarted(legs: readonly Leg[], at: number): number {
  let low = 0;
  let high = legs.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((legs[middle]?.startsAt ?? Infinity) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** DriveSensor starts to drive with the first watcher. */
export class DriveSensor implements Geolocation {
  readonly #read: () => Promise<DemoDrives>;
  readonly #speedUp: number;
  readonly #begin: ((guided: GuidedDrive) => void) | null;
  readonly #watches = new Map<number, ReturnType<typeof setInterval> | null>();
  #last = 0;

  /** begin receives the drive to a destination once it has begun; null plays the round trip instead. */
  constructor(read: () => Promise<DemoDrives>, speedUp: number, begin: ((guided: GuidedDrive) => void) | null) {
    this.#read = read;
    this.#speedUp = speedUp;
    this.#begin = begin;
  }

  watchPosition(success: PositionCallback, failure?: PositionErrorCallback | null): number {
    const id = ++this.#last;
    this.#watches.set(id, null);
    this.#read().then(
      (drives) => {
        if (!this.#watches.has(id)) return;
        const guided = this.#begin === null ? undefined : drives.guided;
        this.#watches.set(id, this.#startFixes(guided === undefined ? roundTrip(drives) : toDestination(guided), success));
        if (guided !== undefined) this.#begin?.(guided);
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

  #startFixes(where: (seconds: number) => DrivePoint | null, success: PositionCallback): ReturnType<typeof setInterval> {
    const start = performance.now();
    const emitFix = (): void => {
      const point = where(((performance.now() - start) * this.#speedUp) / 1000);
      if (point !== null) success(positionOf(point));
    };
    emitFix();
    return setInterval(emitFix, fixInterval / this.#speedUp);
  }
}

/** roundTrip returns where the car is after so many seconds. */
function roundTrip(drive: Drive): (seconds: number) => DrivePoint | null {
  const timetable = timetableOf(drive);
  return (seconds) => pointAt(timetable, seconds);
}

/** toDestination returns where the car is after so many seconds; null without a fix. It stands at the end. */
function toDestination(drive: GuidedDrive): (seconds: number) => DrivePoint | null {
  const timetable = timetableOf(drive);
  return (seconds) => {
    if (isHidden(timetable, drive.tunnels, seconds)) return null;
    const atEnd = seconds >= timetable.duration;
    const point = pointAt(timetable, atEnd ? timetable.duration - 0.01 : seconds);
    return point !== null && atEnd ? { ...point, speed: 0 } : point;
  };
}

function positionOf({ lat, lng, heading, speed }: DrivePoint): GeolocationPosition {
  const coords = { latitude: lat, longitude: lng, accuracy, heading, speed, altitude: null, altitudeAccuracy: null };
  return { timestamp: Date.now(), coords: { ...coords, toJSON: () => coords }, toJSON: () => coords };
}
