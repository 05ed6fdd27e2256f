// The drawing of a route as GeoJSON (pure).

import { destination, type Place } from "../geo/geo.ts";
import { bearingAround } from "./snaptoroute.ts";
import { part, placeAt, segmentAt, type Flow, type RouteLine } from "./routeline.ts";

type Position = [lng: number, lat: number];

const position = ({ lat, lng }: Place): Position => [lng, lat];

/** lineFeature returns a line, without length if there is nothing to draw. */
export function lineFeature(places: readonly Place[], properties: Record<string, string> = {}): GeoJSON.Feature {
  return { type: "Feature", properties, geometry: { type: "LineString", coordinates: places.map(position) } };
}

/** collection joins features. */
export const collection = (features: readonly GeoJSON.Feature[]): GeoJSON.FeatureCollection => ({ type: "FeatureCollection", features: [...features] });

/** isEmpty reports whether nothing of the data is drawn. */
export function isEmpty(data: GeoJSON.Feature | GeoJSON.FeatureCollection): boolean {
  if (data.type === "FeatureCollection") return data.features.length === 0;
  return data.geometry.type === "LineString" && data.geometry.coordinates.length < 2;
}

/** FlowPart is a part of a line on which traffic is as fast everywhere. */
export interface FlowPart {
  flow: Flow;
  /** Indexes of its first and last place. */
  first: number;
  last: number;
}

/** flowParts cuts a line where the flow of traffic changes. Unknown traffic counts as free. */
export function flowParts({ flows }: Pick<RouteLine, "flows">): FlowPart[] {
  const parts: FlowPart[] = [];
  flows.forEach((known, i) => {
    const flow = known === "unknown" ? "low" : known;
    const before = parts[parts.length - 1];
    if (before?.flow === flow) before.last = i + 1;
    else parts.push({ flow, first: i, last: i + 1 });
  });
  return parts;
}

/** flowFeatures returns a line in parts of one flow each. */
export function flowFeatures(line: RouteLine): GeoJSON.FeatureCollection {
  return collection(flowParts(line).map(({ flow, first, last }) => lineFeature(line.places.slice(first, last + 1), { flow })));
}

/** drivenFeature returns the line behind the car, from so many metres on. */
export const drivenFeature = (line: RouteLine, from: number, metres: number): GeoJSON.Feature => lineFeature(metres - from < 1 ? [] : part(line, Math.max(0, from), metres));

/** Metres behind the car that are drawn anew with each fix: a long line costs a slow processor too much. */
const maxDrawnLag = 1500;

/** longDriven returns up to which metre the line is drawn as driven once and for all. It moves back with a car that was taken to be farther. */
export const longDriven = (drawn: number, driven: number): number => (driven - drawn > maxDrawnLag || driven < drawn ? Math.max(0, driven - maxDrawnLag / 3) : drawn);

const arrowBefore = 35; // metres
const arrowAfter = 38;
const headLength = 16;
const headHalf = 11;

/** arrowFeatures returns the arrow on the map at a maneuver: a line, and a triangle as its head. */
export function arrowFeatures(line: RouteLine, at: number): GeoJSON.Feature[] {
  const [from, to] = [Math.max(0, at - arrowBefore), Math.min(line.length, at + arrowAfter)];
  if (to - from < headLength * 2) return [];
  const neck = to - headLength * 0.6;
  const degrees = bearingAround(line, segmentAt(line, neck));
  const base = placeAt(line, neck);
  const corner = (turn: number, metres: number): Position => position(destination(base, degrees + turn, metres));
  const [left, right, tip] = [corner(-90, headHalf), corner(90, headHalf), corner(0, headLength)];
  const head: GeoJSON.Feature = { type: "Feature", properties: {}, geometry: { type: "Polygon", coordinates: [[left, tip, right, left]] } };
  return [lineFeature(part(line, from, neck)), head];
}
