// A state machine that decides which alert is announced now and what the banner shows (pure).
//
// Times are milliseconds of a monotonic clock (performance.now).

import { firstDue, keyOf, listAhead, detourDistance, announcedOf, nearestOnLine } from "./alertrules.ts";
import type { Along, Car, AlertPin, ListedAlert, AlertStage, Announced, FirstAnnouncement } from "./alertrules.ts";
import { bearing, distance, angleBetween, type Place } from "../geo/geo.ts";

/** Milliseconds between two announcements, at least. */
const minGap = 5000;
/** Milliseconds after which an announcement is forgotten. */
const forgetAfter = 2 * 60 * 60 * 1000;
/** Metres from the pin at which its announcement is forgotten. */
const forgetDistance = 5000;
/** The number of announced pins that are remembered; the oldest are dropped first. */
const maxAnnouncedPins = 500;
/** Milliseconds for which the banner stays after its pin left the corridor; then the driver is assumed to have turned off. */
const turnOffTimeout = 3000;
/** Metres: a driver who is farther away when a pin lies behind has not driven past it. */
const passedDistance = 100;

/** AnnouncedPin records the announcements of one pin. */
interface AnnouncedPin {
  announced: Announced;
  place: Place;
  at: number;
  /** The first stage: metres to the pin when it was announced, and when; null if it was not announced. */
  first: { distance: number; at: number } | null;
}

/** ActiveAnnouncement is an announcement whose pin has not been passed yet. */
interface ActiveAnnouncement {
  id: string;
  stage: AlertStage;
  /** When its pin was last in the corridor. */
  seenAt: number;
}

/** Announcer is the state between two steps. Start with `initialAnnouncer`. */
export interface Announcer {
  /** By id, the oldest first. */
  announcedPins: ReadonlyMap<string, AnnouncedPin>;
  /** When something was last announced. */
  announcedAt: number;
  /** The latest is last. */
  active: readonly ActiveAnnouncement[];
}

/** initialAnnouncer is the state before the first step. */
export const initialAnnouncer: Announcer = { announcedPins: new Map(), announcedAt: -Infinity, active: [] };

/** Banner is the content of the banner: the most relevant announcement. */
export interface Banner<P extends AlertPin> {
  pin: P;
  /** Metres; of a zone, to its edge. */
  distance: number;
  stage: AlertStage;
}

/** AnnouncerInput is the input of one step. */
export interface AnnouncerInput<P extends AlertPin> {
  now: number;
  /** null if the position is unknown. */
  car: Car | null;
  /** All visible pins; a pin that is missing no longer exists. */
  pins: readonly P[];
  /** Ids of the pins on which the driver has voted. */
  voted: ReadonlySet<string>;
  /** Ids of the pins that are not announced now for another reason. */
  suppressed: ReadonlySet<string>;
  /** Ids of the pins that the service allows to be announced; null if the page decides alone. */
  chosen: ReadonlySet<string> | null;
  /** The driver's factor on the lead. */
  lead: number;
  /** Where a pin lies along the car's route. */
  along?: Along;
}

/** AnnouncerResult is the output of one step. */
export interface AnnouncerResult<P extends AlertPin> {
  next: Announcer;
  /** The pins ahead, nearest first. */
  listed: ListedAlert<P>[];
  /** The pin to announce now; null if there is none. */
  announce: ListedAlert<P> | null;
  banner: Banner<P> | null;
  /** The announced pin that the car has just driven past, or whose line it has just reached; null if there is none. */
  passed: P | null;
}

/** step runs with each fix and once a second. */
export function step<P extends AlertPin>(before: Announcer, input: AnnouncerInput<P>): AnnouncerResult<P> {
  const { now, car, voted, suppressed, chosen } = input;
  if (car === null) return { next: { ...before, active: [] }, listed: [], announce: null, banner: null, passed: null };
  const announcedPins = pruned(before.announcedPins, now, car);
  const listed = listAhead(car, input.pins, (pin) => announcedOf(pin, (id) => announcedBefore(announcedPins.get(id), now)), input.lead, input.along);
  const silent = (pin: P): boolean => hasAnyID(pin, voted) || hasAnyID(pin, suppressed) || (chosen !== null && !hasAnyID(pin, chosen));
  const announce = now - before.announcedAt < minGap ? null : firstDue(listed, silent);
  const active = keepActive(before.active, listed, car, input);
  let next: Announcer = { announcedPins, announcedAt: before.announcedAt, active };
  if (announce !== null) next = recordAnnouncement(next, announce, now);
  return { next, listed, announce, banner: bannerOf(next, listed, car, input), passed: passedOf(before.active, car, input) };
}

/** announcedBefore returns the earlier announcements of a pin, with the time since then. */
function announcedBefore(pin: AnnouncedPin | undefined, now: number): Announced | undefined {
  return pin && { ...pin.announced, first: firstOf(pin, now) };
}

const firstOf = ({ first }: AnnouncedPin, now: number): FirstAnnouncement | null => first && { distance: first.distance, ago: (now - first.at) / 1000 };

/** passedOf returns the latest active pin that the car has driven past since the last step. */
function passedOf<P extends AlertPin>(active: readonly ActiveAnnouncement[], car: Car, { pins, voted }: AnnouncerInput<P>): P | null {
  for (const one of [...active].reverse()) {
    const pin = pins.find((other) => hasID(other, one.id));
    if (pin !== undefined && !hasAnyID(pin, voted) && isPassed(pin, car) && distanceTo(pin, car) <= passedDistance) return pin;
  }
  return null;
}

function recordAnnouncement(before: Announcer, alert: ListedAlert, now: number): Announcer {
  const { pin, stage } = alert;
  const others = before.active.filter(({ id }) => id !== pin.id);
  return { announcedPins: withAnnounced(before.announcedPins, alert, now), announcedAt: now, active: [...others, { id: pin.id, stage, seenAt: now }] };
}

const hasID = (pin: AlertPin, id: string): boolean => pin.id === id || pin.merged.includes(id);

const hasAnyID = (pin: AlertPin, ids: ReadonlySet<string>): boolean => ids.has(pin.id) || pin.merged.some((id) => ids.has(id));

/** pruned drops expired entries. */
function pruned(announcedPins: ReadonlyMap<string, AnnouncedPin>, now: number, car: Place): ReadonlyMap<string, AnnouncedPin> {
  const keep = [...announcedPins].filter(([, { place, at }]) => now - at <= forgetAfter && distance(car, place) <= forgetDistance);
  return keep.length === announcedPins.size ? announcedPins : new Map(keep);
}

function withAnnounced(announcedPins: ReadonlyMap<string, AnnouncedPin>, { pin, stage, distance: metres }: ListedAlert, now: number): ReadonlyMap<string, AnnouncedPin> {
  const announced = { ...announcedOf(pin, (id) => announcedPins.get(id)?.announced), [stage]: true };
  const all = [...announcedPins].filter(([id]) => id !== pin.id);
  const first = stage === "ahead" ? { distance: metres, at: now } : (announcedPins.get(pin.id)?.first ?? null);
  all.push([pin.id, { announced, place: { lat: pin.lat, lng: pin.lng }, at: now, first }]);
  return new Map(all.slice(-maxAnnouncedPins));
}

/** keepActive drops the announcements whose pins no longer exist, were passed or voted on, or whose road the driver has left. */
function keepActive<P extends AlertPin>(active: readonly ActiveAnnouncement[], listed: readonly ListedAlert<P>[], car: Car, input: AnnouncerInput<P>): ActiveAnnouncement[] {
  const on: ActiveAnnouncement[] = [];
  for (const one of active) {
    const pin = input.pins.find((other) => hasID(other, one.id));
    if (pin === undefined || hasAnyID(pin, input.voted) || isPassed(pin, car)) continue;
    const seenAt = listed.some((alert) => alert.pin === pin) ? input.now : one.seenAt;
    if (input.now - seenAt < turnOffTimeout) on.push({ id: pin.id, stage: one.stage, seenAt });
  }
  return on;
}

/** distanceTo returns the distance in metres; of a zone, to its edge; of a line, to its nearest point. */
function distanceTo(pin: AlertPin, car: Car): number {
  if (pin.line && pin.line.length > 1) return nearestOnLine(car, pin.line, () => true)?.distance ?? 0;
  return Math.max(0, distance(car, pin) - pin.zone / 2);
}

/** isPassed reports whether the pin lies behind; of a zone, whether the car has left it; of a line, whether the car has reached it. */
function isPassed(pin: AlertPin, car: Car): boolean {
  const { heading } = car;
  if (pin.line && pin.line.length > 1) {
    const ahead = nearestOnLine(car, pin.line, (seen) => heading === null || Math.abs(angleBetween(heading, seen.bearing)) <= 90);
    return ahead === null || ahead.reached || ahead.distance > detourDistance;
  }
  const away = distanceTo(pin, car);
  if (away > detourDistance) return true;
  if (heading === null || (pin.zone > 0 && away === 0)) return false;
  return Math.abs(angleBetween(heading, bearing(car, pin))) > 90;
}

/** bannerOf shows the latest announcement for the minimum gap, and then the nearest one. */
function bannerOf<P extends AlertPin>({ active, announcedAt }: Announcer, listed: readonly ListedAlert<P>[], car: Car, input: AnnouncerInput<P>): Banner<P> | null {
  const all: Banner<P>[] = [];
  for (const one of active) {
    const pin = input.pins.find((other) => other.id === one.id);
    if (pin === undefined) continue;
    const alert = listed.find((other) => other.pin === pin);
    all.push({ pin, distance: alert?.distance ?? distanceTo(pin, car), stage: alert?.stage ?? one.stage });
  }
  if (input.now - announcedAt >= minGap) all.sort((a, b) => b.distance - a.distance);
  return all[all.length - 1] ?? null;
}

/** dismiss hides the banner of a pin, which is not announced again. */
export function dismiss(before: Announcer, id: string): Announcer {
  return { ...before, active: before.active.filter((one) => one.id !== id) };
}

/** seenKeys returns the value of the query parameter `seen`: keys of announcements, the latest first. */
export function seenKeys(announcer: Announcer, most: number, now: number): string[] {
  const keys: string[] = [];
  for (const [id, pin] of [...announcer.announcedPins].reverse()) {
    if (pin.announced.near) keys.push(keyOf(id, "near"));
    if (pin.announced.ahead) keys.push(keyOf(id, "ahead", firstOf(pin, now)));
  }
  return keys.slice(0, most);
}
