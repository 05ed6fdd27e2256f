import { expect, test } from "vitest";
import { fromAnswer, noData, applyEvents } from "./nearbydata.ts";
import type { Entity, NearbyAnswer } from "../net/wire.ts";

const entity = (id: string, confidence = 0.5): Entity => ({
  id,
  layer_slug: "l",
  kind_id: "alert.jam",
  geom: { type: "Point", coordinates: [5, 52] },
  geom_line: null,
  first_seen_at: "2026-11-21T08:00:00Z",
  last_seen_at: "2026-11-21T08:00:00Z",
  expires_at: null,
  status: "reported",
  confidence,
  confirm_count: 0,
  dispute_count: 0,
  properties: {},
});
const answer = (...ids: string[]): NearbyAnswer => ({
  entities: ids.map((id) => entity(id)),
  sources: [{ id: "incidents", status: "online" }],
  fetched_at_utc: "2026-11-21T08:00:00Z",
});
const event = (type: string, data: unknown): { type: string; data: string } => ({ type, data: JSON.stringify(data) });
const ids = (data: { entities: ReadonlyMap<string, unknown> }): string[] => [...data.entities.keys()];

test("a snapshot replaces all that was known", () => {
  const data = applyEvents(fromAnswer(answer("a", "b")), [event("snapshot", answer("b", "c"))]);
  expect(ids(data)).toEqual(["b", "c"]);
  expect(data.health).toEqual([{ id: "incidents", status: "online" }]);
  expect(data.fetched).toBe("2026-11-21T08:00:00Z");
});

test("what is new, changed and gone is taken in the order in which it comes", () => {
  const data = applyEvents(fromAnswer(answer("a", "b")), [event("gone", { id: "a" }), event("entity", entity("b", 0.9)), event("entity", entity("c")), event("gone", { id: "c" }), event("entity", entity("a"))]);
  expect(ids(data)).toEqual(["b", "a"]);
  expect(data.entities.get("b")?.confidence).toBe(0.9);
});

test("after a break, entities that are not among the ids are removed", () => {
  const data = applyEvents(fromAnswer(answer("a", "b")), [event("entity", entity("c")), event("ids", { ids: ["b", "c"], sources: [] })]);
  expect(ids(data)).toEqual(["b", "c"]);
  expect(data.health).toEqual([]);
});

test("the previous data is not modified, and unknown events are ignored", () => {
  const before = fromAnswer(answer("a"));
  applyEvents(before, [event("gone", { id: "a" })]);
  expect(ids(before)).toEqual(["a"]);
  expect(applyEvents(before, [event("weather", {})])).toEqual(before);
  expect(applyEvents(noData, [])).toEqual(noData);
});

test("truncated holds until the next snapshot", () => {
  const data = applyEvents(noData, [event("snapshot", { ...answer("a"), truncated: true }), event("entity", entity("b"))]);
  expect(data.truncated).toBe(true);
  expect(applyEvents(data, [event("snapshot", answer("a"))]).truncated).toBe(false);
});

test("what the law hides here holds until the next snapshot", () => {
  const data = applyEvents(noData, [event("snapshot", { ...answer("a"), hidden_kinds: ["camera.speed"] }), event("entity", entity("b"))]);
  expect(data.hidden).toEqual(["camera.speed"]);
  expect(applyEvents(data, [event("snapshot", answer("a"))]).hidden).toEqual([]);
});
