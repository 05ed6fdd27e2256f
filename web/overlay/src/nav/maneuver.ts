// The driver's next maneuver (pure).

import { segmentAt, type LineStep, type RouteLine } from "./routeline.ts";
import type { BannerLine, Component, Maneuver } from "./types.ts";

/** Upcoming is a maneuver ahead. */
export interface Upcoming {
  /** Number of the step that begins with it. */
  index: number;
  /** Metres from the car. */
  distance: number;
  maneuver: Maneuver;
  /** The service's banner of it. */
  primary: BannerLine | null;
  secondary: BannerLine | null;
  /** Reference numbers of the road behind it, such as "A 2". */
  refs: readonly string[];
  /** Number of the exit of a motorway. */
  exit: string;
  drivingSide: "left" | "right";
}

/** Ahead is the content of the maneuver panel at one moment. */
export interface Ahead {
  /** null at the end. */
  next: Upcoming | null;
  /** The one that follows so shortly after that the driver needs to know both. */
  after: Upcoming | null;
  /** Lanes before the next one, from left to right; none while it is far. */
  lanes: readonly Component[];
}

const shortlyAfter = 300; // metres

/** stepAt returns the number of the step that the car is on; maneuvers are at the ends of steps. */
export function stepAt({ steps }: Pick<RouteLine, "steps">, metres: number): number {
  for (let i = 0; i < steps.length; i++) if ((steps[i]?.end ?? 0) > metres) return i;
  return Math.max(0, steps.length - 1);
}

/** aheadAt returns the maneuvers ahead at so many metres of the route. */
export function aheadAt(line: Pick<RouteLine, "steps">, metres: number): Ahead {
  const at = stepAt(line, metres);
  const next = upcoming(line.steps, at + 1, metres);
  if (next === null) return { next: null, after: null, lanes: [] };
  const [step, following] = [line.steps[at + 1], upcoming(line.steps, at + 2, metres)];
  const after = step !== undefined && following !== null && step.end - step.start <= shortlyAfter && next.maneuver.type !== "arrive" ? following : null;
  return { next, after, lanes: lanesBefore(line.steps[at], metres) };
}

function upcoming(steps: readonly LineStep[], index: number, metres: number): Upcoming | null {
  const [before, at] = [steps[index - 1], steps[index]];
  if (before === undefined || at === undefined) return null;
  const banner = before.step.bannerInstructions?.[0];
  return {
    index,
    distance: Math.max(0, at.start - metres),
    maneuver: at.step.maneuver,
    primary: banner?.primary ?? null,
    secondary: banner?.secondary ?? null,
    refs: refsOf(at.step.ref),
    exit: at.step.maneuver.type === "off ramp" ? (at.step.exits ?? "") : "",
    drivingSide: at.step.driving_side,
  };
}

/** nameBehind returns the road that a maneuver leads onto, or the instruction, without the number of an exit, which has a sign of its own. */
export function nameBehind({ primary, exit }: Pick<Upcoming, "primary" | "exit">): string {
  const rest = (primary?.components ?? []).filter(({ type }) => type !== "exit" && type !== "exit-number");
  return exit === "" || rest.length === 0 ? (primary?.text ?? "") : rest.map(({ text }) => text).join(" ");
}

const maxRefs = 2;

/** refsOf splits the reference numbers of a road. */
export const refsOf = (ref: string | undefined): string[] =>
  (ref ?? "")
    .split(";")
    .map((one) => one.trim())
    .filter((one) => one !== "")
    .slice(0, maxRefs);

/** lanesBefore returns the lanes of the banner that is due. */
function lanesBefore(at: LineStep | undefined, metres: number): readonly Component[] {
  if (at === undefined) return [];
  const left = at.end - metres;
  const due = at.step.bannerInstructions?.filter(({ distanceAlongGeometry }) => distanceAlongGeometry >= left) ?? [];
  const components = due[due.length - 1]?.sub?.components ?? [];
  return components.filter(({ type }) => type === "lane");
}

/** nextJunctions returns the names of the roads behind the next two maneuvers, where they begin, and how long they are driven. */
export function nextJunctions({ steps }: Pick<RouteLine, "steps">, metres: number): { name: string; metres: number; length: number }[] {
  return steps
    .slice(stepAt({ steps }, metres) + 1)
    .filter(({ step }) => step.maneuver.type !== "arrive" && step.name !== "")
    .slice(0, 2)
    .map(({ step, start, end }) => ({ name: step.name, metres: start, length: end - start }));
}

/** limitAt returns the speed limit in km/h at so many metres; null if it is unknown, Infinity without one. */
export const limitAt = (line: Pick<RouteLine, "metres" | "limits">, metres: number): number | null => line.limits[segmentAt(line, metres)] ?? null;
