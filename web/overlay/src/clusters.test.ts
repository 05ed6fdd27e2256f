import { expect, test } from "vitest";
import { minUnclusteredZoom, cluster, type ClusterPoint } from "./clusters.ts";
import { seeded } from "./seeded.ts";

const random = seeded(4);
const many: ClusterPoint[] = Array.from({ length: 500 }, (_, i) => ({ id: String(i), lat: 52 + random() * 0.2, lng: 5 + random() * 0.3 }));

test("near enough, each pin stands for itself", () => {
  expect(cluster(many, minUnclusteredZoom)).toEqual({ single: many, clusters: [] });
  expect(cluster(many, minUnclusteredZoom + 4.2).single).toHaveLength(500);
});

test("nobody is lost and nobody is counted twice, at any zoom", () => {
  for (let zoom = 0; zoom < minUnclusteredZoom; zoom += 0.5) {
    const { single, clusters } = cluster(many, zoom);
    expect(single.length + clusters.reduce((sum, { count }) => sum + count, 0)).toBe(500);
    expect(clusters.every(({ count }) => count > 1)).toBe(true);
  }
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

test("the poles and the date line have cells too", () => {
  const { single, clusters } = cluster([{ id: "n", lat: 90, lng: 180 }, { id: "s", lat: -90, lng: -180 }, { id: "t", lat: -90, lng: -180 }], 5);
  expect([single.length, clusters.length, clusters[0]?.count]).toEqual([1, 1, 2]);
});
