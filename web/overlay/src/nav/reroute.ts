// Decides which new route is taken, and when (pure).

import { distance } from "../geo/geo.ts";
import { aheadAt, stepAt } from "./maneuver.ts";
import type { RouteLine } from "./routeline.ts";
import type { Route } from "./types.ts";

const junctionBefore = 25; // metres
const junctionSeconds = 2.5; // a driver who is as near does what was said
const junctionAfter = 20;

/** isInJunction reports whether the car is so close to a maneuver that no new route may appear. */
export function isInJunction(line: Pick<RouteLine, "steps">, metres: number, speed: number): boolean {
  const { next } = aheadAt(line, metres);
  if (next !== null && next.maneuver.type !== "arrive" && next.distance <= Math.max(junctionBefore, speed * junctionSeconds)) return true;
  const step = line.steps[stepAt(line, metres)];
  return step !== undefined && step.step.maneuver.type !== "depart" && metres - step.start <= junctionAfter;
}

/** wayOf identifies the way of a route: two routes with the same way differ in times only. */
export const wayOf = (route: Route): string => route.legs.map(({ steps }) => steps.map(({ geometry }) => geometry).join(" ")).join("|");

/** isSameWay reports whether another route goes the same way as the rest of the present one, within tolerances. */
export function isSameWay(present: RouteLine, metres: number, other: RouteLine): boolean {
  const left = present.length - metres;
  if (Math.abs(left - other.length) > Math.max(junctionBefore, left * 0.005)) return false;
  return [0.25, 0.5, 0.75].every((share) => {
    const [a, b] = [placeFromEnd(present, left * share), placeFromEnd(other, other.length * share)];
    return distance(a, b) < Math.max(30, left * 0.005);
  });
}

/** endsWithRest reports whether another route, which may have begun behind the car, ends with the rest of the present one, within tolerances. */
export function endsWithRest(other: RouteLine, present: RouteLine, metres: number): boolean {
  const left = present.length - metres;
  if (left - other.length > Math.max(junctionBefore, left * 0.005)) return false;
  return [0.25, 0.5, 0.75, 1].every((share) => distance(placeFromEnd(present, left * share), placeFromEnd(other, left * share)) < Math.max(30, left * 0.005));
}

function placeFromEnd(line: RouteLine, metres: number): { lat: number; lng: number } {
  const at = line.length - metres;
  let i = line.places.length - 1;
  while (i > 0 && (line.metres[i - 1] ?? 0) >= at) i--;
  const [a, b] = [line.places[i - 1] ?? line.places[i], line.places[i]];
  if (a === undefined || b === undefined) return { lat: 0, lng: 0 };
  const [from, to] = [line.metres[i - 1] ?? 0, line.metres[i] ?? 0];
  const share = to > from ? Math.max(0, Math.min(1, (at - from) / (to - from))) : 0;
  return { lat: a.lat + (b.lat - a.lat) * share, lng: a.lng + (b.lng - a.lng) * share };
}

const atOnce = 700; // metres
const minTurningGain = 120; // seconds

/** turnsBackAtOnce reports whether a route turns back before the car has gone far. */
export function turnsBackAtOnce({ steps }: Pick<RouteLine, "steps">): boolean {
  return steps.some(({ step: { maneuver }, start }) => start <= atOnce && maneuver.type !== "depart" && maneuver.type !== "arrive" && maneuver.modifier === "uturn");
}

/** prefersGoingOn reports whether going on costs so little more than turning back that it is proposed instead. */
export const prefersGoingOn = (back: Pick<Route, "duration">, on: Pick<Route, "duration">): boolean => on.duration - back.duration < minTurningGain;

/** blockedBy returns the entities that close the route without an alternative, after an event of conditions; null: none do. */
export function blockedBy(before: readonly string[] | null, reason: "came" | "gone" | "closed", ids: readonly string[]): readonly string[] | null {
  if (reason === "closed") return ids;
  if (reason === "came" || before === null) return before;
  const left = before.filter((id) => !ids.includes(id));
  if (left.length === before.length) return before; // the same list: it is not said again
  return null; // the service says anew if what is left still closes all ways
}
