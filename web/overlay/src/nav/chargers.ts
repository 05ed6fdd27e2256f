// Chargers on the route: candidates, their detours, and which are within the remaining range (pure).

import { distance, nearestOnSegment, type Place } from "../geo/geo.ts";
import type { RouteLine } from "./routeline.ts";

/** Seconds of detour, at most. */
export const maxDetour = 300;

/** Candidates that the service is asked about: two tables of 100 pairs, which count as one request each. */
export const maxCandidates = 10;

/** Metres from the line, at most: a detour of five minutes at 50 km/h, both ways. */
const corridor = 2500;

/** Metres of the line between two places around which chargers are read. */
const readEvery = 20_000;
export const readRadius = 11_000; // metres, so that the circles cover the corridor between two places
export const maxReads = 6;

/** Candidate is a charger near the line. */
export interface Candidate<T> {
  value: T;
  place: Place;
  /** Metres of the line before the point that is nearest to it. */
  along: number;
  /** Metres from the line. */
  away: number;
}

/** AlongRoute is a charger with its detour. */
export interface AlongRoute<T> extends Candidate<T> {
  /** Seconds. */
  detour: number;
  /** Metres to drive to it. */
  metres: number;
}

/** readPlaces returns metres of the line around which chargers are read, from where the car is on. Of a long way the first part. */
export function readPlaces({ length }: Pick<RouteLine, "length">, from: number): number[] {
  const places = [];
  for (let at = Math.min(from + readEvery / 2, length); places.length < maxReads; at += readEvery) {
    places.push(Math.min(at, length));
    if (at + readEvery / 2 >= length) break;
  }
  return places;
}

/** nearLine returns where on the line a place is nearest, from so many metres on; null if it is outside of the corridor. */
export function nearLine(line: Pick<RouteLine, "places" | "metres">, place: Place, from: number): { along: number; away: number } | null {
  let best: { along: number; away: number } | null = null;
  const height = corridor / 111_000; // degrees
  const width = height / Math.max(0.01, Math.cos((place.lat * Math.PI) / 180));
  for (let i = 0; i + 1 < line.places.length; i++) {
    const [a, b] = [line.places[i], line.places[i + 1]];
    if (a === undefined || b === undefined || (line.metres[i + 1] ?? 0) < from) continue;
    if (Math.min(a.lat, b.lat) - height > place.lat || Math.max(a.lat, b.lat) + height < place.lat) continue;
    if (Math.min(a.lng, b.lng) - width > place.lng || Math.max(a.lng, b.lng) + width < place.lng) continue;
    const nearest = nearestOnSegment(place, a, b);
    const away = distance(place, nearest);
    const along = (line.metres[i] ?? 0) + distance(a, nearest);
    if (along >= from && away <= corridor && (best === null || away < best.away)) best = { along, away };
  }
  return best;
}

/** candidatesOf chooses chargers spread along the line: the nearest to it of each of the parts of the way. */
export function candidatesOf<T>(line: Pick<RouteLine, "places" | "metres" | "length">, from: number, all: readonly { value: T; place: Place }[]): Candidate<T>[] {
  const near: Candidate<T>[] = [];
  for (const { value, place } of all) {
    const found = nearLine(line, place, from);
    if (found !== null) near.push({ value, place, ...found });
  }
  const parts = 8;
  const partOf = ({ along }: Candidate<T>): number => Math.min(parts - 1, Math.floor(((along - from) / Math.max(1, line.length - from)) * parts));
  const ranked = [...near].sort((a, b) => a.away - b.away);
  const order = new Map<Candidate<T>, number>();
  const counts = new Map<number, number>();
  for (const one of ranked) {
    const count = counts.get(partOf(one)) ?? 0;
    counts.set(partOf(one), count + 1);
    order.set(one, count);
  }
  return ranked.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)).slice(0, maxCandidates).sort((a, b) => a.along - b.along);
}

/** Leave holds the points where a detour leaves the line and returns to it. */
export interface Leave {
  /** Metres of the line. */
  from: number;
  to: number;
}

/** Metres before and after the nearest point: the detour is measured between them, since the nearest point is often between two exits. */
const around = 2500;

/** leaveOf returns between which points of the line the detour to a candidate is measured. */
export const leaveOf = ({ along }: { along: number }, from: number, length: number): Leave => ({ from: Math.max(from, along - around), to: Math.min(length, along + around) });

/** detourOf returns the seconds that going by a place takes longer; null if no road leads there. */
export function detourOf(there: number | null | undefined, back: number | null | undefined, direct: number): number | null {
  if (there === null || there === undefined || back === null || back === undefined) return null;
  return Math.max(0, there + back - direct);
}

/** rangeAt returns the metres of range that are left after so many metres; null if the range is unknown. */
export const rangeAt = (range: number | null, metres: number): number | null => (range === null ? null : range - metres);

/** Share of the range that is kept in reserve. */
const reserve = 0.1;

/** isReachable reports whether a place is reached without the reserve. */
export const isReachable = (range: number | null, metres: number): boolean => range === null || metres <= range * (1 - reserve);

/** arrangeChargers orders chargers within five minutes of detour along the way: those that are reached first. range is in metres, null if it is unknown. */
export function arrangeChargers<T>(found: readonly AlongRoute<T>[], range: number | null): AlongRoute<T>[] {
  return found.filter(({ detour }) => detour <= maxDetour).sort((a, b) => Number(!isReachable(range, a.metres)) - Number(!isReachable(range, b.metres)) || a.metres - b.metres);
}

const kilometre = 1000;

/** parseRange parses a typed range, in kilometres or miles; null if it is no range of a car. */
export function parseRange(text: string, perUnit = kilometre): number | null {
  const figure = text.trim().replace(/[\u0660-\u0669]/g, (digit) => String(digit.charCodeAt(0) - 0x660));
  if (!/^\d{1,4}$/.test(figure) || Number(figure) < 1 || Number(figure) > 1500) return null;
  return Number(figure) * perUnit;
}
