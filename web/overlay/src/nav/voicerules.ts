// Decides when announcements of the service are spoken, and the tones for their directions (pure).

import type { Note } from "../alerts/alertsounds.ts";
import type { LineStep, RouteLine } from "./routeline.ts";
import type { Voice } from "./types.ts";

/** Announcement is an announcement of the service on the line of a route. */
export interface Announcement {
  /** Unique within the route. */
  key: string;
  voice: Voice;
  /** Number of the step on which it is said; its maneuver is at the end of it. */
  step: number;
  /** Metres from the start of the route: where it is due, and where its maneuver is. */
  due: number;
  maneuver: number;
  /** It is the last one before the maneuver, which does not depend on the distance. */
  isFinal: boolean;
  /** It is about the road that begins, not about the maneuver at its end. */
  isOpening: boolean;
}

/** announcementsOf lists all announcements of a route in their order. */
export function announcementsOf({ steps }: Pick<RouteLine, "steps">): Announcement[] {
  return steps.flatMap((step, number) => {
    const all = step.step.voiceInstructions ?? [];
    return all.map((voice, i) => ({
      key: `${String(number)}:${String(i)}`,
      voice,
      step: number,
      due: Math.max(step.start, step.end - voice.distanceAlongGeometry),
      maneuver: step.end,
      isFinal: i === all.length - 1,
      isOpening: i === 0 && all.length > 1 && voice.distanceAlongGeometry >= step.step.distance - 1,
    }));
  });
}

/** Share of its distance by which an announcement may be late: the driver looks at the distance that it names. */
const maxLate = 0.2;
/** Metres, and seconds at the car's speed, after which it is no use to tell of the road that began. */
const openingReach = { metres: 60, seconds: 4 };

/** isStale reports whether an announcement is no longer right at so many metres of the route. */
export function isStale({ due, maneuver, isFinal, isOpening, voice }: Announcement, metres: number, speed: number): boolean {
  if (metres >= maneuver) return true;
  if (isOpening) return metres - due > openingReach.metres + openingReach.seconds * speed;
  if (isFinal) return false;
  return maneuver - metres < (1 - maxLate) * voice.distanceAlongGeometry - speed; // a fix comes each second
}

/** Due lists the announcements that are due at one moment. */
export interface Due {
  announce: Announcement | null;
  /** Keys of announcements that are over: said, or too late. */
  over: string[];
}

/** dueAt returns the latest announcement that is due at so many metres and was not dealt with yet. Those before it are over. */
export function dueAt(all: readonly Announcement[], metres: number, speed: number, over: ReadonlySet<string>): Due {
  const passed = all.filter((one) => one.due <= metres && !over.has(one.key));
  const last = passed[passed.length - 1];
  return { announce: last === undefined || isStale(last, metres, speed) ? null : last, over: passed.map(({ key }) => key) };
}

/** secondsToNext returns the seconds until the next announcement, and until the next maneuver, at the car's speed; Infinity without one. */
export function secondsToNext(line: Pick<RouteLine, "steps">, all: readonly Announcement[], metres: number, speed: number): { announcement: number; maneuver: number } {
  const seconds = (at: number | undefined): number => (at === undefined ? Infinity : (at - metres) / Math.max(1, speed));
  return {
    announcement: seconds(all.find(({ due }) => due > metres)?.due),
    maneuver: seconds(line.steps.find(({ end }) => end > metres)?.end),
  };
}

const charactersPerSecond = 14;

/** spokenSeconds estimates how long it takes to say a text. */
export const spokenSeconds = (text: string): number => 0.5 + text.length / charactersPerSecond;

const [low, middle, high] = [392, 523.25, 783.99]; // Hertz

const rising: readonly Note[] = [note(low, 0), note(high, 0.2, 0.35)];
const falling: readonly Note[] = [note(high, 0), note(low, 0.2, 0.35)];
const level: readonly Note[] = [note(middle, 0, 0.35)];
const turning: readonly Note[] = [note(high, 0), note(low, 0.18), note(high, 0.36), note(low, 0.54, 0.35)];
const arriving: readonly Note[] = [note(low, 0), note(middle, 0.18), note(high, 0.36, 0.5)];

function note(pitch: number, startsAt: number, duration = 0.16): Note {
  return { pitch, startsAt, duration };
}

/** toneOf returns the notes for the maneuver that a step begins with: rising is right, falling is left. */
export function toneOf(step: LineStep | undefined): readonly Note[] {
  const { type, modifier } = step?.step.maneuver ?? { type: "", modifier: undefined };
  if (type === "arrive") return arriving;
  if (modifier === "uturn") return turning;
  if (modifier?.endsWith("right") === true) return rising;
  return modifier?.endsWith("left") === true ? falling : level;
}
