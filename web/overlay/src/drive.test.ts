import { expect, test } from "vitest";
import { courseOf, momentAt, parseSpeedUp } from "./drive.ts";
import { along, distance } from "./geo.ts";
import type { Position } from "./wire.ts";

const start = { lat: 52, lng: 5 };
const position = (metres: number): Position => {
  const { lat, lng } = along(start, 90, metres);
  return [lng, lat];
};
const course = courseOf({ coordinates: [position(0), position(100), position(300)], speeds: [10, 10, 30] });

test("the timetable follows from ways and speeds", () => {
  expect(course.lasts).toBeCloseTo(20, 3);
});

test.each([
  [0, 0, 10],
  [5, 50, 10],
  [10, 100, 10],
  [15, 175, 20],
  [19.999, 300, 30],
  [25, 50, 10],
])("after %d s the car is at %d m with %d m/s", (seconds, metres, speed) => {
  const moment = momentAt(course, seconds);
  expect(moment).not.toBeNull();
  if (moment === null) return;
  expect(distance(start, moment)).toBeCloseTo(metres, 0);
  expect(moment.speed).toBeCloseTo(speed, 1);
  expect(moment.heading).toBeCloseTo(90, 1);
});

test("a drive that leads nowhere has no moment", () => {
  expect(momentAt(courseOf({ coordinates: [], speeds: [] }), 3)).toBeNull();
  expect(momentAt(courseOf({ coordinates: [[5, 52], [5, 52]], speeds: [10, 10] }), 3)).toBeNull();
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
