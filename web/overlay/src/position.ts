// Where the driver is: ?at=lat,lng, else geolocation, else a place that was picked on the map.

import { Cell } from "./cell.ts";
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

/** Finding says how far we are. */
export type Finding = "asking" | "found" | "named" | "refused" | "missing";

export interface Whereabouts {
  fix: Cell<Fix | null>;
  finding: Cell<Finding>;
  /** name sets a place by hand; geolocation is not listened to any more. */
  name: (place: Place) => void;
  /** again listens to geolocation again, after a place was named. */
  again: () => void;
}

/** parsePlace reads "52.0,5.0"; null: it is no place. */
export function parsePlace(text: string | null): Place | null {
  const parts = (text ?? "").split(",").map((part) => (part.trim() === "" ? NaN : Number(part)));
  const [lat, lng] = parts;
  if (parts.length !== 2 || lat === undefined || lng === undefined) return null;
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? { lat, lng } : null;
}

/** locate starts looking. sensor: null where the browser has none. */
export function locate(at: string | null, sensor: Geolocation | null, now: () => number): Whereabouts {
  const fix = new Cell<Fix | null>(null);
  const finding = new Cell<Finding>("asking");
  let watching: number | null = null;
  const name = (place: Place): void => {
    if (watching !== null) sensor?.clearWatch(watching);
    watching = null;
    fix.set({ ...place, accuracy: null, heading: null, speed: null, at: now() });
    finding.set("named");
  };
  const again = (): void => {
    if (watching !== null) return;
    if (sensor === null) {
      if (fix.get() === null) finding.set("missing");
      return;
    }
    finding.set("asking");
    watching = sensor.watchPosition(
      ({ coords, timestamp }) => {
        if (watching === null) return;
        fix.set({
          lat: coords.latitude,
          lng: coords.longitude,
          accuracy: coords.accuracy,
          heading: coords.heading === null || Number.isNaN(coords.heading) ? null : coords.heading,
          speed: coords.speed,
          at: timestamp,
        });
        finding.set("found");
      },
      (error) => {
        // A fix that is late is no reason to give up; who had one keeps it.
        if (finding.get() !== "asking") return;
        finding.set(error.code === error.PERMISSION_DENIED ? "refused" : "missing");
      },
      { enableHighAccuracy: true, maximumAge: 1000, timeout: 10_000 },
    );
  };
  const named = parsePlace(at);
  if (named) name(named);
  else again();
  return { fix, finding, name, again };
}
