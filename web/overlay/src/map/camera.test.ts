import { expect, test } from "vitest";
import { isVisiblyDifferent, paddingOf, pixelsPerMetre, cameraView, zoomFor, stepZoom, type CameraView } from "./camera.ts";
import { destination } from "../geo/geo.ts";
import type { Pose } from "../car/deadreckoning.ts";

const pose: Pose = { lat: 52, lng: 5, heading: 80, speed: 14, accuracy: 5, held: false };
const view: CameraView = { center: { lat: 52, lng: 5 }, zoom: 16, bearing: 80, carOffset: 0.2, covered: 0, coveredAbove: 0, coveredBelow: 0 };

test("the faster, the farther is seen, without steps", () => {
  for (let speed = 0; speed < 60; speed += 0.5) {
    const [before, after] = [zoomFor(speed), zoomFor(speed + 0.5)];
    expect(after).toBeLessThanOrEqual(before);
    expect(before - after).toBeLessThan(0.06);
  }
  expect(zoomFor(null)).toBe(zoomFor(0));
  expect([zoomFor(14), zoomFor(90)]).toEqual([15.7, 14.1]);
});

test("what is announced at the longest lead is on the screen of a car that is driven that fast", () => {
  // 600 m at 50 m/s; the car is 22 % below the centre of 750 pixels.
  expect(600 * pixelsPerMetre(zoomFor(50), 52)).toBeLessThan(750 * 0.72);
});

test("the scale of the map is that of Web Mercator with tiles of 512 pixels", () => {
  expect(pixelsPerMetre(15, 0)).toBeCloseTo(0.41911, 5);
  expect(pixelsPerMetre(15, 52)).toBeCloseTo(0.68075, 5);
});

test("the zoom for a speed is interpolated, and starts to move a third of a level off", () => {
  expect(zoomFor(6)).toBe(16.4);
  expect(zoomFor(10)).toBeCloseTo(16.05, 6);
  expect(zoomFor(36)).toBe(14.1);
  const start = { zoom: 16.05, target: 16.05 };
  expect(stepZoom(start, zoomFor(13.9), 16).target).toBe(16.05); // 0.34 off
  expect(stepZoom(start, zoomFor(14.1), 16).target).toBeLessThan(15.7);
});

test("the zoom ignores small changes of speed and changes slowly", () => {
  const at14 = { zoom: zoomFor(14), target: zoomFor(14) };
  expect(stepZoom(at14, zoomFor(16), 16)).toEqual(at14);
  const going = stepZoom(at14, zoomFor(30), 16);
  expect(going.target).toBe(zoomFor(30));
  expect(at14.zoom - going.zoom).toBeCloseTo(0.0064, 4);
  expect(at14.zoom - stepZoom(at14, zoomFor(30), 60_000).zoom).toBeLessThanOrEqual(0.1); // the page was suspended
  let zooming = at14;
  for (let i = 0; i < 600; i++) zooming = stepZoom(zooming, zoomFor(30), 16);
  expect(zooming.zoom).toBe(zoomFor(30));
});

test("heading up, the car is low on the screen; north up or without a heading, it is at the centre", () => {
  expect(cameraView(pose, "heading", 16, 0, { covered: 30, coveredAbove: 80, coveredBelow: 400 })).toEqual({ center: pose, zoom: 16, bearing: 80, carOffset: 0.22, covered: 30, coveredAbove: 80, coveredBelow: 400 });
  expect(cameraView(pose, "north", 16, 33, { covered: 0, coveredAbove: 0, coveredBelow: 0 })).toEqual({ center: pose, zoom: 16, bearing: 0, carOffset: 0, covered: 0, coveredAbove: 0, coveredBelow: 0 });
  expect(cameraView({ ...pose, heading: null }, "heading", 16, 33, { covered: 0, coveredAbove: 0, coveredBelow: 0 })).toMatchObject({ bearing: 33, carOffset: 0 });
});

test("a frame is drawn only for what can be seen", () => {
  expect(isVisiblyDifferent(view, { ...view })).toBe(false);
  expect(isVisiblyDifferent(view, { ...view, center: destination(view.center, 45, 0.1) })).toBe(false);
  expect(isVisiblyDifferent(view, { ...view, center: destination(view.center, 45, 0.5) })).toBe(true);
  expect(isVisiblyDifferent(view, { ...view, bearing: 79.95 })).toBe(false);
  expect(isVisiblyDifferent({ ...view, bearing: 359.9 }, { ...view, bearing: 0.3 })).toBe(true);
  expect(isVisiblyDifferent(view, { ...view, zoom: 16.0035 })).toBe(false);
  expect(isVisiblyDifferent(view, { ...view, zoom: 16.0045 })).toBe(true);
  expect(isVisiblyDifferent(view, { ...view, bearing: 80.09 })).toBe(false);
  expect(isVisiblyDifferent(view, { ...view, bearing: 80.11 })).toBe(true);
  const move = (pixels: number): CameraView => ({ ...view, center: destination(view.center, 45, pixels / pixelsPerMetre(16, 52)) });
  expect(isVisiblyDifferent(view, move(0.28))).toBe(false);
  expect(isVisiblyDifferent(view, move(0.32))).toBe(true);
  expect(isVisiblyDifferent(view, { ...view, carOffset: 0 })).toBe(true);
  expect(isVisiblyDifferent(view, { ...view, covered: 400 })).toBe(true);
  expect(isVisiblyDifferent(view, { ...view, coveredBelow: 400 })).toBe(true);
});

test("the car is drawn in the part of the screen that no panel covers", () => {
  const middle = ({ top, right, bottom, left }: ReturnType<typeof paddingOf>, width: number, height: number): number[] => [(left + width - right) / 2, (top + height - bottom) / 2].map(Math.round);
  const on = (width: number, height: number, over: Partial<CameraView>): number[] => middle(paddingOf({ ...view, ...over }, width, height), width, height);
  expect(on(1280, 800, {})).toEqual([640, 560]);
  expect(on(1280, 800, { covered: 400 })).toEqual([840, 560]);
  expect(on(1280, 800, { covered: -400 })).toEqual([440, 560]);
  expect(on(390, 844, {})).toEqual([195, 523]); // the buttons are below it
  expect(on(390, 844, { coveredAbove: 76, coveredBelow: 444 })).toEqual([195, 238]);
  expect(on(640, 400, {})).toEqual([320, 232]);
});
