// What of an entity is drawn on the ground: its line, or the zone within which it is (pure).

import type { Polygon } from "geojson";
import type { Pin } from "./featurediff.ts";
import { destination, angleBetween, type Place } from "./geo.ts";
import type { Entity, Position } from "./wire.ts";

/** A zone's width in metres, if the law asks for one; the service alone sets it. */
const zoneProperty = "wayside_zone_m";
const circleVertices = 48;

/** zoneWidthOf is the width of the zone of which an entity's place is the middle, in metres; 0: it is at its place. */
export function zoneWidthOf({ properties }: Pick<Entity, "properties">): number {
  const width = properties[zoneProperty];
  return typeof width === "number" && width > 0 ? width : 0;
}

/** placeOf is an entity's place. */
export function placeOf({ geom }: Pick<Entity, "geom">): Place {
  const [lng, lat] = geom.coordinates;
  return { lat, lng };
}

/** shapeOf is what an entity has on the ground; null: nothing. */
export function shapeOf(entity: Entity, opacity: number): Pin | null {
  const width = zoneWidthOf(entity);
  const properties = { id: entity.id, kind: entity.kind_id.split(".")[0] ?? "", opacity };
  if (width > 0) return { type: "Feature", id: entity.id, geometry: circlePolygon(placeOf(entity), width / 2), properties };
  return entity.geom_line === null ? null : { type: "Feature", id: entity.id, geometry: entity.geom_line, properties };
}

/** circlePolygon is what lies within so many metres. */
export function circlePolygon(middle: Place, metres: number): Polygon {
  const ring: Position[] = [];
  for (let i = 0; i < circleVertices; i++) {
    const { lat, lng } = destination(middle, (-360 * i) / circleVertices, metres); // against the clock, as GeoJSON wants it
    ring.push([middle.lng + angleBetween(middle.lng, lng), lat]); // a ring across the date line goes on beyond 180°
  }
  const [first] = ring;
  if (first !== undefined) ring.push(first);
  return { type: "Polygon", coordinates: [ring] };
}
