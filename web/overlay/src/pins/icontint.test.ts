import { expect, test } from "vitest";
import { tint, type Look } from "./icontint.ts";

const tinted = (look: Look, ...pixel: number[]): number[] => {
  const pixels = new Uint8ClampedArray(pixel);
  tint(pixels, look);
  return [...pixels];
};

test("by day a drawing stays as it is", () => {
  expect(tinted("day", 200, 30, 20, 255)).toEqual([200, 30, 20, 255]);
});

test("by night white is dimmed, colour nearly not, and what is clear stays clear", () => {
  expect(tinted("night", 255, 255, 255, 255)).toEqual([199, 199, 199, 255]);
  const [red = 0] = tinted("night", 198, 47, 28, 255);
  expect(red).toBeGreaterThan(180);
  expect(tinted("night", 10, 10, 10, 0)[3]).toBe(0);
});

test("without a connection there is no colour", () => {
  const [red, green, blue, alpha] = tinted("lost", 198, 47, 28, 128);
  expect([green, blue, alpha]).toEqual([red, red, 128]);
});
