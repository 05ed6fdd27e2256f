import { expect, it } from "vitest";
import { scaleFor } from "./scalebar.ts";

it.each([
  [1, "metric", 100, "meter", 100],
  [0.5, "metric", 50, "meter", 100],
  [4.7, "metric", 500, "meter", 106],
  [10, "metric", 1, "kilometer", 100],
  [1000, "metric", 100, "kilometer", 100],
  [1, "imperial", 200, "foot", 61],
  [20, "imperial", 1, "mile", 80],
] as const)("%d m per pixel in %s", (metres, units, value, unit, width) => {
  expect(scaleFor(metres, units)).toEqual({ value, unit, width });
});

it("never grows beyond its place, and is never too short to be read", () => {
  for (let metres = 0.05; metres < 80_000; metres *= 1.07) {
    for (const units of ["metric", "imperial"] as const) {
      const { width } = scaleFor(metres, units);
      expect(width).toBeLessThanOrEqual(110);
      expect(width).toBeGreaterThanOrEqual(20);
    }
  }
});
