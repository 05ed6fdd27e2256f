// The line of a route with the data of each of its segments (pure).

import { distance, type Place } from "../geo/geo.ts";
import type { Congestion, Route, Step } from "./types.ts";

/** LineStep is a step and its part of the line. */
export interface LineStep {
  step: Step;
  /** Number of the leg. */
  leg: number;
  /** Indexes of its first and last place. */
  first: number;
  last: number;
  /** Metres from the start of the route to its first and last place. */
  start: number;
  end: number;
}

/** Flow rates the speed of traffic on a segment. */
export type Flow = Congestion | "closed";

/** RouteLine is the line of a route with the data of its segments. */
export interface RouteLine {
  places: readonly Place[];
  /** Metres from the start to each place. */
  metres: readonly number[];
  /** Planned seconds from the start to each place. */
  seconds: readonly number[];
  /** Speed limit of each segment in km/h; null if it is unknown, Infinity without one. */
  limits: readonly (number | null)[];
  flows: readonly Flow[];
  steps: readonly LineStep[];
  /** Metres from the start to the end of each leg. */
  legEnds: readonly number[];
  /** Metres. */
  length: number;
}

const precision = 1e6;

/** decodePolyline decodes a polyline with six decimals, up to the first damaged value. */
export function decodePolyline(text: string): Place[] {
  const places: Place[] = [];
  let [at, lat, lng] = [0, 0, 0];
  const next = (): number => {
    let [value, shift] = [0, 1];
    for (;;) {
      const chunk = text.charCodeAt(at++) - 63;
      if (Number.isNaN(chunk)) return NaN;
      value += (chunk & 31) * shift;
      if (chunk < 32) return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
      shift *= 32;
    }
  };
  while (at < text.length) {
    const [north, east] = [next(), next()];
    if (Number.isNaN(north) || Number.isNaN(east)) break;
    lat += north;
    lng += east;
    places.push({ lat: lat / precision, lng: lng / precision });
  }
  return places;
}

const kmhPerMph = 1.609344;

/** Draft is a line while it is being built. */
interface Draft {
  places: Place[];
  metres: number[];
  seconds: number[];
  limits: (number | null)[];
  flows: Flow[];
  steps: LineStep[];
  legEnds: number[];
}

/** routeLineOf joins the lines of a route's steps. */
export function routeLineOf(route: Route): RouteLine {
  const draft: Draft = { places: [], metres: [], seconds: [], limits: [], flows: [], steps: [], legEnds: [] };
  route.legs.forEach((_, leg) => {
    appendLeg(draft, route, leg);
  });
  return { ...draft, length: draft.metres[draft.metres.length - 1] ?? 0 };
}

function appendLeg(draft: Draft, route: Route, number: number): void {
  const leg = route.legs[number];
  if (leg === undefined) return;
  const { annotation } = leg;
  let segment = 0; // of the leg's annotations, which know no segments without length at the ends of legs
  for (const step of leg.steps) {
    const places = decodePolyline(step.geometry);
    const [head, ...rest] = places;
    if (head === undefined) continue;
    if (draft.places.length === 0) {
      draft.places.push(head);
      draft.metres.push(0);
      draft.seconds.push(0);
    }
    const first = draft.places.length - 1;
    const isPoint = step.maneuver.type === "arrive";
    const durations = isPoint ? [] : rest.map((_, i) => annotation?.duration[segment + i] ?? 1);
    const factor = step.duration / (durations.reduce((sum, one) => sum + one, 0) || 1);
    if (!isPoint) {
      rest.forEach((place, i) => {
        appendPlace(draft, place, (durations[i] ?? 0) * factor);
        draft.limits.push(limitOf(annotation?.maxspeed[segment + i]));
        draft.flows.push(annotation?.congestion[segment + i] ?? "unknown");
      });
      segment += rest.length;
    }
    const last = draft.places.length - 1;
    draft.steps.push({ step, leg: number, first, last, start: draft.metres[first] ?? 0, end: draft.metres[last] ?? 0 });
  }
  markClosed(draft, leg.incidents, draft.places.length - 1 - segment);
  draft.legEnds.push(draft.metres[draft.metres.length - 1] ?? 0);
}

function appendPlace(draft: Draft, place: Place, seconds: number): void {
  const last = draft.places.length - 1;
  const before = draft.places[last] ?? place;
  draft.places.push(place);
  draft.metres.push((draft.metres[last] ?? 0) + distance(before, place));
  draft.seconds.push((draft.seconds[last] ?? 0) + seconds);
}

/** markClosed marks the segments of a leg that are closed; first is the index of the leg's first place. */
function markClosed(draft: Draft, incidents: Route["legs"][number]["incidents"], first: number): void {
  for (const { closed, geometry_index_start: from, geometry_index_end: to } of incidents) {
    if (!closed) continue;
    for (let i = first + from; i < first + to && i < draft.flows.length; i++) draft.flows[i] = "closed";
  }
}

function limitOf(limit: NonNullable<Route["legs"][number]["annotation"]>["maxspeed"][number] | undefined): number | null {
  if (limit === undefined || "unknown" in limit) return null;
  if ("none" in limit) return Infinity;
  return limit.unit === "mph" ? limit.speed * kmhPerMph : limit.speed;
}

/** segmentAt returns the index of the segment at so many metres: of its first place. */
export function segmentAt({ metres }: Pick<RouteLine, "metres">, at: number): number {
  let low = 0;
  let high = Math.max(0, metres.length - 2);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((metres[middle] ?? Infinity) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** shareAt returns the segment at so many metres, and how much of it is before them. */
function shareAt(line: Pick<RouteLine, "metres">, at: number): { segment: number; share: number } {
  const segment = segmentAt(line, at);
  const [from, to] = [line.metres[segment] ?? 0, line.metres[segment + 1] ?? 0];
  return { segment, share: to > from ? Math.max(0, Math.min(1, (at - from) / (to - from))) : 0 };
}

/** placeAt returns the place at so many metres of the line. */
export function placeAt(line: Pick<RouteLine, "places" | "metres">, at: number): Place {
  const { segment, share } = shareAt(line, at);
  const from = line.places[segment] ?? { lat: 0, lng: 0 };
  const to = line.places[segment + 1] ?? from;
  return { lat: from.lat + (to.lat - from.lat) * share, lng: from.lng + (to.lng - from.lng) * share };
}

/** secondsAt returns the planned seconds from the start to so many metres. */
export function secondsAt(line: Pick<RouteLine, "metres" | "seconds">, at: number): number {
  const { segment, share } = shareAt(line, at);
  const [from, to] = [line.seconds[segment] ?? 0, line.seconds[segment + 1] ?? line.seconds[segment] ?? 0];
  return from + (to - from) * share;
}

/** part returns the places of the line from one distance to another. */
export function part(line: Pick<RouteLine, "places" | "metres">, from: number, to: number): Place[] {
  const [first, last] = [segmentAt(line, from), segmentAt(line, to)];
  return [placeAt(line, from), ...line.places.slice(first + 1, last + 1), placeAt(line, to)];
}
