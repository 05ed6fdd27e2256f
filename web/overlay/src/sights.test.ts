import { expect, test } from "vitest";
import { creditsOf, mergedFrom, show, sourcesByLayer, type Choice } from "./sights.ts";
import type { Entity, Source } from "./wire.ts";

const now = Date.parse("2026-11-21T08:00:00Z");

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
const everything: Choice = { sources_off: [], kinds_off: [] };
const ids = (choice: Choice, at = now, known = [entity("a"), entity("b", { layer_slug: "power", kind_id: "charger.fast", expires_at: null })]): string[] =>
  show(known, sourcesByLayer(sources), choice, at, 0).map((one) => one.entity.id);

test("what expires goes by itself, at the very moment", () => {
  expect(ids(everything, now + 599_999)).toEqual(["a", "b"]);
  expect(ids(everything, now + 600_000)).toEqual(["b"]);
});

test("kinds are turned off with their subtypes, sources by their layers", () => {
  expect(ids({ ...everything, kinds_off: ["alert.hazard"] })).toEqual(["b"]);
  expect(ids({ ...everything, sources_off: ["feed:b"] })).toEqual(["a"]);
});

test("an entity of a source that is not in the catalogue is shown", () => {
  expect(ids({ ...everything, sources_off: ["feed:a"] }, now, [entity("x", { layer_slug: "private" })])).toEqual(["x"]);
});

test("credits are those of what is in view, and of what is merged into it, each once", () => {
  const merged = { merged_from: [{ source: "feed:b", id: "q" }, { source: 3 }, null] };
  expect(mergedFrom(entity("a", { properties: merged }))).toEqual([{ source: "feed:b", id: "q" }]);
  expect(creditsOf([], sources, "© Map")).toEqual(["© Map"]);
  expect(creditsOf([entity("a"), entity("b", { layer_slug: "jams" })], sources, null)).toEqual(["© Ring"]);
  expect(creditsOf([entity("a", { properties: merged }), entity("d", { layer_slug: "silent" })], sources, "© Map")).toEqual(["© Map", "© Ring", "© Power"]);
});

test("a licence stands with the attribution, and not alone", () => {
  const licensed = sources.map((one) => ({ ...one, licence: one.id === "feed:c" ? "" : "ODbL-1.0" }));
  const inView = [entity("a"), entity("b", { layer_slug: "jams" }), entity("d", { layer_slug: "silent" })];
  expect(creditsOf(inView, licensed, null)).toEqual(["© Ring (ODbL-1.0)", "© Ring"]);
});
