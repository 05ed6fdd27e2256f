import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { limitOf, numberOf, pinLimitOf, ranges } from "./wellknown.ts";

test("ranges are those of the service, as its documentation lists them", () => {
  const documentation = readFileSync(new URL("../../../../docs/providers.md", import.meta.url), "utf8");
  for (const [name, [lowest, highest]] of Object.entries(ranges)) {
    expect(new RegExp(`^\\| \`${name}\` \\|[^|]*\\| number, ${String(lowest)} to ${String(highest)}[ |]`, "m").test(documentation), name).toBe(true);
  }
});

test("a number that has another type or lies out of range is absent", () => {
  for (const value of ["80", null, undefined, true, [80], { value: 80 }, Number.NaN, Infinity, -1, 4, 201]) {
    expect(numberOf({ properties: { maxspeed_kmh: value } }, "maxspeed_kmh"), JSON.stringify(value)).toBe(null);
  }
  expect([5, 80.5, 200].map((value) => numberOf({ properties: { maxspeed_kmh: value } }, "maxspeed_kmh"))).toEqual([5, 80.5, 200]);
});

test("the limit of a camera and the temporary one of an event are shown in the driver's units", () => {
  expect(limitOf({ kind_id: "camera.speed", properties: { maxspeed_kmh: 80 } }, "metric")).toBe(80);
  expect(limitOf({ kind_id: "camera.speed", properties: { maxspeed_kmh: 48.28 } }, "imperial")).toBe(30);
  expect(limitOf({ kind_id: "camera.speed", properties: { speed_limit_kmh: 80 } }, "metric")).toBe(null);
  expect(limitOf({ kind_id: "alert.construction", properties: { maxspeed_kmh: 80, speed_limit_kmh: 60 } }, "metric")).toBe(60);
});

test("pins of cameras have usual limits only, so that few images are painted", () => {
  const painted = (kmh: number): number | null => pinLimitOf({ kind_id: "camera.speed", properties: { maxspeed_kmh: kmh } }, "metric");
  expect([30, 33, 130, 131].map(painted)).toEqual([30, null, 130, null]);
  expect(pinLimitOf({ kind_id: "camera.speed", properties: { maxspeed_kmh: 50 } }, "imperial")).toBe(null);
  expect(pinLimitOf({ kind_id: "camera.speed", properties: { maxspeed_kmh: 48 } }, "imperial")).toBe(30);
  expect(pinLimitOf({ kind_id: "alert.construction", properties: { speed_limit_kmh: 60 } }, "metric")).toBe(null);
});
