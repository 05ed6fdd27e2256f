import { expect, it } from "vitest";
import { roved } from "./focus.ts";

it("arrows move by one and stop at the ends, Home and End go there", () => {
  expect(roved("ArrowDown", 0, 3)).toBe(1);
  expect(roved("ArrowDown", 2, 3)).toBe(2);
  expect(roved("ArrowUp", 2, 3)).toBe(1);
  expect(roved("ArrowUp", 0, 3)).toBe(0);
  expect(roved("Home", 2, 3)).toBe(0);
  expect(roved("End", 0, 3)).toBe(2);
  expect(roved("Tab", 0, 3)).toBeNull();
});
