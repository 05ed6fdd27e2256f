// Which alert is announced now, and what the banner says: state goes in, state comes out (pure).
//
// Times are milliseconds of a clock that never jumps (performance.now).

import { firstDue, keyOf, listAhead, maxDistance, announcedOf } from "./alertrules.ts";
import type { Car, AlertPin, ListedAlert, AlertStage, Announced } from "./alertrules.ts";
import { bearing, distance, angleBetween, type Place } from "./geo.ts";

/** Between two announcements lie so many milliseconds, at least. */
const minGap = 5000;
/** What was announced is forgotten after so many milliseconds. */
const forgetAfter = 2 * 60 * 60 * 1000;
/** What was announced is forgotten when the car is so many metres away. */
const forgetDistance = 5000;
/** No more is remembered, whatever happens; the oldest goes first. */
const maxAnnouncedPins = 500;
/** A banner waits so long for a pin that the corridor lost, before it takes it that the driver has turned off. */
const turnOffTimeout = 3000;

/** AnnouncedPin is what the driver was told of one pin. */
interface AnnouncedPin {
  announced: Announced;
  place: Place;
  at: number;
}

/** ActiveAnnouncement is an announcement whose pin has not been passed yet. */
interface ActiveAnnouncement {
  id: string;
  stage: AlertStage;
  /** When its pin was last seen ahead. */
  seenAt: number;
}

/** Announcer is all that is remembered between two steps. Begin with `quiet`. */
export interface Announcer {
  /** By id, the oldest first. */
  announcedPins: ReadonlyMap<string, AnnouncedPin>;
  /** When something was last announced. */
  announcedAt: number;
  /** The latest last. */
  active: readonly ActiveAnnouncement[];
}

export const initialAnnouncer: Announcer = { announcedPins: new Map(), announcedAt: -Infinity, active: [] };

/** Banner is what is shown of the announcement that matters now. */
export interface Banner<P extends AlertPin> {
  pin: P;
  /** Metres; of a zone, to its edge. */
  distance: number;
  stage: AlertStage;
}

/** AnnouncerInput is what a step is told. */
export interface AnnouncerInput<P extends AlertPin> {
  now: number;
  /** null: unknown where. */
  car: Car | null;
  /** All pins that are known and shown; one that is missing is gone. */
  pins: readonly P[];
  /** Ids of pins on which the driver has voted. */
  voted: ReadonlySet<string>;
  /** Ids of the pins that the service chose to have announced; null: the page chooses for itself. */
  chosen: ReadonlySet<string> | null;
  /** The driver's share of the lead. */
  lead: number;
}

/** AnnouncerResult is what a step comes to. */
export interface AnnouncerResult<P extends AlertPin> {
  next: Announcer;
  /** What lies ahead, nearest first. */
  listed: ListedAlert<P>[];
  /** To be announced now, with a tone if the driver wants one; null: nothing. */
  announce: ListedAlert<P> | null;
  banner: Banner<P> | null;
}

/** step is called with each fix, and once a second besides. */
export function step<P extends AlertPin>(before: Announcer, input: AnnouncerInput<P>): AnnouncerResult<P> {
  const { now, car, voted, chosen } = input;
  if (car === null) return { next: { ...before, active: [] }, listed: [], announce: null, banner: null };
  const announcedPins = pruned(before.announcedPins, now, car);
  const listed = listAhead(car, input.pins, (pin) => announcedOf(pin, (id) => announcedPins.get(id)?.announced), input.lead);
  const silent = (pin: P): boolean => hasAnyID(pin, voted) || (chosen !== null && !hasAnyID(pin, chosen));
  const announce = now - before.announcedAt < minGap ? null : firstDue(listed, silent);
  const active = keepActive(before.active, listed, car, input);
  let next: Announcer = { announcedPins, announcedAt: before.announcedAt, active };
  if (announce !== null) next = recordAnnouncement(next, announce, now);
  return { next, listed, announce, banner: bannerOf(next, listed, car, input) };
}

function recordAnnouncement(before: Announcer, { pin, stage }: ListedAlert, now: number): Announcer {
  const others = before.active.filter(({ id }) => id !== pin.id);
  return { announcedPins: withAnnounced(before.announcedPins, pin, stage, now), announcedAt: now, active: [...others, { id: pin.id, stage, seenAt: now }] };
}

const hasID = (pin: AlertPin, id: string): boolean => pin.id === id || pin.merged.includes(id);

const hasAnyID = (pin: AlertPin, ids: ReadonlySet<string>): boolean => ids.has(pin.id) || pin.merged.some((id) => ids.has(id));

/** pruned leaves out what may be forgotten. */
function pruned(announcedPins: ReadonlyMap<string, AnnouncedPin>, now: number, car: Place): ReadonlyMap<string, AnnouncedPin> {
  const keep = [...announcedPins].filter(([, { place, at }]) => now - at <= forgetAfter && distance(car, place) <= forgetDistance);
  return keep.length === announcedPins.size ? announcedPins : new Map(keep);
}

function withAnnounced(announcedPins: ReadonlyMap<string, AnnouncedPin>, pin: AlertPin, stage: AlertStage, now: number): ReadonlyMap<string, AnnouncedPin> {
  const announced = { ...announcedOf(pin, (id) => announcedPins.get(id)?.announced), [stage]: true };
  const all = [...announcedPins].filter(([id]) => id !== pin.id);
  all.push([pin.id, { announced, place: { lat: pin.lat, lng: pin.lng }, at: now }]);
  return new Map(all.slice(-maxAnnouncedPins));
}

/** keepActive drops the announcements whose pins are gone, passed, left behind or voted on. */
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

/** distanceTo is the distance in metres; of a zone, to its edge. */
const distanceTo = (pin: AlertPin, car: Car): number => Math.max(0, distance(car, pin) - pin.zone / 2);

/** isPassed says whether the pin lies behind; of a zone, whether the car has left it. */
function isPassed(pin: AlertPin, car: Car): boolean {
  const away = distanceTo(pin, car);
  if (away > maxDistance) return true;
  if (car.heading === null || (pin.zone > 0 && away === 0)) return false;
  return Math.abs(angleBetween(car.heading, bearing(car, pin))) > 90;
}

/** bannerOf shows the latest while its tone is fresh, and then the nearest. */
function bannerOf<P extends AlertPin>({ active, announcedAt }: Announcer, listed: readonly ListedAlert<P>[], car: Car, input: AnnouncerInput<P>): Banner<P> | null {
  const all: Banner<P>[] = [];
  for (const one of active) {
    const pin = input.pins.find((other) => other.id === one.id);
    if (pin === undefined) continue;
    const stage = listed.find((alert) => alert.pin === pin)?.stage ?? one.stage;
    all.push({ pin, distance: distanceTo(pin, car), stage });
  }
  if (input.now - announcedAt >= minGap) all.sort((a, b) => b.distance - a.distance);
  return all[all.length - 1] ?? null;
}

/** dismiss takes the banner of a pin away; it is not announced again. */
export function dismiss(before: Announcer, id: string): Announcer {
  return { ...before, active: before.active.filter((one) => one.id !== id) };
}

/** seenKeys is what the service is told in `seen`: the latest, the latest first. */
export function seenKeys(announcer: Announcer, most: number): string[] {
  const keys: string[] = [];
  for (const [id, { announced }] of [...announcer.announcedPins].reverse()) {
    if (announced.near) keys.push(keyOf(id, "near"));
    if (announced.ahead) keys.push(keyOf(id, "ahead"));
  }
  return keys.slice(0, most);
}
