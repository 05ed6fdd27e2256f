import { expect, test } from "vitest";
import { baseStyle, plainStyle, withoutNames, worldAttribution } from "./basemap.ts";
import type { OverlayConfig } from "../net/wire.ts";

const config = (style_url: string | null): OverlayConfig => ({
  version: "1",
  base_map: style_url === null ? null : { style_url, attribution: "" },
  primary_network: "tesla",
});

test("our own style has a night, a language and no names, somebody else's is taken as it is, and without one there is our own", () => {
  expect(baseStyle(config("/map/style.json"), { theme: "day" })).toBe("/map/style.json");
  expect(baseStyle(config("/map/style.json"), { theme: "night" })).toBe("/map/style.json?theme=night");
  expect(baseStyle(config("/map/style.json"), { theme: "night", language: "de" })).toBe("/map/style.json?theme=night&language=de");
  expect(baseStyle(config("/map/style.json"), { theme: "day", language: "de", names: false })).toBe("/map/style.json?names=false");
  expect(baseStyle(config("https://tiles.example.org/s.json?key=1"), { theme: "night", language: "de" })).toBe("https://tiles.example.org/s.json?key=1");
  expect(baseStyle(config(null), { theme: "night" })).toBe("/map/style.json?theme=night");
  expect(plainStyle("night")).not.toEqual(plainStyle("day"));
});

test("without names there are streets", () => {
  const { layers } = withoutNames({
    version: 8,
    sources: { map: { type: "vector" } },
    layers: [
      { id: "road", type: "line", source: "map", "source-layer": "roads" },
      { id: "street", type: "symbol", source: "map", "source-layer": "roads" },
    ],
  });
  expect(layers.map(({ id }) => id)).toEqual(["road"]);
});

test("the overview's attribution is shown where it can be seen", () => {
  const map = (zoom: number, attribution?: string): Parameters<typeof worldAttribution>[0] =>
    ({ getZoom: () => zoom, getSource: () => (attribution === undefined ? undefined : { attribution }) }) as unknown as Parameters<typeof worldAttribution>[0];
  expect(worldAttribution(map(15, "Earth"), config(null))).toBe("Earth");
  expect(worldAttribution(map(15, "Earth"), config("/map/style.json"))).toBeNull();
  expect(worldAttribution(map(5, "Earth"), config("/map/style.json"))).toBe("Earth");
  expect(worldAttribution(map(5), config("https://tiles.example.org/s.json"))).toBeNull();
});
