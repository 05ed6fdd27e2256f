// What lies ahead of a driver, and what of it is announced: the twin of the service's internal/ahead, for when the page is
// offline. internal/ahead/testdata/cases.json holds both to the same answers, and its Go file gives the reasons for the
// figures (pure).

import { bearing, distance, angleBetween, type Place } from "./geo.ts";

/** What is farther than so many metres is not listed. */
export const maxDistance = 2000;
/** So many are listed at once, the nearest. */
export const maxListed = 20;
/** Below so many metres a second nothing is announced, a heading means nothing and no time can be told. */
export const minSpeed = 2;

const coneAngle = 30; // degrees to each side
const corridorHalfWidth = 60; // metres to each side
const maxOffAxisAngle = 75; // degrees to each side
const minDistance = 1; // metres

const leadSeconds = 12;
const minLead = 150; // metres
const maxLead = 600;
const nearShare = 0.4; // of the lead
const minNearDistance = 100; // metres

/** AlertStage is how near a pin is. Only cameras have a second one. */
export type AlertStage = "ahead" | "near";

/** Announced is what the driver has been told of a pin already. */
export interface Announced {
  ahead: boolean;
  near: boolean;
}

export const notAnnounced: Announced = { ahead: false, near: false };

export interface Car extends Place {
  /** Degrees clockwise from north; null: unknown. */
  heading: number | null;
  /** Metres a second; null: unknown, which announces nothing. */
  speed: number | null;
}

export interface AlertPin extends Place {
  id: string;
  kind: string;
  /** Width in metres of the zone of which the place is the middle; 0: the pin is at the place. */
  zone: number;
  /** Ids of what is merged into it. */
  merged: readonly string[];
}

/** ListedAlert is a pin that is listed. */
export interface ListedAlert<P extends AlertPin = AlertPin> {
  pin: P;
  /** Metres; of a zone, to its edge, and 0 inside. */
  distance: number;
  /** Degrees clockwise from north. */
  bearing: number;
  stage: AlertStage;
  /** It is to be announced, if nothing else speaks against it. */
  due: boolean;
}

/** leadAt is the distance in metres at which a pin is announced; share is the driver's choice, 0.5 to 2. */
export function leadAt(speed: number, share = 1): number {
  return share * Math.max(minLead, Math.min(maxLead, leadSeconds * speed));
}

/** nearOf is the distance in metres at which a camera is announced for the second time. */
export function nearOf(lead: number): number {
  return Math.max(minNearDistance, nearShare * lead);
}

export const isCamera = (kind: string): boolean => kind.startsWith("camera.");
export const isCharger = (kind: string): boolean => kind.startsWith("charger.");

/**
 * look lists what lies ahead, nearest first. Without a heading it lists what is around, and nothing is due. told says what
 * the driver has been told of a pin; share is the driver's part of the lead.
 */
export function listAhead<P extends AlertPin>(car: Car, pins: readonly P[], announced: (pin: P) => Announced, share = 1): ListedAlert<P>[] {
  const all: ListedAlert<P>[] = [];
  for (const pin of pins) {
    const alert = alertOf(car, pin, announced, share);
    if (alert !== null) all.push(alert);
  }
  // Sorting is stable since Chromium 70: of two at one distance, the first among the pins comes first.
  return all.sort((a, b) => a.distance - b.distance).slice(0, maxListed);
}

function alertOf<P extends AlertPin>(car: Car, pin: P, announced: (pin: P) => Announced, share: number): ListedAlert<P> | null {
  const toCentre = distance(car, pin);
  const zoneRadius = pin.zone / 2;
  const metres = Math.max(0, toCentre - zoneRadius);
  if (metres > maxDistance) return null;
  const bearingToPin = bearing(car, pin);
  if (car.heading !== null && !isInCorridor(car.heading, toCentre, zoneRadius, bearingToPin)) return null;
  return { pin, distance: metres, bearing: bearingToPin, ...stageAndDue(car, pin, metres, announced(pin), share) };
}

/** isInCorridor says whether the corridor leads to what is so far away; half the width of a zone widens the strip. */
function isInCorridor(heading: number, metres: number, zoneRadius: number, bearingToPin: number): boolean {
  if (zoneRadius > 0 && metres <= zoneRadius) return true;
  if (metres < minDistance) return false;
  const off = Math.abs(angleBetween(heading, bearingToPin));
  return off <= coneAngle || (off <= maxOffAxisAngle && metres * Math.sin((off * Math.PI) / 180) <= corridorHalfWidth + zoneRadius);
}

function stageAndDue(car: Car, pin: AlertPin, metres: number, announced: Announced, share: number): { stage: AlertStage; due: boolean } {
  const speed = car.speed ?? 0;
  const lead = leadAt(speed, share);
  const isAnnouncing = car.heading !== null && speed >= minSpeed && metres <= lead && !isCharger(pin.kind);
  // A zone has one stage: a second one would tell where in it the camera is.
  if (isCamera(pin.kind) && pin.zone === 0 && metres <= nearOf(lead)) return { stage: "near", due: isAnnouncing && !announced.near };
  // The near stage grows and shrinks with the speed: who has been told of the second is not told of the first.
  return { stage: "ahead", due: isAnnouncing && !announced.ahead && !announced.near };
}

/** firstDue is the one that is announced: the nearest of those that are due and that nothing silences. */
export function firstDue<P extends AlertPin>(listed: readonly ListedAlert<P>[], silent: (pin: P) => boolean): ListedAlert<P> | null {
  return listed.find((alert) => alert.due && !silent(alert.pin)) ?? null;
}

/** secondsTo is the time to a distance in metres; null: at that speed nobody can tell. */
export function secondsTo(metres: number, speed: number | null): number | null {
  return speed === null || speed < minSpeed ? null : metres / speed;
}

// It ends the key of a camera's second stage. It stands in a query as it is, and in no id.
const nearSuffix = "~near";

/** keyOf is how the page names an announcement to the service. */
export function keyOf(id: string, stage: AlertStage): string {
  return stage === "near" ? id + nearSuffix : id;
}

/** parseKey is what keyOf made. */
export function parseKey(key: string): { id: string; stage: AlertStage } {
  return key.endsWith(nearSuffix) ? { id: key.slice(0, -nearSuffix.length), stage: "near" } : { id: key, stage: "ahead" };
}

/** announcedOf unites what was told under each of a pin's ids: which of several merged pins is shown may change on the way. */
export function announcedOf(pin: AlertPin, of: (id: string) => Announced | undefined): Announced {
  const all = [pin.id, ...pin.merged].map((id) => of(id) ?? notAnnounced);
  return { ahead: all.some((announced) => announced.ahead), near: all.some((announced) => announced.near) };
}
