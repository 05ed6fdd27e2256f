import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { firstDue, keyOf, leadAt, listAhead, nearOf, maxDistance, parseKey, secondsTo, minSpeed, announcedOf, notAnnounced } from "./alertrules.ts";
import type { AlertPin, AlertStage, Announced } from "./alertrules.ts";
import { bearing, angleBetween } from "../geo/geo.ts";
import { seeded } from "../../../test/seeded.ts";

// The golden table of the service's internal/drive/alerts; alerts_test.go documents its members.
interface Case {
  name: string;
  car: { lat: number; lng: number; heading: number | null; speed: number };
  seen: string[];
  pins: {
    id: string;
    lat: number;
    lng: number;
    kind: string;
    line?: [lng: number, lat: number][];
    zone_m?: number;
    bearing?: number;
    maxspeed_kmh?: number;
    merged?: string[];
    voted?: boolean;
  }[];
  expect: { id: string; distance_m: number; seconds: number | null; bearing: number; lead_m: number; stage: AlertStage; announce: boolean }[];
}

const table = new URL("../../../../internal/drive/alerts/testdata/cases.json", import.meta.url);
const cases = JSON.parse(readFileSync(table, "utf8")) as Case[];

/** tell returns the announced stages that the keys name. */
function tell(keys: readonly string[]): Map<string, Announced> {
  const announced = new Map<string, Announced>();
  for (const { id, stage, first } of keys.map(parseKey)) announced.set(id, { ...(announced.get(id) ?? notAnnounced), [stage]: true, ...(first && { first }) });
  return announced;
}

describe("the golden table", () => {
  it("is there", () => {
    expect(cases.length).toBeGreaterThan(60);
  });

  it.each(cases.map((c) => [c.name, c] as const))("%s", (_, c) => {
    const announced = tell(c.seen);
    const voted = new Set(c.pins.filter((pin) => pin.voted).map((pin) => pin.id));
    const pins: AlertPin[] = c.pins.map(({ id, lat, lng, kind, line, zone_m, bearing, maxspeed_kmh, merged }) => ({
      id,
      lat,
      lng,
      kind,
      line: line?.map(([x, y]) => ({ lat: y, lng: x })) ?? null,
      zone: zone_m ?? 0,
      bearing: bearing ?? null,
      maxSpeed: maxspeed_kmh ?? null,
      merged: merged ?? [],
    }));
    const listed = listAhead(c.car, pins, (pin) => announcedOf(pin, (id) => announced.get(id)));
    const first = firstDue(listed, (pin) => voted.has(pin.id));
    expect(listed.map((s) => [s.pin.id, s.stage, s === first])).toEqual(c.expect.map((e) => [e.id, e.stage, e.announce]));
    c.expect.forEach((want, i) => {
      const got = listed[i];
      if (got === undefined) throw new Error("less is listed");
      expect(Math.abs(got.distance - want.distance_m)).toBeLessThanOrEqual(0.5);
      expect(Math.abs(angleBetween(got.bearing, want.bearing))).toBeLessThanOrEqual(0.5);
      expect(leadAt(got.pin.kind, c.car.speed)).toBeCloseTo(want.lead_m, 6);
      const seconds = secondsTo(got.distance, c.car.speed);
      expect(seconds === null).toBe(want.seconds === null);
      expect(Math.abs((seconds ?? 0) - (want.seconds ?? 0))).toBeLessThanOrEqual(0.1);
    });
  });
});

const hazard = (lat: number, lng: number): AlertPin => ({ id: "x", lat, lng, kind: "alert.hazard", zone: 0, merged: [] });

it("lists nothing behind, and announces nothing beyond the lead or below 2 m/s, wherever the car is", () => {
  const random = seeded(3);
  for (let i = 0; i < 5000; i++) {
    const car = { lat: (random() - 0.5) * 178, lng: (random() - 0.5) * 360, heading: random() * 360, speed: random() * 100 };
    const reach = [1e-4, 1e-3, 1e-2][Math.floor(random() * 3)] ?? 0;
    const pin = hazard(car.lat + (random() - 0.5) * reach, car.lng + (random() - 0.5) * reach);
    for (const sight of listAhead(car, [pin], () => notAnnounced)) {
      expect(Math.abs(angleBetween(car.heading, bearing(car, pin)))).toBeLessThanOrEqual(75);
      expect(sight.distance).toBeLessThanOrEqual(maxDistance);
      if (sight.due) {
        expect(sight.distance).toBeLessThanOrEqual(leadAt(sight.pin.kind, car.speed));
        expect(car.speed).toBeGreaterThanOrEqual(minSpeed);
      }
    }
  }
});

it("applies the driver's factor on the lead", () => {
  expect(leadAt("camera.speed", 20, 2)).toBe(480);
  expect(leadAt("camera.speed", 20, 0.5)).toBe(120);
  expect(leadAt("alert.police", 20, 2)).toBe(600);
  expect(leadAt("traffic.jam", 20, 2)).toBe(2400);
  expect(leadAt("traffic.jam", 40, 2)).toBe(3000);
  expect(nearOf({ kind: "camera.speed", zone: 0 }, 20, 0.5)).toBe(100);
  const car = { lat: 52, lng: 5, heading: 0, speed: 20 };
  const pin = hazard(52.0036, 5); // 400 m
  expect(listAhead(car, [pin], () => notAnnounced)[0]?.due).toBe(false);
  expect(listAhead(car, [pin], () => notAnnounced, 2)[0]?.due).toBe(true);
});

it("announces nothing while the speed is unknown", () => {
  const car = { lat: 52, lng: 5, heading: 0, speed: null };
  expect(listAhead(car, [hazard(52.001, 5)], () => notAnnounced)[0]?.due).toBe(false);
  expect(secondsTo(100, null)).toBeNull();
});

it("names announcements in a way that can be read back", () => {
  for (const stage of ["ahead", "near"] as const) expect(parseKey(keyOf("feed:1:v1:YQ", stage))).toEqual({ id: "feed:1:v1:YQ", stage, first: null });
  const first = { distance: 820.5, ago: 40 };
  expect(parseKey(keyOf("incident:v1:YQ", "ahead", first))).toEqual({ id: "incident:v1:YQ", stage: "ahead", first });
});
