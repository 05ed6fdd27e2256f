import { describe, expect, it } from "vitest";
import { destination, bearing, normalizeDegrees, distance, rounded, angleBetween, nearestOnSegment, normalizeLongitude, type Place } from "./geo.ts";
import { seeded } from "../../../test/seeded.ts";

describe("distance", () => {
  const degree = (6_371_008.8 * Math.PI) / 180;
  it.each<[string, Place, Place, number]>([
    ["the same place", { lat: 52, lng: 4 }, { lat: 52, lng: 4 }, 0],
    ["a degree of latitude", { lat: 0, lng: 0 }, { lat: 1, lng: 0 }, degree],
    ["over the antimeridian", { lat: 0, lng: 179.5 }, { lat: 0, lng: -179.5 }, degree],
    ["180 is -180", { lat: 5, lng: 180 }, { lat: 5, lng: -180 }, 0],
    ["over the pole", { lat: 89, lng: 0 }, { lat: 89, lng: 180 }, 2 * degree],
    ["antipodes", { lat: 10, lng: 20 }, { lat: -10, lng: -160 }, 180 * degree],
    ["Amsterdam to Rotterdam", { lat: 52.3676, lng: 4.9041 }, { lat: 51.9244, lng: 4.4777 }, 57_229],
  ])("%s", (_, a, b, want) => {
    expect(Math.abs(distance(a, b) - want)).toBeLessThan(Math.max(1, want * 1e-4));
  });
});

describe("bearing", () => {
  it.each<[string, Place, Place, number]>([
    ["north", { lat: 0, lng: 0 }, { lat: 1, lng: 0 }, 0],
    ["east", { lat: 0, lng: 0 }, { lat: 0, lng: 1 }, 90],
    ["south", { lat: 1, lng: 0 }, { lat: 0, lng: 0 }, 180],
    ["west", { lat: 0, lng: 0 }, { lat: 0, lng: -1 }, 270],
    ["over the antimeridian", { lat: 0, lng: 179 }, { lat: 0, lng: -179 }, 90],
    ["Baghdad to Osaka", { lat: 35, lng: 45 }, { lat: 35, lng: 135 }, 60.16],
  ])("%s", (_, a, b, want) => {
    expect(bearing(a, b)).toBeCloseTo(want, 2);
  });
});

it("takes the shortest turn", () => {
  expect(angleBetween(359, 1)).toBe(2);
  expect(angleBetween(1, 359)).toBe(-2);
  expect(angleBetween(0, 180)).toBe(180);
  expect(angleBetween(-90, 360)).toBe(90);
});

it("keeps directions and longitudes in their ranges", () => {
  const random = seeded(1);
  for (let i = 0; i < 2000; i++) {
    const angle = (random() - 0.5) * 2000;
    expect(normalizeDegrees(angle)).toBeGreaterThanOrEqual(0);
    expect(normalizeDegrees(angle)).toBeLessThan(360);
    expect(normalizeLongitude(angle)).toBeGreaterThanOrEqual(-180);
    expect(normalizeLongitude(angle)).toBeLessThan(180);
    expect(Math.abs(angleBetween(angle, angle + 7) - 7)).toBeLessThan(1e-6);
  }
  expect(normalizeDegrees(-1e-15)).toBe(0);
  expect(normalizeLongitude(180)).toBe(-180);
});

it("agrees with distance and bearing", () => {
  const random = seeded(2);
  for (let i = 0; i < 1000; i++) {
    const start = { lat: (random() - 0.5) * 178, lng: (random() - 0.5) * 360 };
    const degrees = random() * 360;
    const metres = 1 + random() * 3000;
    const end = destination(start, degrees, metres);
    expect(Math.abs(distance(start, end) - metres)).toBeLessThan(0.01);
    expect(Math.abs(angleBetween(bearing(start, end), degrees))).toBeLessThan(0.01);
    expect(Math.abs(end.lng)).toBeLessThanOrEqual(180);
  }
});

it("rounds what leaves the page to four decimals", () => {
  expect(rounded({ lat: 52.123449, lng: -4.98765 })).toEqual({ lat: 52.1234, lng: -4.9876 });
  expect(Object.is(rounded({ lat: -0.00001, lng: 0 }).lat, 0)).toBe(true);
});

it.each<[string, Place, Place, Place, Place]>([
  ["beside the middle", { lat: 0, lng: 0 }, { lat: 0.01, lng: -0.01 }, { lat: 0.01, lng: 0.01 }, { lat: 0.01, lng: 0 }],
  ["before the start", { lat: 0, lng: 0 }, { lat: 0.01, lng: 0 }, { lat: 0.02, lng: 0 }, { lat: 0.01, lng: 0 }],
  ["behind the end", { lat: 0.03, lng: 0 }, { lat: 0.01, lng: 0 }, { lat: 0.02, lng: 0 }, { lat: 0.02, lng: 0 }],
  ["a segment of one place", { lat: 0, lng: 0 }, { lat: 0.01, lng: 0 }, { lat: 0.01, lng: 0 }, { lat: 0.01, lng: 0 }],
  ["across the antimeridian", { lat: 0, lng: 180 }, { lat: 0.01, lng: 179.99 }, { lat: 0.01, lng: -179.99 }, { lat: 0.01, lng: 180 }],
])("the nearest place of a segment: %s", (_, p, a, b, want) => {
  expect(distance(nearestOnSegment(p, a, b), want)).toBeLessThan(0.01);
});
