import { expect, it } from "vitest";
import { isDriving } from "./wakelock.ts";

it("a car drives while it moves and at a red light, not when it is parked", () => {
  expect(isDriving(null, 0)).toBe(false);
  expect(isDriving(1000, 1000)).toBe(true);
  expect(isDriving(1000, 181_000)).toBe(true);
  expect(isDriving(1000, 181_001)).toBe(false);
});
