import { expect, it } from "vitest";
import { isSamePlace, promptCorner } from "./longpressprompt.ts";

it("a finger may tremble, but not move", () => {
  expect([isSamePlace({ x: 0, y: 0 }, { x: 6, y: 6 }), isSamePlace({ x: 0, y: 0 }, { x: 8, y: 8 })]).toEqual([true, false]);
});

it("the question is above the finger, and always on the screen", () => {
  expect(promptCorner({ x: 500, y: 400 }, 1000, 800)).toEqual({ x: 350, y: 236 });
  for (const point of [{ x: 0, y: 0 }, { x: 390, y: 844 }]) {
    const { x, y } = promptCorner(point, 390, 844);
    expect(x).toBeGreaterThanOrEqual(8);
    expect(x).toBeLessThanOrEqual(390 - 300 - 8);
    expect(y).toBeGreaterThanOrEqual(8);
    expect(y).toBeLessThanOrEqual(844 - 152);
  }
});
