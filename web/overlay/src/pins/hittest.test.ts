import { expect, test } from "vitest";
import { hitTest } from "./hittest.ts";

const targets = [
  { id: "a", x: 100, y: 100 },
  { id: "b", x: 140, y: 100 },
  { id: "c", x: 140, y: 100 },
];

test.each([
  [100, 100, "a"],
  [100 - 30, 100, "a"],
  [118, 100, "a"],
  [122, 100, "c"],
  [100, 100 + 35, null],
])("a touch at %d, %d means %s", (x, y, want) => {
  expect(hitTest(targets, { x, y })?.id ?? null).toBe(want);
});
