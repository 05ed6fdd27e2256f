import { describe, expect, test } from "vitest";
import { minUnclusteredZoom, cluster as clusterBy, mergeClose, type Cluster, type ClusterPoint, type ClusteredPoints } from "./clusters.ts";
import { seeded } from "../../../test/seeded.ts";

const gravities: Readonly<Record<string, number>> = { light: 1, grave: 3 };
const cluster = <S extends ClusterPoint>(points: readonly S[], zoom: number): ClusteredPoints<S> => clusterBy(points, zoom, (kind) => gravities[kind] ?? 0);

const random = seeded(4);
const many: ClusterPoint[] = Array.from({ length: 500 }, (_, i) => ({ id: String(i), lat: 52 + random() * 0.2, lng: 5 + random() * 0.3, kind: "light" }));

test("near enough, each pin stands for itself", () => {
  expect(cluster(many, minUnclusteredZoom)).toEqual({ single: many, clusters: [] });
  expect(cluster(many, minUnclusteredZoom + 4.2).single).toHaveLength(500);
});

test("every pin is counted exactly once, at any zoom", () => {
  for (let zoom = 0; zoom < minUnclusteredZoom; zoom += 0.5) {
    const { single, clusters } = cluster(many, zoom);
    expect(single.length + clusters.reduce((sum, { count }) => sum + count, 0)).toBe(500);
    expect(clusters.every(({ count }) => count > 1)).toBe(true);
  }
});

test("pins are clustered below zoom 13, in cells of 72 pixels from the corner of the map", () => {
  const pixel = 360 / (512 * 2 ** 10); // degrees of longitude at zoom 10
  const at = (x: number): ClusterPoint => ({ id: String(x), lat: 85.05, lng: -180 + x * pixel, kind: "light" });
  const counts = (...xs: number[]): number[] => cluster(xs.map(at), 10).clusters.map(({ count }) => count);
  expect(counts(1, 71)).toEqual([2]);
  expect(counts(71, 73)).toEqual([]);
  expect(counts(73, 143, 145)).toEqual([2]);
  const close = [at(1), at(2)];
  expect([cluster(close, 12.9).clusters.length, cluster(close, 13).clusters.length]).toEqual([1, 0]);
});

test("a cluster lies at the mean of its pins", () => {
  const [found] = cluster([{ id: "a", lat: 52, lng: 5, kind: "light" }, { id: "b", lat: 52.002, lng: 5.004, kind: "light" }], 3).clusters;
  expect([found?.lat, found?.lng]).toEqual([expect.closeTo(52.001, 9), expect.closeTo(5.002, 9)]);
});

test("farther out there are fewer", () => {
  const sizes = [10, 9, 8, 7, 6].map((zoom) => cluster(many, zoom).clusters.length + cluster(many, zoom).single.length);
  expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
  expect(cluster(many, 3).clusters).toHaveLength(1);
});

test("a cluster keeps its id while pins come and go, and within a whole zoom", () => {
  const ids = (points: readonly ClusterPoint[], zoom: number): Set<string> => new Set(cluster(points, zoom).clusters.map(({ id }) => id));
  expect(ids(many, 8.9)).toEqual(ids(many, 8));
  const [first] = [...ids(many, 6)];
  expect(ids(many.slice(5), 6).has(first ?? "")).toBe(true);
  expect(ids(many, 7).has(first ?? "")).toBe(false);
});

test("the three newest pins of two minutes are drawn by themselves, above all others", () => {
  const aged = (ages: (number | undefined)[]): ClusterPoint[] => ages.map((age, i) => ({ id: String(age ?? i), lat: 52, lng: 5, kind: "light", ...(age !== undefined && { age }) }));
  const of = (...ages: (number | undefined)[]): [string[], number[]] => {
    const { single, clusters } = cluster(aged(ages), 3);
    return [single.map(({ id }) => id), clusters.map(({ count }) => count)];
  };
  expect(of(undefined, undefined, 119_999)).toEqual([["119999"], [2]]);
  expect(of(undefined, NaN, 120_000)).toEqual([[], [3]]);
  expect(of(undefined, 40_000, 10, undefined, 0, 3000)).toEqual([["0", "10", "3000"], [3]]);
});

test("the poles and the date line have cells too", () => {
  const { single, clusters } = cluster([{ id: "n", lat: 90, lng: 180, kind: "light" }, { id: "s", lat: -90, lng: -180, kind: "light" }, { id: "t", lat: -90, lng: -180, kind: "light" }], 5);
  expect([single.length, clusters.length, clusters[0]?.count]).toEqual([1, 1, 2]);
});

test("a cluster has the gravest kind of its pins, and one that no node names is the least grave", () => {
  const kindsOf = (...kinds: string[]): string | undefined => cluster(kinds.map((kind, i) => ({ id: String(i), lat: 52, lng: 5, kind })), 3).clusters[0]?.kind;
  expect(kindsOf("light", "grave", "light")).toBe("grave");
  expect(kindsOf("new", "light")).toBe("light");
  expect(kindsOf("new", "newer")).toBe("new");
});

describe("clusters of the service", () => {
  const at = (id: string, lng: number, count: number, kind = "light"): Cluster => ({ id, lat: 0, lng, count, kind });
  const pixel = 360 / 512 / 2 ** 5; // degrees at zoom 5

  test("those that would cover each other become one with all of their entities", () => {
    const merged = mergeClose([at("a", 0, 30, "grave"), at("b", 40 * pixel, 500), at("c", 80 * pixel, 2)], 5.9, (kind) => (kind === "grave" ? 1 : 0));
    expect(merged).toEqual([at("b", 40 * pixel, 532, "grave")]);
  });

  test("others stay as they are", () => {
    const apart = [at("a", 0, 30), at("b", 60 * pixel, 20)];
    expect(mergeClose(apart, 5, () => 0)).toEqual(apart);
    expect(mergeClose(apart, 4.9, () => 0)).toEqual([at("a", 0, 50)]);
  });
});
