// Where the driver is: ?at=lat,lng, else geolocation, else a place that was picked on the map.

import { Observable } from "./observable.ts";
import type { Place } from "./geo.ts";

export interface Fix extends Place {
  /** Metres; null: a place that somebody named, and so exact. */
  accuracy: number | null;
  /** Degrees clockwise from north; null: unknown. */
  heading: number | null;
  /** Metres a second; null: unknown. */
  speed: number | null;
  /** When, in milliseconds since 1970. */
  at: number;
}

/** PositionStatus says how far we are. */
export type PositionStatus = "asking" | "found" | "named" | "refused" | "missing";

export interface PositionSource {
  fix: Observable<Fix | null>;
  positionStatus: Observable<PositionStatus>;
  /** setManually sets a place by hand; geolocation is not listened to any more. */
  setManually: (place: Place) => void;
  /** resume listens to geolocation again, after a place was named. */
  resume: () => void;
}

/** parsePlace reads "52.0,5.0"; null: it is no place. */
export function parsePlace(text: string | null): Place | null {
  const parts = (text ?? "").split(",").map((part) => (part.trim() === "" ? NaN : Number(part)));
  const [lat, lng] = parts;
  if (parts.length !== 2 || lat === undefined || lng === undefined) return null;
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? { lat, lng } : null;
}

/** locate starts looking. sensor: null where the browser has none. */
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
        // A fix that is late is no reason to give up; who had one keeps it.
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
