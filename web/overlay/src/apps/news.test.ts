import { expect, test } from "vitest";
import { concerns } from "./news.ts";

test.each([
  ["the first stream says where the catalogue is", { revision: 7, changed: [] }, null, false],
  ["another stream, and nothing was missed", { revision: 7, changed: [] }, 7, false],
  ["another stream after a change", { revision: 8, changed: [] }, 7, true],
  ["a service that was restored from a backup", { revision: 5, changed: [] }, 7, true],
  ["an app of this driver changed", { revision: 8, changed: ["x", "b"] }, 7, true],
  ["another app changed", { revision: 8, changed: ["x"] }, 7, false],
  ["a page of this driver's was marked", { revision: 7, changed: ["a"] }, 7, true],
])("%s", (_, change, known, want) => {
  expect(concerns(change, known, ["a", "b"])).toBe(want);
});
