import { expect, test } from "vitest";
import { due } from "./reader.ts";

const here = { lat: 52, lng: 5 };
const far = { lat: 52.01, lng: 5 }; // 1.1 km
const last = { at: 100_000, place: here };

test.each([
  ["never read", 0, here, null, 0, true],
  ["just read", 101_000, here, last, 0, false],
  ["read ten seconds ago", 110_000, here, last, 0, true],
  ["moved on, but just read", 102_000, far, last, 0, false],
  ["moved on, read three seconds ago", 103_000, far, last, 0, true],
  ["asked to wait", 120_000, here, last, 130_000, false],
  ["the clock was set back", 50_000, here, last, 0, true],
])("due: %s", (_, now, place, before, waitUntil, want) => {
  expect(due(now, place, before, waitUntil)).toBe(want);
});
