// The driver's position: ?at=lat,lng, otherwise geolocation, otherwise a place picked on the map.

import { Observable } from "./observable.ts";
import type { Place } from "./geo.ts";

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

/** PositionStatus is how the position was or is being determined. */
export type PositionStatus = "asking" | "found" | "named" | "refused" | "missing";

export interface PositionSource {
  fix: Observable<Fix | null>;
  positionStatus: Observable<PositionStatus>;
  /** setManually sets a place by hand and stops geolocation. */
  setManually: (place: Place) => void;
  /** resume starts geolocation again after setManually. */
  resume: () => void;
}

/** parsePlace parses "52.0,5.0" and returns null for anything else. */
export function parsePlace(text: string | null): Place | null {
  const parts = (text ?? "").split(",").map((part) => (part.trim() === "" ? NaN : Number(part)));
  const [lat, lng] = parts;
  if (parts.length !== 2 || lat === undefined || lng === undefined) return null;
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? { lat, lng } : null;
}

/** locate starts to determine the position. sensor is null if the browser has none. */
export function locate(at: string | null, sensor: Geolocation | null, now: () => number): PositionSource {
  const fix = new Observable<Fix | null>(null);
  const positionStatus = new Observable<PositionStatus>("asking");
  let watchID: number | null = null;
  const setManually = (place: Place): void => {
    if (watchID !== null) sensor?.clearWatch(watchID);
    watchID = null;
    fix.set({ ...place, accuracy: null, heading: null, speed: null, at: now() });
    positionStatus.set("named");
  };
  const resume = (): void => {
    if (watchID !== null) return;
    if (sensor === null) {
      if (fix.get() === null) positionStatus.set("missing");
      return;
    }
    positionStatus.set("asking");
    watchID = sensor.watchPosition(
      ({ coords, timestamp }) => {
        if (watchID === null) return;
        fix.set({
          lat: coords.latitude,
          lng: coords.longitude,
          accuracy: coords.accuracy,
          heading: coords.heading === null || Number.isNaN(coords.heading) ? null : coords.heading,
          speed: coords.speed,
          at: timestamp,
        });
        positionStatus.set("found");
      },
      (error) => {
        // A timeout is not final; after the first fix the position is kept.
        if (positionStatus.get() !== "asking") return;
        positionStatus.set(error.code === error.PERMISSION_DENIED ? "refused" : "missing");
      },
      { enableHighAccuracy: true, maximumAge: 1000, timeout: 10_000 },
    );
  };
  const given = parsePlace(at);
  if (given) setManually(given);
  else resume();
  return { fix, positionStatus, setManually, resume };
}
