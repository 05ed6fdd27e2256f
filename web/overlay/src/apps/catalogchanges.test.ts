import { expect, test } from "vitest";
import { CatalogChanges } from "./catalogchanges.ts";

const at = (revision: number, ...changed: string[]): { revision: number; changed: string[] } => ({ revision, changed });

test.each([
  ["the first stream, since an app may have been suspended after the page's first read", null, at(7), true],
  ["the first stream, when an app of others changed meanwhile", null, at(7, "x"), true],
  ["another stream, and nothing was missed", at(7), at(7), false],
  ["another stream after a change", at(7), at(8), true],
  ["a service that was restored from a backup", at(7), at(5), true],
  ["an app of this driver changed", at(7), at(8, "x", "b"), true],
  ["another app changed", at(7), at(8, "x"), false],
  ["a page of this driver's was marked", at(7), at(7, "a"), true],
])("%s", (_, before, change, want) => {
  expect(new CatalogChanges(before).mustRead(change, ["a", "b"])).toBe(want);
});

test("the last change before the first read needs no other one", () => {
  const change = at(7, "a");
  expect(new CatalogChanges(change).mustRead(change, null)).toBe(false);
});

test("a change while the first read is under way needs another one", () => {
  expect(new CatalogChanges(at(7)).mustRead(at(8, "a"), null)).toBe(true);
});

test("each change is compared with the one before", () => {
  const changes = new CatalogChanges(null);
  expect([at(7), at(7), at(8, "x"), at(8), at(9)].map((change) => changes.mustRead(change, ["a"]))).toEqual([true, false, false, false, true]);
});
