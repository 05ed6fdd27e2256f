// Facts about each route that is offered (pure).

import { distance, type Place } from "../geo/geo.ts";
import { endsOnMotorway } from "./arrival.ts";
import type { Route } from "./types.ts";

/** RouteFacts are the facts by which the driver compares routes. */
export interface RouteFacts {
  /** Seconds, with present delays. */
  seconds: number;
  metres: number;
  /** Seconds that the way takes longer than without jams and works. */
  delay: number;
  hasToll: boolean;
  hasFerry: boolean;
  hasMotorway: boolean;
  /** Streets that most of the way is on. */
  via: string;
  /** Ids of the entities that the service leads around. */
  avoided: readonly string[];
  /** Whether a part of it is closed: only a drive that begins or ends there uses it. */
  isClosed: boolean;
}

const minDelay = 60; // seconds: less is not worth a word

/** factsOf returns the facts about a route. */
export function factsOf(route: Route): RouteFacts {
  const steps = route.legs.flatMap((leg) => leg.steps);
  const has = (name: string): boolean => steps.some(({ intersections }) => intersections.some(({ classes }) => classes?.includes(name) === true));
  const delay = (route.wayside.duration_ms - route.wayside.free_flow_ms) / 1000;
  return {
    seconds: route.duration,
    metres: route.distance,
    delay: delay >= minDelay ? delay : 0,
    hasToll: has("toll"),
    hasFerry: steps.some(({ mode }) => mode === "ferry") || has("ferry"),
    hasMotorway: has("motorway"),
    via: [...new Set(route.legs.map(({ summary }) => summary).filter((text) => text !== ""))].join(" · "),
    avoided: route.wayside.avoided,
    isClosed: route.legs.some(({ incidents }) => incidents.some(({ closed }) => closed)),
  };
}

/** RouteEnd describes a route's end as far as the driver should know it before starting. */
export interface RouteEnd {
  /** Metres from there to the destination; 0 if they are not worth a word. */
  away: number;
  /** Whether it is on a motorway, where nobody may stop. */
  isOnMotorway: boolean;
}

const minAway = 150; // metres: houses and car parks are as far from their street

/** endOf returns where a route ends, against the place that it was asked for. */
export function endOf({ legs }: Pick<Route, "legs">, place: Place): RouteEnd {
  const steps = legs[legs.length - 1]?.steps ?? [];
  const [lng, lat] = steps[steps.length - 1]?.maneuver.location ?? [place.lng, place.lat];
  const away = distance({ lat, lng }, place);
  return { away: away >= minAway ? away : 0, isOnMotorway: endsOnMotorway(steps) };
}

/** Limits the avoided entities that are listed. */
export const maxAvoidedShown = 3;

/** avoidedOf returns the entities that the routes avoid, those of the first route first. */
export const avoidedOf = (ways: readonly RouteFacts[]): string[] => [...new Set(ways.flatMap(({ avoided }) => avoided))].slice(0, maxAvoidedShown);

/** minutesOf returns whole minutes, at least one: a drive never takes none. */
export const minutesOf = (seconds: number): number => Math.max(1, Math.round(seconds / 60));

/** Duration is hours and minutes. */
export interface Duration {
  hours: number;
  minutes: number;
}

/** durationOf rounds seconds to hours and minutes. */
export function durationOf(seconds: number): Duration {
  const minutes = minutesOf(seconds);
  return { hours: Math.floor(minutes / 60), minutes: minutes % 60 };
}

/** chosenWay returns the index of the line that is nearest to where the driver touched, of lines in pixels; null if none is near. */
export function chosenWay(lines: readonly (readonly { x: number; y: number }[])[], touched: { x: number; y: number }, reach: number): number | null {
  let best: { way: number; away: number } | null = null;
  lines.forEach((line, way) => {
    for (let i = 0; i + 1 < line.length; i++) {
      const [a, b] = [line[i], line[i + 1]];
      if (a === undefined || b === undefined) continue;
      const [dx, dy] = [b.x - a.x, b.y - a.y];
      const length = dx * dx + dy * dy;
      const share = length === 0 ? 0 : Math.max(0, Math.min(1, ((touched.x - a.x) * dx + (touched.y - a.y) * dy) / length));
      const away = Math.hypot(a.x + share * dx - touched.x, a.y + share * dy - touched.y);
      if (away <= reach && (best === null || away < best.away)) best = { way, away };
    }
  });
  return (best as { way: number } | null)?.way ?? null;
}

/** boundsOf returns the rectangle that contains all places: west, south, east, north. */
export function boundsOf(places: readonly Place[]): [number, number, number, number] | null {
  const [first] = places;
  if (first === undefined) return null;
  let [west, south, east, north] = [first.lng, first.lat, first.lng, first.lat];
  for (const { lat, lng } of places) {
    [west, east] = [Math.min(west, lng), Math.max(east, lng)];
    [south, north] = [Math.min(south, lat), Math.max(north, lat)];
  }
  return [west, south, east, north];
}
