// What the service answers of a feed's entities, as the map takes it (pure). The values are providers' and may be anything.

import type { Entity, Position } from "../../overlay/src/wire.ts";

/** Item is an entity on the map. */
export interface Item {
  /** As the overlay's modules draw it. Its id is its number in the answer: providers' own ids prove nothing. */
  entity: Entity;
  /** What a card says of it. */
  externalID: string;
  street: string;
  /** Names and values of its properties, and when it was seen. */
  facts: readonly Fact[];
}

export interface Fact {
  /** As the provider calls it; or a key of the page's words. */
  name: string;
  ours: boolean;
  value: string;
}

export interface Items {
  items: Item[];
  /** There are more. */
  truncated: boolean;
}

const longest = 400; // characters of a value that are shown
const most = 40; // properties that are shown
const widest = 50_000; // metres of a zone, as the configuration of the law has it

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);
const members = (value: unknown): Members => (isMembers(value) ? value : {});
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** itemsOf reads a GeoJSON FeatureCollection, and leaves out what is no point or line on the earth. */
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
      properties: zoneOf(properties), // nothing else of theirs changes how the pin is drawn
    },
    externalID: textOf(about["external_id"]),
    street: typeof street === "string" ? cut(street) : "",
    facts: [...times(about), ...factsOf(properties)],
  };
}

/** zoneOf keeps the width of a zone: where the law asks for one, there must be no pin. */
function zoneOf({ wayside_zone_m: width }: Members): Record<string, unknown> {
  return typeof width === "number" && width > 0 && width <= widest ? { wayside_zone_m: width } : {};
}

function positionOf(value: unknown): Position | null {
  const [lng, lat] = list(value);
  if (typeof lng !== "number" || typeof lat !== "number") return null;
  return Math.abs(lng) <= 180 && Math.abs(lat) <= 90 ? [lng, lat] : null;
}

function times(about: Members): Fact[] {
  const told = [
    ["map.seen", about["last_seen_at"]],
    ["map.expires", about["expires_at"]],
  ] as const;
  return told.filter(([, value]) => typeof value === "string" && value !== "").map(([name, value]) => ({ name, ours: true, value: textOf(value) }));
}

function factsOf(properties: Members): Fact[] {
  return Object.entries(properties)
    .filter(([name]) => name !== "street")
    .slice(0, most)
    .map(([name, value]) => ({ name: cut(name), ours: false, value: textOf(value) }));
}

/** textOf is any value as text. */
function textOf(value: unknown): string {
  if (value === undefined || value === null) return "";
  return cut(typeof value === "string" ? value : JSON.stringify(value));
}

const cut = (text: string): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

/** Box is what the map is to show: west may be beyond the date line. */
export type Box = [west: number, south: number, east: number, north: number];

/** boxOf is the smallest box around all items, also across the date line; null: there are none. */
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
