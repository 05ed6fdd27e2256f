import { expect, test } from "vitest";
import { pixelsPerMetre } from "./camera.ts";
import { destination, distance, type Place } from "../geo/geo.ts";
import { seeded } from "../../../test/seeded.ts";
import { isStationary, stationaryZoom, type Frame } from "./stationaryzoom.ts";

const car: Place = { lat: 52, lng: 5 };
const frame: Frame = { width: 1000, height: 800, bearing: 0 };
const ring = (count: number, metres: number): Place[] => Array.from({ length: count }, (_, i) => destination(car, (360 / count) * i, metres));

/** visible counts the pins on the screen. */
function visible(pins: readonly Place[], zoom: number, { width, height }: Frame): number {
  const scale = pixelsPerMetre(zoom, car.lat);
  return pins.filter((pin) => {
    const x = distance(car, { lat: car.lat, lng: pin.lng }) * scale;
    const y = distance(car, { lat: pin.lat, lng: car.lng }) * scale;
    return x <= width / 2 && y <= height / 2;
  }).length;
}

test("the nearest ten are shown if streets can be read at that zoom", () => {
  const pins = [...ring(10, 500), ...ring(30, 900)];
  const zoom = stationaryZoom(car, pins, frame);
  expect(zoom).toBeGreaterThanOrEqual(14);
  expect(visible(pins, zoom, frame)).toBeGreaterThanOrEqual(10);
});

test("otherwise the nearest five are enough", () => {
  const pins = [...ring(5, 700), ...ring(20, 6000)];
  const zoom = stationaryZoom(car, pins, frame);
  expect(zoom).toBeGreaterThan(14);
  expect(visible(pins, zoom, frame)).toBe(5);
});

test("it stays between 12 and 16, whatever is around", () => {
  const random = seeded(3);
  for (let i = 0; i < 200; i++) {
    const pins = Array.from({ length: Math.floor(random() * 40) }, () => destination(car, random() * 360, random() ** 3 * 20_000));
    const zoom = stationaryZoom(car, pins, { width: 300 + random() * 1500, height: 300 + random() * 900, bearing: random() * 360 });
    expect(zoom).toBeGreaterThanOrEqual(12);
    expect(zoom).toBeLessThanOrEqual(16);
  }
  expect(stationaryZoom(car, ring(20, 5), frame)).toBe(16);
});

test("pins that cannot be shown do not pull the zoom out, and without pins streets are shown", () => {
  expect(stationaryZoom(car, ring(3, 50_000), frame)).toBe(14);
  expect(stationaryZoom(car, [], frame)).toBe(14);
  expect(stationaryZoom(car, [...ring(2, 400), ...ring(2, 60_000)], frame)).toBeGreaterThan(14.5);
});

test("on a phone that is turned with the heading, pins at the side need a lower zoom", () => {
  const phone = { width: 390, height: 844 };
  const east = [destination(car, 90, 600)];
  expect(stationaryZoom(car, east, { ...phone, bearing: 0 })).toBeLessThan(stationaryZoom(car, east, { ...phone, bearing: 90 }));
});

test("a car stands below 2 m/s, and without a heading", () => {
  expect([isStationary({ heading: 90, speed: 1.9 }), isStationary({ heading: null, speed: 20 }), isStationary({ heading: 90, speed: null })]).toEqual([true, true, true]);
  expect(isStationary({ heading: 90, speed: 2 })).toBe(false);
});
