// The driver's position: ?at=lat,lng, otherwise geolocation, otherwise a place picked on the map.

import { Observable } from "../browser/observable.ts";
import type { Place } from "../geo/geo.ts";

/** Fix is a position of the driver, by the browser or by hand. */
export interface Fix extends Place {
  /** Metres; null for a place that was set by hand and is exact. */
  accuracy: number | null;
  /** Degrees clockwise from north; null if unknown. */
  heading: number | null;
  /** Metres per second; null if unknown. */
  speed: number | null;
  /** Milliseconds since 1970. */
  at: number;
}

/**
 * PositionStatus is how the position was or is being determined: "unasked" before the driver agreed to be located, "slow" while the
 * browser has not answered for a while, "missing" where it cannot tell, "left" where a demo drive ended.
 */
export type PositionStatus = "unasked" | "asking" | "slow" | "found" | "named" | "left" | "refused" | "missing";

/** canTap reports whether a tap on the map sets the position: wherever the position was asked for and is not known (pure). */
export const canTap = (status: PositionStatus): boolean => status === "refused" || status === "missing" || status === "slow";

/** Metres: a fix that is less accurate comes from the network's address, and may be in another town. */
export const roughAccuracy = 1000;

/** PositionSource keeps the driver's position. */
export interface PositionSource {
  fix: Observable<Fix | null>;
  positionStatus: Observable<PositionStatus>;
  /** setManually sets a place by hand, or where a drive ended, and stops geolocation. */
  setManually: (place: Place, status?: "named" | "left") => void;
  /** resume starts geolocation, also again after setManually and after a refusal. */
  resume: () => void;
  /** follow takes the fixes of another sensor instead of the browser's. */
  follow: (sensor: Geolocation) => void;
}

/** parsePlace parses "52.0,5.0" and returns null for anything else. */
export function parsePlace(text: string | null): Place | null {
  const parts = (text ?? "").split(",").map((part) => (part.trim() === "" ? NaN : Number(part)));
  const [lat, lng] = parts;
  if (parts.length !== 2 || lat === undefined || lng === undefined) return null;
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? { lat, lng } : null;
}

/** Milliseconds after which the driver is offered to set the position by hand. */
const slowAfter = 10_000;

/** fixOf returns a fix in the page's form. */
function fixOf({ coords, timestamp }: GeolocationPosition): Fix {
  const heading = coords.heading === null || Number.isNaN(coords.heading) ? null : coords.heading;
  return { lat: coords.latitude, lng: coords.longitude, accuracy: coords.accuracy, heading, speed: coords.speed, at: timestamp };
}

/** locate starts to determine the position, unless asks is false. sensor is null if the browser has none. */
export function locate(at: string | null, sensor: Geolocation | null, now: () => number, asks = true): PositionSource {
  const fix = new Observable<Fix | null>(null);
  const positionStatus = new Observable<PositionStatus>("unasked");
  let stop = (): void => undefined;
  const setManually = (place: Place, status: "named" | "left" = "named"): void => {
    stop();
    fix.set({ ...place, accuracy: null, heading: null, speed: null, at: now() });
    positionStatus.set(status);
  };
  const follow = (source: Geolocation): void => {
    stop();
    let stopped = false;
    positionStatus.set("asking");
    // A browser does not count the time for which it waits for the driver's permission.
    const slow = setTimeout(() => {
      if (positionStatus.get() === "asking") positionStatus.set("slow");
    }, slowAfter);
    stop = () => {
      stopped = true;
      clearTimeout(slow);
      source.clearWatch(id);
      stop = () => undefined;
    };
    const id = source.watchPosition(
      (position) => {
        if (stopped) return;
        clearTimeout(slow);
        fix.set(fixOf(position));
        positionStatus.set("found");
      },
      (error) => {
        // A timeout is not final; after the first fix the position is kept.
        if (stopped || positionStatus.get() === "found") return;
        clearTimeout(slow);
        positionStatus.set(error.code === error.PERMISSION_DENIED ? "refused" : error.code === error.TIMEOUT ? "slow" : "missing");
      },
      { enableHighAccuracy: true, maximumAge: 1000, timeout: slowAfter },
    );
  };
  const resume = (): void => {
    if (positionStatus.get() === "found") return;
    if (sensor !== null) follow(sensor);
    else if (fix.get() === null) positionStatus.set("missing");
  };
  const given = parsePlace(at);
  if (given) setManually(given);
  else if (asks) resume();
  return { fix, positionStatus, setManually, resume, follow };
}
