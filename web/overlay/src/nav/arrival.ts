// Decides when a stop is reached, and the distance that is left on foot (pure).

import { distance, type Place } from "../geo/geo.ts";
import type { RouteLine } from "./routeline.ts";
import type { Step } from "./types.ts";

const reachedWithin = 25; // metres along the route
const stationaryWithin = 70; // for a car that stands: parking spaces are rarely at the door
const standing = 1.5; // metres per second
const minWalk = 25; // metres: the width of a street is no walk

/** reachedLeg returns the number of the last leg whose stop is reached; -1: none. from is the first leg that is not reached yet. */
export function reachedLeg({ legEnds }: Pick<RouteLine, "legEnds">, metres: number, speed: number, from: number): number {
  const within = speed < standing ? stationaryWithin : reachedWithin;
  let reached = -1;
  for (let i = from; i < legEnds.length; i++) {
    const left = (legEnds[i] ?? Infinity) - metres;
    if (left <= within) reached = i;
  }
  return reached;
}

/** walkTo returns the metres on foot from the end of a route to a place; 0 if the road leads there. */
export function walkTo({ places }: Pick<RouteLine, "places">, place: Place): number {
  const end = places[places.length - 1];
  const metres = end === undefined ? 0 : distance(end, place);
  return metres >= minWalk ? metres : 0;
}

/** sideOf returns on which side of the street the stop at the end of a leg is; null if that is unknown. */
export function sideOf({ steps }: Pick<RouteLine, "steps">, leg: number): "left" | "right" | null {
  const arrive = steps.filter((one) => one.leg === leg).pop()?.step.maneuver;
  return arrive?.type === "arrive" && (arrive.modifier === "left" || arrive.modifier === "right") ? arrive.modifier : null;
}

/** endsOnMotorway reports whether a route's last step is on a motorway, where nobody may stop. */
export function endsOnMotorway(steps: readonly Pick<Step, "maneuver" | "intersections">[]): boolean {
  const last = steps.filter(({ maneuver }) => maneuver.type !== "arrive").pop()?.intersections ?? [];
  return last[last.length - 1]?.classes?.includes("motorway") === true;
}
