import { expect, test } from "vitest";
import { countText } from "./icons.ts";

test("a large count is rounded down to one digit, and fits on a cluster", () => {
  const counts = [2, 19, 20, 99, 100, 999, 1000, 9999, 10_000, 250_000, 999_999, 1_000_000, 34_000_000];
  expect(counts.map(countText)).toEqual(["2", "19", "20+", "90+", "100+", "900+", "1k", "9k", "10k", "200k", "900k", "1M", "30M"]);
});
