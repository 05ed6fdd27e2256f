// Routes for unit tests, on a plane of metres around a place.

import { routeLineOf, type RouteLine } from "./routeline.ts";
import type { Place } from "../geo/geo.ts";
import type { Banner, Congestion, Incident, Maneuver, Route, Step } from "./types.ts";

const metresPerDegree = 111_195.08;
const origin = { lat: 52, lng: 5 };

/** Spot is metres east and north of a place. */
export type Spot = readonly [east: number, north: number];

/** placeOf converts a spot to a place. */
export const placeOf = ([east, north]: Spot): Place => ({ lat: origin.lat + north / metresPerDegree, lng: origin.lng + east / metresPerDegree / Math.cos((origin.lat * Math.PI) / 180) });

/** StepPlan is a step: where it leads, beginning where the one before ends. */
export interface StepPlan {
  to: readonly Spot[];
  /** At its start. */
  maneuver?: Partial<Maneuver>;
  name?: string;
  ref?: string;
  /** Metres per second; 10 by default. */
  speed?: number;
  limit?: number;
  congestion?: Congestion;
  banners?: readonly Banner[];
}

/** encodePolyline encodes places with six decimals. */
export function encodePolyline(places: readonly Place[]): string {
  let [text, lat, lng] = ["", 0, 0];
  const add = (value: number): void => {
    let left = value < 0 ? -2 * value - 1 : 2 * value;
    while (left >= 32) {
      text += String.fromCharCode(63 + 32 + (left % 32));
      left = Math.floor(left / 32);
    }
    text += String.fromCharCode(63 + left);
  };
  for (const place of places) {
    const [north, east] = [Math.round(place.lat * 1e6), Math.round(place.lng * 1e6)];
    add(north - lat);
    add(east - lng);
    [lat, lng] = [north, east];
  }
  return text;
}

const length = (a: Spot, b: Spot): number => Math.hypot(b[0] - a[0], b[1] - a[1]);

/** routeOf makes a route with a leg for each list of steps. The last step of each leg is followed by its arrival. */
export function routeOf(start: Spot, legs: readonly (readonly StepPlan[])[], incidents: readonly Incident[] = []): Route {
  let at = start;
  const made = legs.map((plans) => {
    const annotation = { distance: [] as number[], duration: [] as number[], maxspeed: [] as { speed: number; unit: "km/h" }[], congestion: [] as Congestion[] };
    const steps = plans.map((plan, i): Step => {
      const spots = [at, ...plan.to];
      at = plan.to[plan.to.length - 1] ?? at;
      let distance = 0;
      for (let k = 1; k < spots.length; k++) {
        const metres = length(spots[k - 1] ?? at, spots[k] ?? at);
        distance += metres;
        annotation.distance.push(metres);
        annotation.duration.push(metres / (plan.speed ?? 10));
        annotation.maxspeed.push({ speed: plan.limit ?? 50, unit: "km/h" });
        annotation.congestion.push(plan.congestion ?? "unknown");
      }
      return stepOf(spots, { type: i === 0 ? "depart" : "turn", ...plan.maneuver }, { name: plan.name ?? "", ...(plan.ref !== undefined && { ref: plan.ref }), distance, duration: distance / (plan.speed ?? 10), bannerInstructions: plan.banners ?? [] });
    });
    steps.push(stepOf([at, at], { type: "arrive", modifier: "right" }, {}));
    const sum = (of: (step: Step) => number): number => steps.reduce((total, step) => total + of(step), 0);
    return { steps, distance: sum((step) => step.distance), duration: sum((step) => step.duration), summary: "", incidents, annotation };
  });
  const duration = made.reduce((total, leg) => total + leg.duration, 0);
  return {
    legs: made,
    distance: made.reduce((total, leg) => total + leg.distance, 0),
    duration,
    wayside: { duration_ms: duration * 1000, free_flow_ms: duration * 1000, metric_version: 1, conditions: [], avoided: [], warnings: [] },
  };
}

function stepOf(spots: readonly Spot[], maneuver: Partial<Maneuver>, more: Partial<Step>): Step {
  const places = spots.map(placeOf);
  const first = places[0] ?? origin;
  return {
    geometry: encodePolyline(places),
    maneuver: { type: "turn", bearing_before: 0, bearing_after: 0, location: [first.lng, first.lat], ...maneuver },
    mode: "driving",
    driving_side: "right",
    name: "",
    distance: 0,
    duration: 0,
    intersections: [],
    ...more,
  };
}

/** lineOf returns routeLineOf of routeOf with a single leg. */
export const lineOf = (start: Spot, plans: readonly StepPlan[]): RouteLine => routeLineOf(routeOf(start, [plans]));
