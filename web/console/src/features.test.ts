import { describe, expect, it } from "vitest";
import { boxOf, itemsOf, type Item } from "./features.ts";

const feature = (geometry: unknown, properties: unknown = {}): unknown => ({ type: "Feature", geometry, properties });
const point = (lng: unknown, lat: unknown): unknown => ({ type: "Point", coordinates: [lng, lat] });
const read = (...features: unknown[]): Item[] => itemsOf({ type: "FeatureCollection", features }).items;

describe("itemsOf", () => {
  it("reads what the service answers of a feed", () => {
    const properties = { external_id: "a/1", kind_id: "camera.speed", last_seen_at: "2026-11-21T08:00:00Z", expires_at: null, properties: { street: "A1", limit: 80, more: { x: [1] } } };
    const [item] = read(feature(point(5, 52), properties));
    expect(item?.entity).toMatchObject({ id: "0", kind_id: "camera.speed", geom: { coordinates: [5, 52] }, geom_line: null });
    expect(item).toMatchObject({ externalID: "a/1", street: "A1" });
    expect(item?.facts).toEqual([
      { name: "map.seen", ours: true, value: "2026-11-21T08:00:00Z" },
      { name: "limit", ours: false, value: "80" },
      { name: "more", ours: false, value: '{"x":[1]}' },
    ]);
  });

  it("keeps lines, and puts the pin into their middle", () => {
    const [item] = read(feature({ type: "LineString", coordinates: [[1, 1], [2, 2], [3, 3]] }));
    expect(item?.entity.geom.coordinates).toEqual([2, 2]);
    expect(item?.entity.geom_line?.coordinates).toHaveLength(3);
  });

  it.each([null, 7, "x", [], {}, { features: {} }, { features: null }])("finds nothing in %j", (answer) => {
    expect(itemsOf(answer)).toEqual({ items: [], truncated: false });
  });

  it.each([null, {}, { type: "Point" }, point("5", 52), point(5, 91), point(181, 0), point(NaN, 0), { type: "LineString", coordinates: [] }, { type: "LineString", coordinates: [[1, 1], [1]] }])(
    "leaves out %j, and keeps its neighbours",
    (geometry) => {
      expect(read(feature(geometry), feature(point(1, 2))).map(({ entity }) => entity.geom.coordinates)).toEqual([[1, 2]]);
    },
  );

  it("gives each item an id of its own, whatever providers call them", () => {
    const same = { external_id: "__proto__", properties: { __proto__: null } };
    expect(read(feature(point(1, 1), same), feature(point(1, 1), same)).map(({ entity }) => entity.id)).toEqual(["0", "1"]);
  });

  it("shows a part of what is endless", () => {
    const properties = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${String(i)}`, "x".repeat(5000)]));
    const [item] = read(feature(point(1, 1), { external_id: "e".repeat(9999), properties }));
    expect(item?.facts).toHaveLength(40);
    expect(item?.facts[0]?.value).toHaveLength(401);
    expect(item?.externalID).toHaveLength(401);
  });

  it("ignores properties that would change how a pin is drawn, except zones", () => {
    const drawn = (properties: unknown): unknown => read(feature(point(1, 1), { properties }))[0]?.entity.properties;
    expect(drawn({ wayside_zone_m: 4000, merged_from: [{}] })).toEqual({ wayside_zone_m: 4000 });
    for (const width of [5_000_000, -1, 0, "4000", null, {}]) expect(drawn({ wayside_zone_m: width })).toEqual({});
  });

  it("says when there is more", () => {
    expect(itemsOf({ features: [], truncated: true }).truncated).toBe(true);
  });
});

describe("boxOf", () => {
  it("is around all of them", () => {
    expect(boxOf(read(feature(point(4, 53)), feature(point(6, 51)), feature({ type: "LineString", coordinates: [[3, 52], [5, 52]] })))).toEqual([3, 51, 6, 53]);
    expect(boxOf(read(feature(point(4, 53))))).toEqual([4, 53, 4, 53]);
    expect(boxOf([])).toBeNull();
  });

  it("crosses the antimeridian where that is shorter", () => {
    expect(boxOf(read(feature(point(179, -17)), feature(point(-179, -18))))).toEqual([179, -18, 181, -17]);
  });
});
