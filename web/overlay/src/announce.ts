// Which alert is announced now, and what the banner says: state goes in, state comes out (pure).
//
// Times are milliseconds of a clock that never jumps (performance.now).

import { firstDue, keyOf, look, range, toldOf } from "./ahead.ts";
import type { Car, PinAhead, Sight, Stage, Told } from "./ahead.ts";
import { bearing, distance, turn, type Place } from "./geo.ts";

/** Between two announcements lie so many milliseconds, at least. */
const pause = 5000;
/** What was announced is forgotten after so many milliseconds. */
const forgetAfter = 2 * 60 * 60 * 1000;
/** What was announced is forgotten when the car is so many metres away. */
const forgetBeyond = 5000;
/** No more is remembered, whatever happens; the oldest goes first. */
const mostMemories = 500;
/** A banner waits so long for a pin that the corridor lost, before it takes it that the driver has turned off. */
const patience = 3000;

/** Memory is what the driver was told of one pin. */
interface Memory {
  told: Told;
  place: Place;
  at: number;
}

/** Running is an announcement whose pin has not been passed yet. */
interface Running {
  id: string;
  stage: Stage;
  /** When its pin was last seen ahead. */
  seenAt: number;
}

/** Announcer is all that is remembered between two steps. Begin with `quiet`. */
export interface Announcer {
  /** By id, the oldest first. */
  memories: ReadonlyMap<string, Memory>;
  /** When something was last announced. */
  spokeAt: number;
  /** The latest last. */
  running: readonly Running[];
}

export const quiet: Announcer = { memories: new Map(), spokeAt: -Infinity, running: [] };

/** Banner is what is shown of the announcement that matters now. */
export interface Banner<P extends PinAhead> {
  pin: P;
  /** Metres; of a zone, to its edge. */
  distance: number;
  stage: Stage;
}

/** Look is what a step is told. */
export interface Look<P extends PinAhead> {
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

/** Outcome is what a step comes to. */
export interface Outcome<P extends PinAhead> {
  next: Announcer;
  /** What lies ahead, nearest first. */
  sights: Sight<P>[];
  /** To be announced now, with a tone if the driver wants one; null: nothing. */
  announce: Sight<P> | null;
  banner: Banner<P> | null;
}

/** step is called with each fix, and once a second besides. */
export function step<P extends PinAhead>(before: Announcer, input: Look<P>): Outcome<P> {
  const { now, car, voted, chosen } = input;
  if (car === null) return { next: { ...before, running: [] }, sights: [], announce: null, banner: null };
  const memories = remembered(before.memories, now, car);
  const sights = look(car, input.pins, (pin) => toldOf(pin, (id) => memories.get(id)?.told), input.lead);
  const silent = (pin: P): boolean => isIn(pin, voted) || (chosen !== null && !isIn(pin, chosen));
  const announce = now - before.spokeAt < pause ? null : firstDue(sights, silent);
  const running = goOn(before.running, sights, car, input);
  let next: Announcer = { memories, spokeAt: before.spokeAt, running };
  if (announce !== null) next = speak(next, announce, now);
  return { next, sights, announce, banner: bannerOf(next, sights, car, input) };
}

function speak(before: Announcer, { pin, stage }: Sight, now: number): Announcer {
  const others = before.running.filter(({ id }) => id !== pin.id);
  return { memories: remember(before.memories, pin, stage, now), spokeAt: now, running: [...others, { id: pin.id, stage, seenAt: now }] };
}

const isOf = (pin: PinAhead, id: string): boolean => pin.id === id || pin.merged.includes(id);

const isIn = (pin: PinAhead, ids: ReadonlySet<string>): boolean => ids.has(pin.id) || pin.merged.some((id) => ids.has(id));

/** remembered leaves out what may be forgotten. */
function remembered(memories: ReadonlyMap<string, Memory>, now: number, car: Place): ReadonlyMap<string, Memory> {
  const keep = [...memories].filter(([, { place, at }]) => now - at <= forgetAfter && distance(car, place) <= forgetBeyond);
  return keep.length === memories.size ? memories : new Map(keep);
}

function remember(memories: ReadonlyMap<string, Memory>, pin: PinAhead, stage: Stage, now: number): ReadonlyMap<string, Memory> {
  const told = { ...toldOf(pin, (id) => memories.get(id)?.told), [stage]: true };
  const all = [...memories].filter(([id]) => id !== pin.id);
  all.push([pin.id, { told, place: { lat: pin.lat, lng: pin.lng }, at: now }]);
  return new Map(all.slice(-mostMemories));
}

/** goOn drops the announcements whose pins are gone, passed, left behind or voted on. */
function goOn<P extends PinAhead>(running: readonly Running[], sights: readonly Sight<P>[], car: Car, input: Look<P>): Running[] {
  const on: Running[] = [];
  for (const one of running) {
    const pin = input.pins.find((other) => isOf(other, one.id));
    if (pin === undefined || isIn(pin, input.voted) || isPassed(pin, car)) continue;
    const seenAt = sights.some((sight) => sight.pin === pin) ? input.now : one.seenAt;
    if (input.now - seenAt < patience) on.push({ id: pin.id, stage: one.stage, seenAt });
  }
  return on;
}

/** awayFrom is the distance in metres; of a zone, to its edge. */
const awayFrom = (pin: PinAhead, car: Car): number => Math.max(0, distance(car, pin) - pin.zone / 2);

/** isPassed says whether the pin lies behind; of a zone, whether the car has left it. */
function isPassed(pin: PinAhead, car: Car): boolean {
  const away = awayFrom(pin, car);
  if (away > range) return true;
  if (car.heading === null || (pin.zone > 0 && away === 0)) return false;
  return Math.abs(turn(car.heading, bearing(car, pin))) > 90;
}

/** bannerOf shows the latest while its tone is fresh, and then the nearest. */
function bannerOf<P extends PinAhead>({ running, spokeAt }: Announcer, sights: readonly Sight<P>[], car: Car, input: Look<P>): Banner<P> | null {
  const all: Banner<P>[] = [];
  for (const one of running) {
    const pin = input.pins.find((other) => other.id === one.id);
    if (pin === undefined) continue;
    const stage = sights.find((sight) => sight.pin === pin)?.stage ?? one.stage;
    all.push({ pin, distance: awayFrom(pin, car), stage });
  }
  if (input.now - spokeAt >= pause) all.sort((a, b) => b.distance - a.distance);
  return all[all.length - 1] ?? null;
}

/** dismiss takes the banner of a pin away; it is not announced again. */
export function dismiss(before: Announcer, id: string): Announcer {
  return { ...before, running: before.running.filter((one) => one.id !== id) };
}

/** seenKeys is what the service is told in `seen`: the latest, the latest first. */
export function seenKeys(announcer: Announcer, most: number): string[] {
  const keys: string[] = [];
  for (const [id, { told }] of [...announcer.memories].reverse()) {
    if (told.near) keys.push(keyOf(id, "near"));
    if (told.ahead) keys.push(keyOf(id, "ahead"));
  }
  return keys.slice(0, most);
}
