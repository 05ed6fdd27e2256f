import { expect, it } from "vitest";
import { limitAfter, limitOf, type PassedLimit } from "./drivenlimit.ts";
import { makeFormat } from "../i18n/format.ts";
import { destination, type Place } from "../geo/geo.ts";
import { isOver } from "../panels/speedometer.ts";
import type { Entity } from "../net/wire.ts";

const start: Place = { lat: 52, lng: 5 };

function camera(place: Place, properties: Record<string, unknown>): Entity {
  const at = "2026-06-01T12:00:00Z";
  return {
    id: "one", layer_slug: "town", kind_id: "camera.speed", geom: { type: "Point", coordinates: [place.lng, place.lat] }, geom_line: null,
    first_seen_at: at, last_seen_at: at, expires_at: null, status: "reported", confidence: 0.5, confirm_count: 0, dispute_count: 0, properties,
  };
}

/** drive drives east, 20 m for each fix, and returns the limit after each of them. */
function drive(entities: readonly Entity[], fixes: number, turn = 0, before: PassedLimit | null = null): (number | null)[] {
  let limit = before;
  return Array.from({ length: fixes }, (_, i) => {
    limit = limitAfter(limit, { ...destination(start, 90, i * 20), heading: 90 + turn, speed: 20 }, entities);
    return limit?.kmh ?? null;
  });
}

it("a limit holds from the camera on, and not for ever", () => {
  const seen = drive([camera(destination(start, 90, 200), { maxspeed_kmh: 80 })], 140);
  expect(seen.slice(0, 10).every((one) => one === null)).toBe(true);
  expect([seen[11], seen[60], seen[105]]).toEqual([80, 80, 80]);
  expect(seen[130]).toBeNull();
});

it("the next camera's limit replaces it", () => {
  const cameras = [camera(destination(start, 90, 100), { maxspeed_kmh: 80 }), camera(destination(start, 90, 400), { maxspeed_kmh: 50 })];
  const seen = drive(cameras, 30);
  expect([seen[10], seen[25]]).toEqual([80, 50]);
});

it("a driver who turns off is told no limit, and one who stands keeps it", () => {
  const limit: PassedLimit = { kmh: 80, place: start, heading: 90 };
  const car = { ...destination(start, 90, 300), heading: 90, speed: 20 };
  expect(limitAfter(limit, car, [])).toBe(limit);
  expect(limitAfter(limit, { ...car, heading: 180 }, [])).toBeNull();
  expect(limitAfter(limit, { ...car, heading: 180, speed: 1 }, [])).toBe(limit);
  expect(limitAfter(limit, null, [])).toBeNull();
});

it("cameras of other streets, of the other direction and in zones tell nothing", () => {
  const place = destination(start, 90, 200);
  expect(drive([camera(destination(place, 0, 100), { maxspeed_kmh: 80 })], 20)).not.toContain(80);
  expect(drive([camera(place, { maxspeed_kmh: 80, bearing: 270 })], 20)).not.toContain(80);
  expect(drive([camera(place, { maxspeed_kmh: 80, bearing: 100 })], 20)).toContain(80);
  expect(drive([camera(place, { maxspeed_kmh: 80, wayside_zone_m: 300 })], 20)).not.toContain(80);
});

it("only a plausible number at a camera is a limit", () => {
  expect(limitOf({ kind_id: "camera.speed", properties: { maxspeed_kmh: 80 } })).toBe(80);
  for (const maxspeed_kmh of [5, 200]) expect(limitOf({ kind_id: "camera.speed", properties: { maxspeed_kmh } })).toBe(maxspeed_kmh);
  for (const maxspeed_kmh of ["80", NaN, 0, -5, 4, 201, 900, null]) expect(limitOf({ kind_id: "camera.speed", properties: { maxspeed_kmh } })).toBeNull();
  expect(limitOf({ kind_id: "traffic.jam", properties: { maxspeed_kmh: 80 } })).toBeNull();
});

it("one is over the limit only if the figures show it", () => {
  const [metric, imperial] = [makeFormat("en", "metric"), makeFormat("en", "imperial")];
  expect([isOver(80.4 / 3.6, 80, metric), isOver(80.6 / 3.6, 80, metric)]).toEqual([false, true]);
  expect([isOver(30 * 0.44704, 48.28, imperial), isOver(31 * 0.44704, 48.28, imperial)]).toEqual([false, true]);
});
