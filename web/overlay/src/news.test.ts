import { expect, test } from "vitest";
import { answered, noNews, told } from "./news.ts";
import type { Entity, NearbyAnswer } from "./wire.ts";

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
const ids = (news: { entities: ReadonlyMap<string, unknown> }): string[] => [...news.entities.keys()];

test("a snapshot replaces all that was known", () => {
  const news = told(answered(answer("a", "b")), [event("snapshot", answer("b", "c"))]);
  expect(ids(news)).toEqual(["b", "c"]);
  expect(news.health).toEqual([{ id: "incidents", status: "online" }]);
  expect(news.fetched).toBe("2026-11-21T08:00:00Z");
});

test("what is new, changed and gone is taken in the order in which it comes", () => {
  const news = told(answered(answer("a", "b")), [event("gone", { id: "a" }), event("entity", entity("b", 0.9)), event("entity", entity("c")), event("gone", { id: "c" }), event("entity", entity("a"))]);
  expect(ids(news)).toEqual(["b", "a"]);
  expect(news.entities.get("b")?.confidence).toBe(0.9);
});

test("after a break, what is no more among the ids goes", () => {
  const news = told(answered(answer("a", "b")), [event("entity", entity("c")), event("ids", { ids: ["b", "c"], sources: [] })]);
  expect(ids(news)).toEqual(["b", "c"]);
  expect(news.health).toEqual([]);
});

test("what was known before stays as it was, and what nobody knows changes nothing", () => {
  const before = answered(answer("a"));
  told(before, [event("gone", { id: "a" })]);
  expect(ids(before)).toEqual(["a"]);
  expect(told(before, [event("weather", {})])).toEqual(before);
  expect(told(noNews, [])).toEqual(noNews);
});

test("that there is more than was told holds until the next snapshot", () => {
  const news = told(noNews, [event("snapshot", { ...answer("a"), truncated: true }), event("entity", entity("b"))]);
  expect(news.truncated).toBe(true);
  expect(told(news, [event("snapshot", answer("a"))]).truncated).toBe(false);
});

test("what the law hides here holds until the next snapshot", () => {
  const news = told(noNews, [event("snapshot", { ...answer("a"), hidden_kinds: ["camera.speed"] }), event("entity", entity("b"))]);
  expect(news.hidden).toEqual(["camera.speed"]);
  expect(told(news, [event("snapshot", answer("a"))]).hidden).toEqual([]);
});
