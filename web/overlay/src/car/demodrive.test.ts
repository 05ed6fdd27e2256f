import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { DriveSensor, isHidden, timetableOf, pointAt, parseSpeedUp } from "./demodrive.ts";
import { destination, distance } from "../geo/geo.ts";
import type { Drive, Position } from "../net/wire.ts";

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
  ["20", 20],
  ["20.1", 1],
  ["0.1", 0.1],
  ["0.09", 1],
  ["1000", 1],
  ["fast", 1],
])("&x=%s", (text, want) => {
  expect(parseSpeedUp(text)).toBe(want);
});

test("a speed that is missing is 10 m/s, and a drive that stands goes on at half a metre per second", () => {
  expect(timetableOf({ coordinates: [position(0), position(100)], speeds: [] }).duration).toBeCloseTo(10, 3);
  const standing = timetableOf({ coordinates: [position(0), position(100)], speeds: [0, 0] });
  expect(standing.duration).toBeCloseTo(200, 2);
});

test("the car is on the leg of its time, also where many legs begin", () => {
  const many = timetableOf({ coordinates: Array.from({ length: 20 }, (_, i) => position(i * 10)), speeds: Array.from({ length: 20 }, () => 10) });
  for (let second = 0.5; second < 19; second++) expect(distance(start, pointAt(many, second) ?? start)).toBeCloseTo(second * 10, 1);
  expect(distance(start, pointAt(many, -1) ?? start)).toBeCloseTo(180, 1);
});

describe("the sensor", () => {
  const drive: Drive = { coordinates: [position(0), position(100), position(300)], speeds: [10, 10, 30] };

  beforeEach(() => {
    vi.useFakeTimers();
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  test("reports a fix at once, and then one for each second of the drive", async () => {
    const fixes: GeolocationPosition[] = [];
    const sensor = new DriveSensor(() => Promise.resolve(drive), 4, null);
    const id = sensor.watchPosition((fix) => fixes.push(fix));
    await vi.advanceTimersByTimeAsync(0);
    expect(fixes).toHaveLength(1);
    const [longitude, latitude] = position(0);
    expect(fixes[0]?.coords).toMatchObject({ latitude, longitude, accuracy: 6, speed: 10, altitude: null });
    await vi.advanceTimersByTimeAsync(249);
    expect(fixes).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(fixes).toHaveLength(2);
    const { latitude: lat = NaN, longitude: lng = NaN } = fixes[1]?.coords ?? {};
    expect(distance(start, { lat, lng })).toBeCloseTo(10, 3);
    sensor.clearWatch(id);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(fixes).toHaveLength(2);
  });

  test("reports nothing to a watch that ended while the drive was read", async () => {
    const success = vi.fn();
    const sensor = new DriveSensor(() => Promise.resolve(drive), 1, null);
    sensor.clearWatch(sensor.watchPosition(success));
    await vi.advanceTimersByTimeAsync(5000);
    expect(success).not.toHaveBeenCalled();
  });

  test("reports that the position is unavailable if the drive cannot be read", async () => {
    const failure = vi.fn<PositionErrorCallback>();
    new DriveSensor(() => Promise.reject(new Error("offline")), 1, null).watchPosition(() => undefined, failure);
    await vi.advanceTimersByTimeAsync(0);
    expect(failure).toHaveBeenCalledWith({ code: 2, message: "Error: offline", PERMISSION_DENIED: 1, POSITION_UNAVAILABLE: 2, TIMEOUT: 3 });
  });

  test("reports no fix of a drive that leads nowhere", async () => {
    const success = vi.fn();
    new DriveSensor(() => Promise.resolve({ coordinates: [], speeds: [] }), 1, null).watchPosition(success);
    await vi.advanceTimersByTimeAsync(5000);
    expect(success).not.toHaveBeenCalled();
  });
});

test("in a tunnel there are no fixes", () => {
  const tunnel: [number, number][] = [[1, 2]];
  expect([5, 10.5, 19].map((seconds) => isHidden(timetable, tunnel, seconds))).toEqual([false, true, true]);
  expect(isHidden(timetable, [], 15)).toBe(false);
});
