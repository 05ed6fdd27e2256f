import { expect, test } from "vitest";
import { boundsOf, extentOptions } from "./extent.ts";

const extent = (west: number, south: number, east: number, north: number): Parameters<typeof boundsOf>[0] => ({ west, south, east, north });

test.each([
  [extent(4.9, 51.9, 5.1, 52.1), [4.9, 51.9, 5.1, 52.1]],
  [extent(5, 52, 5, 52), [5, 52, 5, 52]], // a single pin
  [extent(170, -50, -170, -40), [170, -50, 190, -40]], // across 180°
  [extent(-180, -90, 180, 90), [-180, -85, 180, 85]],
  [extent(4, 52, 5, 51), null],
  [extent(NaN, 51, 5, 52), null],
  [extent(4, 51, 181, 52), null],
  [extent(4, -91, 5, 52), null],
  [null, null],
  [undefined, null],
])("boundsOf(%j)", (given, want) => {
  expect(boundsOf(given)).toEqual(want);
});

test("a small extent is shown from farther away where there is no street map", () => {
  const zoom = (style_url: string | null): number => extentOptions({ base_map: style_url === null ? null : { style_url, attribution: "" } }).maxZoom;
  expect(zoom(null)).toBeLessThan(zoom("/map/style.json") - 4);
});
