import { expect, test } from "vitest";
import { sourcesByLayer } from "./attribution.ts";
import { visibleEntities, type Filter } from "./visibility.ts";
import type { Entity, Source } from "../net/wire.ts";

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
const everything: Filter = { sources_off: [], kinds_off: [] };
const ids = (choice: Filter, at = now, known = [entity("a"), entity("b", { layer_slug: "power", kind_id: "charger.fast", expires_at: null })]): string[] =>
  visibleEntities(known, sourcesByLayer(sources), choice, at, 0).map((one) => one.entity.id);

test("expired entities disappear exactly at their expiry", () => {
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

test("an age is counted from the first sight, by the service's clock", () => {
  const known = [entity("a"), entity("b", { first_seen_at: "?" })];
  expect(visibleEntities(known, sourcesByLayer(sources), everything, now, 0).map(({ age }) => age)).toEqual([600_000, NaN]);
});
