// The shapes of entities on the ground: a line, or the zone that contains it (pure).

import type { Polygon } from "geojson";
import type { Pin } from "./featurediff.ts";
import { severityOf } from "./linecolours.ts";
import { destination, angleBetween, type Place } from "../geo/geo.ts";
import type { Entity, Position } from "../net/wire.ts";

/** Property with a zone's width in metres, which only the service sets, where a restriction requires it. */
const zoneProperty = "wayside_zone_m";
const circleVertices = 48;

/** zoneWidthOf returns the width in metres of the zone centred on the entity's place; 0 if the entity is at its place. */
export function zoneWidthOf({ properties }: Pick<Entity, "properties">): number {
  const width = properties[zoneProperty];
  return typeof width === "number" && width > 0 ? width : 0;
}

/** placeOf returns an entity's place. */
export function placeOf({ geom }: Pick<Entity, "geom">): Place {
  const [lng, lat] = geom.coordinates;
  return { lat, lng };
}

/** shapeOf returns an entity's shape on the ground; null if it has none. */
export function shapeOf(entity: Entity, opacity: number): Pin | null {
  const width = zoneWidthOf(entity);
  const properties = { id: entity.id, kind: entity.kind_id.split(".")[0] ?? "", opacity };
  if (width > 0) return { type: "Feature", id: entity.id, geometry: circlePolygon(placeOf(entity), width / 2), properties };
  if (entity.geom_line === null) return null;
  return { type: "Feature", id: entity.id, geometry: entity.geom_line, properties: { ...properties, severity: severityOf(entity) } };
}

/** circlePolygon approximates a circle of a radius in metres. */
export function circlePolygon(middle: Place, metres: number): Polygon {
  const ring: Position[] = [];
  for (let i = 0; i < circleVertices; i++) {
    const { lat, lng } = destination(middle, (-360 * i) / circleVertices, metres); // counterclockwise, as GeoJSON requires
    ring.push([middle.lng + angleBetween(middle.lng, lng), lat]); // a ring across the antimeridian continues beyond 180°
  }
  const [first] = ring;
  if (first !== undefined) ring.push(first);
  return { type: "Polygon", coordinates: [ring] };
}
