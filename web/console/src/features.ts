// Parses the service's GeoJSON of a feed for the map (pure). The values come from providers and may be anything.

import type { Entity, Position } from "../../overlay/src/net/wire.ts";

/** Item is an entity on the map. */
export interface Item {
  /** In the form that the overlay's modules draw. Its id is the index in the answer, since providers' ids are not trusted. */
  entity: Entity;
  /** Texts of the card. */
  externalID: string;
  street: string;
  /** Names and values of the properties, and the times. */
  facts: readonly Fact[];
}

/** Fact is a line of an entity's card. */
export interface Fact {
  /** A property's name, or a key of the page's texts. */
  name: string;
  ours: boolean;
  value: string;
}

/** Items are the entities of an answer. */
export interface Items {
  items: Item[];
  /** There are more items than the answer has. */
  truncated: boolean;
}

const longest = 400; // characters of a value that are shown
const most = 40; // properties that are shown
const widest = 50_000; // metres of a zone, as the configuration of restrictions allows

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);
const members = (value: unknown): Members => (isMembers(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** itemsOf parses a GeoJSON FeatureCollection and drops features without a valid point or line. */
export function itemsOf(answer: unknown): Items {
  const { features, truncated } = members(answer);
  const items = list(features).map((feature, i) => itemOf(members(feature), String(i)));
  return { items: items.filter((item) => item !== null), truncated: truncated === true };
}

function itemOf(feature: Members, id: string): Item | null {
  const { type, coordinates } = members(feature["geometry"]);
  const path = type === "LineString" ? list(coordinates).map(positionOf) : [positionOf(coordinates)];
  if (!path.every((position) => position !== null)) return null;
  const middle = path[path.length >> 1];
  if (middle === undefined) return null;
  const about = members(feature["properties"]);
  const properties = members(about["properties"]);
  const street = properties["street"];
  return {
    entity: {
      id,
      layer_slug: "",
      kind_id: textOf(about["kind_id"]),
      geom: { type: "Point", coordinates: middle },
      geom_line: path.length > 1 ? { type: "LineString", coordinates: path } : null,
      first_seen_at: "",
      last_seen_at: "",
      expires_at: null,
      status: "reported",
      confidence: 1,
      confirm_count: 0,
      dispute_count: 0,
      properties: zoneOf(properties), // no other property affects drawing
    },
    externalID: textOf(about["external_id"]),
    street: typeof street === "string" ? cut(street) : "",
    facts: [...times(about), ...factsOf(properties)],
  };
}

/** zoneOf keeps the width of a zone: where a restriction requires a zone, no pin may be drawn. */
function zoneOf({ wayside_zone_m: width }: Members): Record<string, unknown> {
  return typeof width === "number" && width > 0 && width <= widest ? { wayside_zone_m: width } : {};
}

function positionOf(value: unknown): Position | null {
  const [lng, lat] = list(value);
  if (typeof lng !== "number" || typeof lat !== "number") return null;
  return Math.abs(lng) <= 180 && Math.abs(lat) <= 90 ? [lng, lat] : null;
}

function times(about: Members): Fact[] {
  const lines = [
    ["map.seen", about["last_seen_at"]],
    ["map.expires", about["expires_at"]],
  ] as const;
  return lines.filter(([, value]) => typeof value === "string" && value !== "").map(([name, value]) => ({ name, ours: true, value: textOf(value) }));
}

function factsOf(properties: Members): Fact[] {
  return Object.entries(properties)
    .filter(([name]) => name !== "street")
    .slice(0, most)
    .map(([name, value]) => ({ name: cut(name), ours: false, value: textOf(value) }));
}

/** textOf converts any value to text. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return cut(typeof value === "string" ? value : JSON.stringify(value));
}

const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

/** Box is a bounding box; its east may be beyond the antimeridian. */
export type Box = [west: number, south: number, east: number, north: number];

/** boxOf returns the smallest box around all items, also across the antimeridian; null if there are none. */
export function boxOf(items: readonly Item[]): Box | null {
  const places = items.flatMap(({ entity }) => entity.geom_line?.coordinates ?? [entity.geom.coordinates]);
  if (places.length === 0) return null;
  const box = (turned: boolean): Box => {
    const [first, ...rest] = places.map(([lng, lat]): Position => [turned && lng < 0 ? lng + 360 : lng, lat]);
    const start: Box = [first?.[0] ?? 0, first?.[1] ?? 0, first?.[0] ?? 0, first?.[1] ?? 0];
    return rest.reduce<Box>(([w, s, e, n], [lng, lat]) => [Math.min(w, lng), Math.min(s, lat), Math.max(e, lng), Math.max(n, lat)], start);
  };
  const [straight, turned] = [box(false), box(true)];
  return turned[2] - turned[0] < straight[2] - straight[0] ? turned : straight;
}
