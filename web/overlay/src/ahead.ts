// What lies ahead of a driver, and what of it is announced: the twin of the service's internal/ahead, for when the page is
// offline. internal/ahead/testdata/cases.json holds both to the same answers, and its Go file gives the reasons for the
// figures (pure).

import { bearing, distance, turn, type Place } from "./geo.ts";

/** What is farther than so many metres is not listed. */
export const range = 2000;
/** So many are listed at once, the nearest. */
export const mostPins = 20;
/** Below so many metres a second nothing is announced, a heading means nothing and no time can be told. */
export const slowestSpeed = 2;

const cone = 30; // degrees to each side
const strip = 60; // metres to each side
const widest = 75; // degrees to each side
const arrivedAt = 1; // metres

const leadSeconds = 12;
const shortestLead = 150; // metres
const longestLead = 600;
const nearShare = 0.4; // of the lead
const shortestNear = 100; // metres

/** Stage is how near a pin is. Only cameras have a second one. */
export type Stage = "ahead" | "near";

/** Told is what the driver has been told of a pin already. */
export interface Told {
  ahead: boolean;
  near: boolean;
}

export const untold: Told = { ahead: false, near: false };

export interface Car extends Place {
  /** Degrees clockwise from north; null: unknown. */
  heading: number | null;
  /** Metres a second; null: unknown, which announces nothing. */
  speed: number | null;
}

export interface PinAhead extends Place {
  id: string;
  kind: string;
  /** Width in metres of the zone of which the place is the middle; 0: the pin is at the place. */
  zone: number;
  /** Ids of what is merged into it. */
  merged: readonly string[];
}

/** Sight is a pin that is listed. */
export interface Sight<P extends PinAhead = PinAhead> {
  pin: P;
  /** Metres; of a zone, to its edge, and 0 inside. */
  distance: number;
  /** Degrees clockwise from north. */
  bearing: number;
  stage: Stage;
  /** It is to be announced, if nothing else speaks against it. */
  due: boolean;
}

/** leadAt is the distance in metres at which a pin is announced; share is the driver's choice, 0.5 to 2. */
export function leadAt(speed: number, share = 1): number {
  return share * Math.max(shortestLead, Math.min(longestLead, leadSeconds * speed));
}

/** nearOf is the distance in metres at which a camera is announced for the second time. */
export function nearOf(lead: number): number {
  return Math.max(shortestNear, nearShare * lead);
}

export const isCamera = (kind: string): boolean => kind.startsWith("camera.");
export const isCharger = (kind: string): boolean => kind.startsWith("charger.");

/**
 * look lists what lies ahead, nearest first. Without a heading it lists what is around, and nothing is due. told says what
 * the driver has been told of a pin; share is the driver's part of the lead.
 */
export function look<P extends PinAhead>(car: Car, pins: readonly P[], told: (pin: P) => Told, share = 1): Sight<P>[] {
  const all: Sight<P>[] = [];
  for (const pin of pins) {
    const sight = sightOf(car, pin, told, share);
    if (sight !== null) all.push(sight);
  }
  // Sorting is stable since Chromium 70: of two at one distance, the first among the pins comes first.
  return all.sort((a, b) => a.distance - b.distance).slice(0, mostPins);
}

function sightOf<P extends PinAhead>(car: Car, pin: P, told: (pin: P) => Told, share: number): Sight<P> | null {
  const middle = distance(car, pin);
  const half = pin.zone / 2;
  const away = Math.max(0, middle - half);
  if (away > range) return null;
  const towards = bearing(car, pin);
  if (car.heading !== null && !within(car.heading, middle, half, towards)) return null;
  return { pin, distance: away, bearing: towards, ...judge(car, pin, away, told(pin), share) };
}

/** within says whether the corridor leads to what is so far away; half the width of a zone widens the strip. */
function within(heading: number, away: number, half: number, towards: number): boolean {
  if (half > 0 && away <= half) return true;
  if (away < arrivedAt) return false;
  const off = Math.abs(turn(heading, towards));
  return off <= cone || (off <= widest && away * Math.sin((off * Math.PI) / 180) <= strip + half);
}

function judge(car: Car, pin: PinAhead, away: number, told: Told, share: number): { stage: Stage; due: boolean } {
  const speed = car.speed ?? 0;
  const lead = leadAt(speed, share);
  const speaks = car.heading !== null && speed >= slowestSpeed && away <= lead && !isCharger(pin.kind);
  // A zone has one stage: a second one would tell where in it the camera is.
  if (isCamera(pin.kind) && pin.zone === 0 && away <= nearOf(lead)) return { stage: "near", due: speaks && !told.near };
  // The near stage grows and shrinks with the speed: who has been told of the second is not told of the first.
  return { stage: "ahead", due: speaks && !told.ahead && !told.near };
}

/** firstDue is the one that is announced: the nearest of those that are due and that nothing silences. */
export function firstDue<P extends PinAhead>(sights: readonly Sight<P>[], silent: (pin: P) => boolean): Sight<P> | null {
  return sights.find((sight) => sight.due && !silent(sight.pin)) ?? null;
}

/** secondsTo is the time to a distance in metres; null: at that speed nobody can tell. */
export function secondsTo(metres: number, speed: number | null): number | null {
  return speed === null || speed < slowestSpeed ? null : metres / speed;
}

// It ends the key of a camera's second stage. It stands in a query as it is, and in no id.
const nearMark = "~near";

/** keyOf is how the page names an announcement to the service. */
export function keyOf(id: string, stage: Stage): string {
  return stage === "near" ? id + nearMark : id;
}

/** readKey is what keyOf made. */
export function readKey(key: string): { id: string; stage: Stage } {
  return key.endsWith(nearMark) ? { id: key.slice(0, -nearMark.length), stage: "near" } : { id: key, stage: "ahead" };
}

/** toldOf unites what was told under each of a pin's ids: which of several merged pins is shown may change on the way. */
export function toldOf(pin: PinAhead, of: (id: string) => Told | undefined): Told {
  const all = [pin.id, ...pin.merged].map((id) => of(id) ?? untold);
  return { ahead: all.some((told) => told.ahead), near: all.some((told) => told.near) };
}
