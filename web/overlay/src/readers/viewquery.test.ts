import { expect, test } from "vitest";
import { covers, readBox, selectionOf, viewQuery } from "./viewquery.ts";
import type { Source } from "../net/wire.ts";

const source = (id: string): Source => ({ id, label: id, attribution: id, layer_slugs: [id], kind_ids: null, default_on: true, source_type: "feed-push" });
const shown = { kinds_off: [], sources_off: [], networks: null };
const sources = [source("feed:a"), source("feed:b")];
const view = { west: 4, south: 52, east: 5, north: 53, zoom: 9.126 };

test("what the driver hides is left out, and the driver's private feeds are not", () => {
  expect(selectionOf(shown, sources, [])).toEqual({});
  expect(selectionOf({ kinds_off: ["traffic.jam", "alert.hazard.fog"], sources_off: ["feed:b"], networks: ["tesla", "ionity"] }, sources, [{ id: "feed:private", status: "online" }])).toEqual({
    kinds_off: "alert.hazard.fog,traffic.jam",
    networks: "tesla,ionity",
    sources: "feed:a,feed:private",
  });
  expect(selectionOf({ ...shown, sources_off: ["feed:a", "feed:b"] }, sources, [])).toBeNull();
});

test("a hidden source that is no longer listed, and a catalogue that is not read yet, select nothing", () => {
  expect(selectionOf({ ...shown, sources_off: ["feed:gone"] }, sources, [])).toEqual({});
  expect(selectionOf({ ...shown, sources_off: ["feed:a"] }, [], [])).toEqual({});
});

test("a little more than the view is read", () => {
  expect(readBox(view)).toEqual({ west: 3.9, south: 51.9, east: 5.1, north: 53.1, zoom: 9.126 });
  expect(readBox({ ...view, south: -84, north: 84 })).toMatchObject({ south: -90, north: 90 });
});

test.each([
  ["a view", view, "4.0000,52.0000,5.0000,53.0000"],
  ["over the antimeridian", { ...view, west: 179, east: 182 }, "179.0000,52.0000,-178.0000,53.0000"],
  ["another copy of the world", { ...view, west: -365, east: -355 }, "-5.0000,52.0000,5.0000,53.0000"],
  ["more than the world", { ...view, west: -200, east: 210 }, "-180.0000,52.0000,180.0000,53.0000"],
])("the box of %s", (_, box, bbox) => {
  expect(new URLSearchParams(viewQuery(box, {})).get("bbox")).toBe(bbox);
});

test("the zoom is the map's, within the service's limits", () => {
  const zoomOf = (zoom: number): string | null => new URLSearchParams(viewQuery({ ...view, zoom }, { kinds_off: "traffic.jam" })).get("zoom");
  expect([zoomOf(9.126), zoomOf(-0.5), zoomOf(24)]).toEqual(["9.13", "0.00", "22.00"]);
});

test("pins that were read serve small moves and a step closer, and nothing else", () => {
  const box = readBox(view);
  expect(covers(box, view)).toBe(true);
  expect(covers(box, { ...view, west: 4.05, east: 5.05 })).toBe(true);
  expect(covers(box, { ...view, west: 4.15, east: 5.15 })).toBe(false);
  expect(covers(box, { ...view, west: 4.25, east: 4.75, south: 52.25, north: 52.75, zoom: 10 })).toBe(true);
  expect(covers(box, { ...view, west: 4.4, east: 4.6, south: 52.4, north: 52.6, zoom: 11.5 })).toBe(false);
  expect(covers(box, { ...view, west: 3.5, east: 5.5, zoom: 8 })).toBe(false);
});
