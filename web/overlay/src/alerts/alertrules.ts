// Which pins lie ahead of a driver, and which of them are announced (pure). These are the same rules as in the service's
// internal/drive/alerts, for use while the page is offline: internal/drive/alerts/testdata/cases.json tests both, and the Go package documents
// the reasons for the constants.

import { bearing, distance, angleBetween, nearestOnSegment, type Place } from "../geo/geo.ts";

/** Metres: pins that are farther away are not listed, except for those that a driver may drive around. */
export const maxDistance = 2000;
/** Metres: the range of closures and jams. */
export const detourDistance = 3000;
/** The number of pins that are listed. */
export const maxListed = 20;
/** Metres per second: below it a heading is unreliable, nothing is announced and no time of arrival is given. */
export const minSpeed = 2;

const coneAngle = 30; // degrees to each side
const farConeAngle = 15; // degrees to each side, for announcements beyond the ordinary lead
const corridorHalfWidth = 60; // metres to each side
const maxOffAxisAngle = 75; // degrees to each side
const minDistance = 1; // metres
const lineWidth = 30; // metres: a car that is nearer to a pin's line is on it
const maxOppositeAngle = 60; // degrees between the heading and the bearing of a pin that concerns the driver

/** LeadRule determines how far ahead kinds are announced: as far as the car drives in so many seconds, within bounds in metres. */
interface LeadRule {
  seconds: number;
  min: number;
  max: number;
}

const cameraLead: LeadRule = { seconds: 12, min: 150, max: 600 };
const ordinaryLead: LeadRule = { seconds: 15, min: 150, max: 750 };
const detourLead: LeadRule = { seconds: 60, min: 150, max: detourDistance };

const nearCameraShare = 0.4; // share of the lead
const minNearCamera = 100; // metres
const minFirstDistance = 250; // metres: a second stage follows only a first one from farther away,
const minSecondsBetween = 10; // that is so long ago,
const minSecondsLeft = 4; // while the driver has so much time to react to it
const kmhPerMetreSecond = 3.6;

/** AlertStage is the nearness of a pin. Only cameras, closures and jams have the second stage. */
export type AlertStage = "ahead" | "near";

/** FirstAnnouncement is the way in which the first stage was announced. */
export interface FirstAnnouncement {
  /** Metres to the pin when it was announced. */
  distance: number;
  /** Seconds since then. */
  ago: number;
}

/** Announced records which stages of a pin were announced. */
export interface Announced {
  ahead: boolean;
  near: boolean;
  /** null if unknown. */
  first?: FirstAnnouncement | null;
}

/** notAnnounced is the state of a pin without an announcement. */
export const notAnnounced: Announced = { ahead: false, near: false };

/** Car is the car's place and motion. */
export interface Car extends Place {
  /** Degrees clockwise from north; null if unknown. */
  heading: number | null;
  /** Metres per second; null if unknown, and then nothing is announced. */
  speed: number | null;
}

/** AlertPin is a pin in the form that the rules take. */
export interface AlertPin extends Place {
  id: string;
  kind: string;
  /** Width in metres of the zone whose centre is the given place; 0 if the pin is at the place itself. */
  zone: number;
  /** Ids of the pins that are merged into this one. */
  merged: readonly string[];
  /** The pin's line, to which its distance counts. */
  line?: readonly Place[] | null;
  /** Degrees clockwise from north: of the only traffic that the pin concerns. */
  bearing?: number | null;
  /** Kilometres per hour: the limit that a camera enforces; null if unknown. */
  maxSpeed?: number | null;
}

/** ListedAlert is a pin in the corridor ahead. */
export interface ListedAlert<P extends AlertPin = AlertPin> {
  pin: P;
  /** Metres; of a zone, to its edge, and 0 inside it; of a line, to its nearest point ahead, and 0 on it. */
  distance: number;
  /** Degrees clockwise from north. */
  bearing: number;
  stage: AlertStage;
  /** It should be announced unless it is suppressed for another reason. */
  due: boolean;
  /** Metres along the road that leads there; null if the road leads elsewhere; undefined if that is not known. */
  road?: number | null;
}

/** isCamera reports whether a kind is a camera. */
export const isCamera = (kind: string): boolean => kind.startsWith("camera.");
/** isCharger reports whether a kind is a charger. */
export const isCharger = (kind: string): boolean => kind.startsWith("charger.");
/** isDetour reports whether drivers may want to take another road because of a kind. */
export const isDetour = (kind: string): boolean => kind === "alert.road_closed" || kind === "traffic.jam";

/** rangeOf returns the distance in metres up to which a kind is listed. */
export const rangeOf = (kind: string): number => (isDetour(kind) ? detourDistance : maxDistance);

const leadOf = ({ seconds, min, max }: LeadRule, speed: number, share: number): number => share * Math.max(min, Math.min(max, seconds * speed));

/** leadAt returns the distance in metres at which a kind is announced; share is the driver's factor, 0.5 to 2. */
export function leadAt(kind: string, speed: number, share = 1): number {
  return Math.min(rangeOf(kind), leadOf(isCamera(kind) ? cameraLead : isDetour(kind) ? detourLead : ordinaryLead, speed, share));
}

/** ordinaryLeadAt returns the lead in metres of most kinds: nearer pins concern the driver now. */
export function ordinaryLeadAt(speed: number, share = 1): number {
  return leadOf(ordinaryLead, speed, share);
}

/** nearOf returns the distance in metres at which a pin's second stage begins; 0 if it has none. */
export function nearOf({ kind, zone }: Pick<AlertPin, "kind" | "zone">, speed: number, share = 1): number {
  if (zone > 0) return 0; // a second stage would reveal where in the zone the camera is
  if (isCamera(kind)) return Math.max(minNearCamera, nearCameraShare * leadOf(cameraLead, speed, share));
  return isDetour(kind) ? ordinaryLeadAt(speed, share) : 0;
}

/** RoadPlace is the position of a pin along the road. */
export interface RoadPlace {
  /** Metres along the road; of a zone or line, to its beginning. */
  distance: number;
  /** The car is on the pin's line. */
  reached: boolean;
}

/** Along returns where a pin lies along the car's route; null if it does not lie there; undefined if there is no route: direction decides. */
export type Along = (pin: AlertPin) => RoadPlace | null | undefined;

const noRoute: Along = () => undefined;

/**
 * listAhead returns the pins ahead, nearest first. If there are too many, the nearest that are due and then the nearest others are
 * kept. Without a heading it returns the pins around, none of them due. announced returns which stages of a pin were announced; share
 * is the driver's factor on the lead.
 */
export function listAhead<P extends AlertPin>(car: Car, pins: readonly P[], announced: (pin: P) => Announced, share = 1, along: Along = noRoute): ListedAlert<P>[] {
  const all: ListedAlert<P>[] = [];
  for (const pin of pins) {
    const alert = alertOf(car, pin, announced, share, isCharger(pin.kind) ? undefined : along(pin));
    if (alert !== null) all.push(alert);
  }
  // Array sort is stable since Chromium 70: pins at equal distances keep their order.
  all.sort((a, b) => a.distance - b.distance);
  let due = Math.min(maxListed, all.filter((alert) => alert.due).length);
  let others = maxListed - due;
  return all.filter((alert) => (alert.due ? due-- : others--) > 0);
}

function alertOf<P extends AlertPin>(car: Car, pin: P, announced: (pin: P) => Announced, share: number, road: RoadPlace | null | undefined): ListedAlert<P> | null {
  const seen = road === undefined ? see(car, pin) : road && { ...seePlace(car, pin), ...road, isOnRoad: true };
  if (seen === null || seen.distance > rangeOf(pin.kind)) return null;
  const near = nearOf(pin, car.speed ?? 0, share);
  const stage = near > 0 && seen.distance <= near ? "near" : "ahead";
  return { pin, distance: seen.distance, bearing: seen.bearing, stage, ...(road && { road: road.distance }), due: isDue(car, pin, seen, stage, announced(pin), share) };
}

/** Seen is the position of a pin relative to the car. */
interface Seen {
  /** Metres; of a zone, to its edge, and 0 inside it; 0 on a line. */
  distance: number;
  /** Metres to the pin's place, or to the point of its line. */
  toCentre: number;
  /** Degrees clockwise from north. */
  bearing: number;
  /** The car is on the pin's line. */
  reached: boolean;
  /** The car's route leads there: no direction needs to be compared. */
  isOnRoad?: boolean;
}

function seePlace(car: Place, place: Place): Seen {
  const metres = distance(car, place);
  return { distance: metres, toCentre: metres, bearing: bearing(car, place), reached: false };
}

/** see returns where a pin lies; null if it is not ahead. */
function see(car: Car, pin: AlertPin): Seen | null {
  const isAhead = (seen: Seen): boolean => car.heading === null || isInCorridor(car.heading, seen, pin.zone / 2, coneAngle);
  if (pin.line && pin.line.length > 1) return nearestOnLine(car, pin.line, isAhead);
  const seen = seePlace(car, pin);
  const toEdge = { ...seen, distance: Math.max(0, seen.toCentre - pin.zone / 2) };
  return isAhead(toEdge) ? toEdge : null;
}

/** nearestOnLine looks at the nearest point of each segment and returns the nearest of them that fits; null if none does. */
export function nearestOnLine(car: Place, line: readonly Place[], fits: (seen: Seen) => boolean): Seen | null {
  let best: Seen | null = null;
  let from: Place | null = null;
  for (const to of line) {
    if (from !== null) {
      const seen = seePlace(car, nearestOnSegment(car, from, to));
      if (seen.toCentre <= lineWidth) return { ...seen, distance: 0, reached: true };
      if ((best === null || seen.toCentre < best.toCentre) && fits(seen)) best = seen;
    }
    from = to;
  }
  return best;
}

/** isInCorridor reports whether a pin lies in the corridor ahead, whose cone has an angle; the radius of a zone widens the corridor. */
function isInCorridor(heading: number, { toCentre, bearing: bearingToPin }: Seen, zoneRadius: number, cone: number): boolean {
  if (zoneRadius > 0 && toCentre <= zoneRadius) return true;
  if (toCentre < minDistance) return false;
  const off = Math.abs(angleBetween(heading, bearingToPin));
  return off <= cone || (off <= maxOffAxisAngle && toCentre * Math.sin((off * Math.PI) / 180) <= corridorHalfWidth + zoneRadius);
}

function isDue(car: Car, pin: AlertPin, seen: Seen, stage: AlertStage, announced: Announced, share: number): boolean {
  const speed = car.speed ?? 0;
  if (car.heading === null || speed < minSpeed || seen.reached || isCharger(pin.kind) || seen.distance > leadAt(pin.kind, speed, share)) return false;
  // From far away most pins beside the heading lie on other roads. Those on this road come into the narrow cone, or near.
  if (seen.isOnRoad !== true && seen.distance > ordinaryLeadAt(speed, share) && !isInCorridor(car.heading, seen, pin.zone / 2, farConeAngle)) return false;
  // The near distance varies with the speed: after the near stage was announced, the first one is not announced any more.
  if (announced.near || (announced.ahead && stage === "ahead")) return false;
  if (seen.isOnRoad !== true && typeof pin.bearing === "number" && Math.abs(angleBetween(car.heading, pin.bearing)) > maxOppositeAngle) return false;
  return !announced.ahead || isRepeated(pin, seen.distance, speed, announced.first ?? null, share);
}

/**
 * isRepeated reports whether a pin that was announced is announced a second time, now that it is near: if the first announcement was
 * early enough to be forgotten, or if the car is too fast for a camera.
 */
function isRepeated({ kind, maxSpeed }: AlertPin, metres: number, speed: number, first: FirstAnnouncement | null, share: number): boolean {
  if (isCamera(kind) && typeof maxSpeed === "number" && maxSpeed > 0 && speed * kmhPerMetreSecond > maxSpeed) return true;
  const lead = leadAt(kind, speed, share);
  const { distance: from, ago } = first ?? { distance: lead, ago: (lead - metres) / speed };
  return from > minFirstDistance && ago >= minSecondsBetween && metres >= minSecondsLeft * speed;
}

/** firstDue returns the nearest pin that is due and not suppressed. */
export function firstDue<P extends AlertPin>(listed: readonly ListedAlert<P>[], silent: (pin: P) => boolean): ListedAlert<P> | null {
  return listed.find((alert) => alert.due && !silent(alert.pin)) ?? null;
}

/** secondsTo returns the time in seconds to a distance in metres; null if the car is too slow or its speed is unknown. */
export function secondsTo(metres: number, speed: number | null): number | null {
  return speed === null || speed < minSpeed ? null : metres / speed;
}

// The end of the key of a second stage. Neither it nor the separator needs escaping in a query, and no id contains the separator.
const nearSuffix = "near";
const keySeparator = "~";

/** keyOf returns the key by which the page names an announcement to the service; first is for the first stage. */
export function keyOf(id: string, stage: AlertStage, first: FirstAnnouncement | null = null): string {
  if (stage === "near") return [id, nearSuffix].join(keySeparator);
  return first === null ? id : [id, first.distance.toFixed(1), first.ago.toFixed(1)].join(keySeparator);
}

/** parseKey reverses keyOf. Invalid figures count as none. */
export function parseKey(key: string): { id: string; stage: AlertStage; first: FirstAnnouncement | null } {
  const [id = "", metres = "", seconds = ""] = key.split(keySeparator);
  if (metres === nearSuffix) return { id, stage: "near", first: null };
  const first = { distance: Number(metres), ago: Number(seconds) };
  const isValid = metres !== "" && seconds !== "" && first.distance >= 0 && first.ago >= 0;
  return { id, stage: "ahead", first: isValid ? first : null };
}

/** announcedOf combines the announcements under any of a pin's ids: which of several merged pins is shown can change during the drive. */
export function announcedOf(pin: AlertPin, of: (id: string) => Announced | undefined): Announced {
  const all = [pin.id, ...pin.merged].map((id) => of(id) ?? notAnnounced);
  let first: FirstAnnouncement | null = null;
  for (const one of all) if (one.first && (first === null || one.first.ago < first.ago)) first = one.first;
  return { ahead: all.some((announced) => announced.ahead), near: all.some((announced) => announced.near), first };
}
