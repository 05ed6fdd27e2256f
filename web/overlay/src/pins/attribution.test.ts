import { expect, test } from "vitest";
import { attributionParts, attributionsOf, mergedFrom } from "./attribution.ts";
import type { Entity, Source } from "../net/wire.ts";

const entity = (id: string, over: Partial<Entity> = {}): Entity => ({
  id,
  layer_slug: "ring",
  kind_id: "alert.hazard.ice",
  geom: { type: "Point", coordinates: [5, 52] },
  geom_line: null,
  first_seen_at: "2026-11-21T07:50:00Z",
  last_seen_at: "2026-11-21T07:50:00Z",
  expires_at: "2026-11-21T08:10:00Z",
  status: "reported",
  confidence: 0.5,
  confirm_count: 0,
  dispute_count: 0,
  properties: {},
  ...over,
});
const source = (id: string, slug: string, attribution: string): Source => ({ id, label: id, attribution, layer_slugs: [slug], kind_ids: null, default_on: true, source_type: "feed-push" });

const sources = [source("feed:a", "ring", "© Ring"), source("feed:b", "power", "© Power"), source("feed:c", "jams", "© Ring"), source("feed:d", "silent", "")];

test("attributions are those of the entities in view and of those merged into them, each once", () => {
  const merged = { merged_from: [{ source: "feed:b", id: "q" }, { source: 3 }, null] };
  expect(mergedFrom(entity("a", { properties: merged }))).toEqual([{ source: "feed:b", id: "q" }]);
  expect(attributionsOf([], sources, ["© Map"])).toEqual(["© Map"]);
  expect(attributionsOf([entity("a"), entity("b", { layer_slug: "jams" })], sources, [])).toEqual(["© Ring"]);
  expect(attributionsOf([entity("a", { properties: merged }), entity("d", { layer_slug: "silent" })], sources, ["© Map"])).toEqual(["© Map", "© Ring", "© Power"]);
});

test("a licence stands with the attribution, and not alone", () => {
  const licensed = sources.map((one) => ({ ...one, licence: one.id === "feed:c" ? "" : "ODbL-1.0" }));
  const inView = [entity("a"), entity("b", { layer_slug: "jams" }), entity("d", { layer_slug: "silent" })];
  expect(attributionsOf(inView, licensed, [])).toEqual(["© Ring (ODbL-1.0)", "© Ring"]);
  expect(attributionsOf(inView, licensed, ["© Ring"])).toEqual(["© Ring (ODbL-1.0)", "© Ring"]);
});

test.each([{ source: "feed:b" }, { id: "q" }, { source: 5, id: "q" }, { source: "feed:b", id: null }])("%j names no merged entity", (one) => {
  expect(mergedFrom({ properties: { merged_from: [one] } })).toEqual([]);
});

test("OpenStreetMap is linked to its notice wherever an attribution names it", () => {
  const href = "https://www.openstreetmap.org/copyright";
  expect(attributionParts("© Testshire")).toEqual([{ text: "© Testshire" }]);
  expect(attributionParts("© OpenStreetMap contributors")).toEqual([{ text: "© OpenStreetMap contributors", href }]);
  expect(attributionParts("Protomaps © OpenStreetMap (ODbL-1.0) · OpenStreetMap contributors")).toEqual([
    { text: "Protomaps " },
    { text: "© OpenStreetMap", href },
    { text: " (ODbL-1.0) · " },
    { text: "OpenStreetMap contributors", href },
  ]);
});
