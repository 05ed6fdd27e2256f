// The drive that is kept in the browser, so that it goes on after a reload (pure).

import { isDestination, maxText } from "./destination.ts";
import type { Avoided, Stop } from "./types.ts";

/** KeptDrive is a drive: its stops, without the positions of the car. */
export interface KeptDrive {
  stops: readonly Stop[];
  avoid: readonly Avoided[];
  /** When it was driven last, in milliseconds since 1970. */
  at: number;
}

const maxAge = 30 * 60_000; // ms
const forgottenAfter = 24 * 60 * 60_000; // ms
const maxStops = 25;
const classes: readonly unknown[] = ["motorway", "toll", "ferry"];

/** parseKeptDrive reads a kept drive; null for anything else. */
export function parseKeptDrive(text: string | null): KeptDrive | null {
  try {
    const { stops, avoid, at } = JSON.parse(text ?? "") as Record<string, unknown>;
    if (!Array.isArray(stops) || stops.length === 0 || stops.length > maxStops || !stops.every(isDestination)) return null;
    if (typeof at !== "number" || !Array.isArray(avoid) || !avoid.every((one) => classes.includes(one))) return null;
    return { stops, avoid: avoid as Avoided[], at };
  } catch {
    return null;
  }
}

/** writeKeptDrive shortens names that are too long to be read again. */
export function writeKeptDrive({ stops, avoid, at }: KeptDrive): string {
  const short = stops.map(({ place: { lat, lng }, name, detail }) => ({ place: { lat, lng }, name: name.slice(0, maxText), detail: detail.slice(0, maxText) }));
  return JSON.stringify({ stops: short, avoid, at });
}

/** Resumption is the decision on a kept drive. */
export type Resumption = "resume" | "ask" | "forget";

/** resumptionOf decides by the age; a drive of the future was kept by a clock that was wrong. */
export function resumptionOf({ at }: Pick<KeptDrive, "at">, now: number): Resumption {
  const age = now - at;
  if (age > forgottenAfter) return "forget";
  return age >= -maxAge && age <= maxAge ? "resume" : "ask";
}
