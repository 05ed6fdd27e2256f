import { afterEach, expect, test, vi } from "vitest";
import { canTap, locate, parsePlace } from "./position.ts";

test.each([
  ["52,5", { lat: 52, lng: 5 }],
  [" -33.9 , 151.2 ", { lat: -33.9, lng: 151.2 }],
  ["90,180", { lat: 90, lng: 180 }],
  ["-90,-180", { lat: -90, lng: -180 }],
  ["90.1,0", null],
  ["0,-180.1", null],
  ["91,0", null],
  ["0,181", null],
  ["52", null],
  ["52,5,1", null],
  [",", null],
  ["a,b", null],
  ["Infinity,0", null],
  [null, null],
])("parsePlace(%j)", (text, want) => {
  expect(parsePlace(text)).toEqual(want);
});

/** Sensor is a fake geolocation. */
class Sensor implements Geolocation {
  success: PositionCallback | undefined;
  failure: PositionErrorCallback | null | undefined;
  options: PositionOptions | undefined;
  cleared = 0;
  watchPosition(success: PositionCallback, failure?: PositionErrorCallback | null, options?: PositionOptions): number {
    this.options = options;
    this.success = success;
    this.failure = failure;
    return 0; // 0 is a valid id
  }
  clearWatch(): void {
    this.cleared++;
  }
  getCurrentPosition(): never {
    throw new Error("not used");
  }
  at(lat: number, heading: number | null): void {
    const coords = { latitude: lat, longitude: 5, accuracy: 8, heading, speed: null, altitude: null, altitudeAccuracy: null };
    this.success?.({ timestamp: 1, coords: { ...coords, toJSON: () => coords }, toJSON: () => coords });
  }
  fail(code: number): void {
    this.failure?.({ code, message: "", PERMISSION_DENIED: 1, POSITION_UNAVAILABLE: 2, TIMEOUT: 3 });
  }
}

test("a fix is taken over, with NaN as no heading", () => {
  const sensor = new Sensor();
  const { fix, positionStatus } = locate(null, sensor, () => 0);
  expect(positionStatus.get()).toBe("asking");
  sensor.at(52, NaN);
  expect(fix.get()).toEqual({ lat: 52, lng: 5, accuracy: 8, heading: null, speed: null, at: 1 });
  expect(positionStatus.get()).toBe("found");
});

test("a failure counts only before the first fix", () => {
  const sensor = new Sensor();
  const { positionStatus } = locate(null, sensor, () => 0);
  sensor.fail(1);
  expect(positionStatus.get()).toBe("refused");
  sensor.at(52, 0);
  sensor.fail(3);
  expect(positionStatus.get()).toBe("found");
});

test("a named place ends listening", () => {
  const sensor = new Sensor();
  const { fix, positionStatus, setManually } = locate(null, sensor, () => 7);
  setManually({ lat: 1, lng: 2 });
  sensor.at(52, 0);
  expect([sensor.cleared, positionStatus.get(), fix.get()?.lat, fix.get()?.at]).toEqual([1, "named", 1, 7]);
});

test("the address wins over the sensor, and without either there is nothing", () => {
  const sensor = new Sensor();
  expect(locate("52,5", sensor, () => 0).positionStatus.get()).toBe("named");
  expect(sensor.success).toBeUndefined();
  expect(locate(null, null, () => 0).positionStatus.get()).toBe("missing");
});

test("a sensor may answer with a fix of the last second, and has ten seconds for it", () => {
  const sensor = new Sensor();
  locate(null, sensor, () => 0);
  expect(sensor.options).toEqual({ enableHighAccuracy: true, maximumAge: 1000, timeout: 10_000 });
});

test("a named place stays where there is no sensor to go back to", () => {
  const { positionStatus, resume } = locate("52,5", null, () => 0);
  resume();
  expect(positionStatus.get()).toBe("named");
});

afterEach(() => {
  vi.useRealTimers();
});

test("without the driver's consent nothing is asked", () => {
  const sensor = new Sensor();
  const { positionStatus, resume } = locate(null, sensor, () => 0, false);
  expect([positionStatus.get(), sensor.success]).toEqual(["unasked", undefined]);
  resume();
  sensor.at(52, 0);
  expect(positionStatus.get()).toBe("found");
});

test("a sensor that does not answer is slow, and its fix still counts", () => {
  vi.useFakeTimers();
  const sensor = new Sensor();
  const { positionStatus } = locate(null, sensor, () => 0);
  vi.advanceTimersByTime(9999);
  expect(positionStatus.get()).toBe("asking");
  vi.advanceTimersByTime(1);
  expect(positionStatus.get()).toBe("slow");
  sensor.at(52, 0);
  expect(positionStatus.get()).toBe("found");
});

test("each kind of failure has its status", () => {
  for (const [code, want] of [[1, "refused"], [2, "missing"], [3, "slow"]] as const) {
    const sensor = new Sensor();
    const { positionStatus } = locate(null, sensor, () => 0);
    sensor.fail(code);
    expect(positionStatus.get()).toBe(want);
  }
});

test("after a refusal, a place is named, the sensor asked again, refused again, and the place corrected", () => {
  const sensor = new Sensor();
  const { fix, positionStatus, setManually, resume } = locate(null, sensor, () => 0);
  sensor.fail(1);
  expect(canTap(positionStatus.get())).toBe(true);
  setManually({ lat: 1, lng: 2 });
  expect(canTap(positionStatus.get())).toBe(false);
  resume();
  expect(positionStatus.get()).toBe("asking");
  sensor.fail(1);
  expect([positionStatus.get(), canTap(positionStatus.get()), fix.get()?.lat]).toEqual(["refused", true, 1]);
  setManually({ lat: 3, lng: 4 });
  expect([positionStatus.get(), fix.get()?.lat]).toEqual(["named", 3]);
});

test("the driver may try again after a refusal", () => {
  const sensor = new Sensor();
  const { positionStatus, resume } = locate(null, sensor, () => 0);
  sensor.fail(1);
  resume();
  expect(positionStatus.get()).toBe("asking");
  sensor.at(52, 0);
  expect(positionStatus.get()).toBe("found");
});

test("another sensor replaces the one before, whose fixes no longer count", () => {
  const [first, drive] = [new Sensor(), new Sensor()];
  const { fix, follow } = locate(null, first, () => 0);
  first.at(50, 0);
  follow(drive);
  first.at(51, 0);
  expect(fix.get()?.lat).toBe(50);
  drive.at(52, 0);
  expect([fix.get()?.lat, first.cleared]).toEqual([52, 1]);
});
