import { expect, test } from "vitest";
import { timetableOf, pointAt, parseSpeedUp } from "./demodrive.ts";
import { destination, distance } from "./geo.ts";
import type { Position } from "./wire.ts";

const start = { lat: 52, lng: 5 };
const position = (metres: number): Position => {
  const { lat, lng } = destination(start, 90, metres);
  return [lng, lat];
};
const timetable = timetableOf({ coordinates: [position(0), position(100), position(300)], speeds: [10, 10, 30] });

test("the timetable follows from ways and speeds", () => {
  expect(timetable.duration).toBeCloseTo(20, 3);
});

test.each([
  [0, 0, 10],
  [5, 50, 10],
  [10, 100, 10],
  [15, 175, 20],
  [19.999, 300, 30],
  [25, 50, 10],
])("after %d s the car is at %d m with %d m/s", (seconds, metres, speed) => {
  const point = pointAt(timetable, seconds);
  expect(point).not.toBeNull();
  if (point === null) return;
  expect(distance(start, point)).toBeCloseTo(metres, 0);
  expect(point.speed).toBeCloseTo(speed, 1);
  expect(point.heading).toBeCloseTo(90, 1);
});

test("a drive that leads nowhere has no moment", () => {
  expect(pointAt(timetableOf({ coordinates: [], speeds: [] }), 3)).toBeNull();
  expect(pointAt(timetableOf({ coordinates: [[5, 52], [5, 52]], speeds: [10, 10] }), 3)).toBeNull();
});

test.each([
  ["4", 4],
  [null, 1],
  ["", 1],
  ["-3", 1],
  ["1000", 1],
  ["fast", 1],
])("&x=%s", (text, want) => {
  expect(parseSpeedUp(text)).toBe(want);
});
