import { expect, test } from "vitest";
import { distance } from "../geo/geo.ts";
import { circlePolygon, shapeOf, zoneWidthOf } from "./shapes.ts";
import type { Entity } from "../net/wire.ts";

const entity: Entity = {
  id: "a",
  layer_slug: "l",
  kind_id: "camera.speed",
  geom: { type: "Point", coordinates: [5, 52] },
  geom_line: null,
  first_seen_at: "2026-11-21T08:00:00Z",
  last_seen_at: "2026-11-21T08:00:00Z",
  expires_at: null,
  status: "reported",
  confidence: 0.5,
  confirm_count: 0,
  dispute_count: 0,
  properties: {},
};

test("a pin has nothing on the ground, and a provider's nonsense makes no zone", () => {
  expect(shapeOf(entity, 1)).toBeNull();
  for (const width of ["300", -1, null, NaN]) expect(zoneWidthOf({ properties: { wayside_zone_m: width } })).toBe(0);
});

test("a line is drawn as it is", () => {
  const line = { type: "LineString" as const, coordinates: [[5, 52], [5.1, 52]] as [number, number][] };
  expect(shapeOf({ ...entity, geom_line: line }, 0.5)).toEqual({ type: "Feature", id: "a", geometry: line, properties: { id: "a", kind: "camera", opacity: 0.5, severity: "care" } });
});

test("a zone has the service's width, also far north", () => {
  for (const lat of [0, 52, 80]) {
    const [ring = []] = circlePolygon({ lat, lng: 179.999 }, 2000).coordinates;
    expect(ring[0]).toEqual(ring[ring.length - 1]);
    for (const [lng = 0, at = 0] of ring) expect(distance({ lat, lng: 179.999 }, { lat: at, lng })).toBeCloseTo(2000, 3);
  }
  expect(shapeOf({ ...entity, properties: { wayside_zone_m: 4000 } }, 1)?.geometry.type).toBe("Polygon");
});

test("a zone is a regular polygon of 48 vertices, at half its width from the entity", () => {
  const shape = shapeOf({ ...entity, properties: { wayside_zone_m: 4000 } }, 1);
  if (shape?.geometry.type !== "Polygon") throw new Error("no polygon");
  const ring = (shape.geometry.coordinates[0] ?? []).map(([lng = NaN, lat = NaN]) => ({ lat, lng }));
  expect(ring).toHaveLength(49);
  const side = 2 * 2000 * Math.sin(Math.PI / 48);
  ring.slice(1).forEach((vertex, i) => {
    expect(distance({ lat: 52, lng: 5 }, vertex)).toBeCloseTo(2000, 3);
    expect(Math.abs(distance(ring[i] ?? vertex, vertex) - side)).toBeLessThan(0.1);
  });
});
