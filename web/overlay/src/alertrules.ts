// Which pins lie ahead of a driver, and which of them are announced (pure). These are the same rules as in the service's
// internal/alerts, for use while the page is offline: internal/ahead/testdata/cases.json tests both, and the Go package documents
// the reasons for the constants.

import { bearing, distance, angleBetween, type Place } from "./geo.ts";

/** Metres: pins that are farther away are not listed. */
export const maxDistance = 2000;
/** The number of pins that are listed, nearest first. */
export const maxListed = 20;
/** Metres per second: below it a heading is unreliable, nothing is announced and no time of arrival is given. */
export const minSpeed = 2;

const coneAngle = 30; // degrees to each side
const corridorHalfWidth = 60; // metres to each side
const maxOffAxisAngle = 75; // degrees to each side
const minDistance = 1; // metres

const leadSeconds = 12;
const minLead = 150; // metres
const maxLead = 600;
const nearShare = 0.4; // share of the lead
const minNearDistance = 100; // metres

/** AlertStage tells how near a pin is. Only cameras have the second stage. */
export type AlertStage = "ahead" | "near";

/** Announced records which stages of a pin were announced. */
export interface Announced {
  ahead: boolean;
  near: boolean;
}

export const notAnnounced: Announced = { ahead: false, near: false };

export interface Car extends Place {
  /** Degrees clockwise from north; null if unknown. */
  heading: number | null;
  /** Metres per second; null if unknown, and then nothing is announced. */
  speed: number | null;
}

export interface AlertPin extends Place {
  id: string;
  kind: string;
  /** Width in metres of the zone whose centre is the given place; 0 if the pin is at the place itself. */
  zone: number;
  /** Ids of the pins that are merged into this one. */
  merged: readonly string[];
}

/** ListedAlert is a pin in the corridor ahead. */
export interface ListedAlert<P extends AlertPin = AlertPin> {
  pin: P;
  /** Metres; of a zone, to its edge, and 0 inside it. */
  distance: number;
  /** Degrees clockwise from north. */
  bearing: number;
  stage: AlertStage;
  /** It should be announced unless it is suppressed for another reason. */
  due: boolean;
}

/** leadAt returns the distance in metres at which a pin is announced; share is the driver's factor, 0.5 to 2. */
export function leadAt(speed: number, share = 1): number {
  return share * Math.max(minLead, Math.min(maxLead, leadSeconds * speed));
}

/** nearOf returns the distance in metres at which a camera is announced for the second time. */
export function nearOf(lead: number): number {
  return Math.max(minNearDistance, nearShare * lead);
}

export const isCamera = (kind: string): boolean => kind.startsWith("camera.");
export const isCharger = (kind: string): boolean => kind.startsWith("charger.");

/**
 * listAhead returns the pins ahead, nearest first. Without a heading it returns the pins around, none of them due. announced returns
 * which stages of a pin were announced; share is the driver's factor on the lead.
 */
export function listAhead<P extends AlertPin>(car: Car, pins: readonly P[], announced: (pin: P) => Announced, share = 1): ListedAlert<P>[] {
  const all: ListedAlert<P>[] = [];
  for (const pin of pins) {
    const alert = alertOf(car, pin, announced, share);
    if (alert !== null) all.push(alert);
  }
  // Array sort is stable since Chromium 70: pins at equal distances keep their order.
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

/** isInCorridor reports whether a pin lies in the corridor ahead; the radius of a zone widens the corridor. */
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
  // A zone has one stage: a second one would reveal where in the zone the camera is.
  if (isCamera(pin.kind) && pin.zone === 0 && metres <= nearOf(lead)) return { stage: "near", due: isAnnouncing && !announced.near };
  // The near distance varies with the speed: after the near stage was announced, the first one is not announced any more.
  return { stage: "ahead", due: isAnnouncing && !announced.ahead && !announced.near };
}

/** firstDue returns the nearest pin that is due and not suppressed. */
export function firstDue<P extends AlertPin>(listed: readonly ListedAlert<P>[], silent: (pin: P) => boolean): ListedAlert<P> | null {
  return listed.find((alert) => alert.due && !silent(alert.pin)) ?? null;
}

/** secondsTo returns the time in seconds to a distance in metres; null if the car is too slow or its speed is unknown. */
export function secondsTo(metres: number, speed: number | null): number | null {
  return speed === null || speed < minSpeed ? null : metres / speed;
}

// Suffix of the key of a camera's second stage. It needs no escaping in a query and occurs in no id.
const nearSuffix = "~near";

/** keyOf returns the key by which the page names an announcement to the service. */
export function keyOf(id: string, stage: AlertStage): string {
  return stage === "near" ? id + nearSuffix : id;
}

/** parseKey reverses keyOf. */
export function parseKey(key: string): { id: string; stage: AlertStage } {
  return key.endsWith(nearSuffix) ? { id: key.slice(0, -nearSuffix.length), stage: "near" } : { id: key, stage: "ahead" };
}

/** announcedOf combines what was announced under any of a pin's ids: which of several merged pins is shown can change on the way. */
export function announcedOf(pin: AlertPin, of: (id: string) => Announced | undefined): Announced {
  const all = [pin.id, ...pin.merged].map((id) => of(id) ?? notAnnounced);
  return { ahead: all.some((announced) => announced.ahead), near: all.some((announced) => announced.near) };
}
