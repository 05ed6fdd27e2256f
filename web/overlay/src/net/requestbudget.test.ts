import { expect, test } from "vitest";
import { RequestBudget } from "./requestbudget.ts";

/** granted counts the requests that a budget grants immediately. */
function granted(budget: RequestBudget, reserve?: number): number {
  let count = 0;
  while (count < 100 && budget.tryTake(reserve)) count++;
  return count;
}

test("a guest's page may send twenty requests at once, or leave a reserve of them", () => {
  expect(granted(new RequestBudget(() => 0))).toBe(20);
  const budget = new RequestBudget(() => 0);
  expect(granted(budget, 4)).toBe(16);
  expect(granted(budget)).toBe(4);
});

test.each([
  ["200", 200, false, 20],
  ["429", 429, false, 0],
  ["503", 503, false, 0],
  ["429 for a stream, of which there are too many", 429, true, 20],
  ["503 for a stream", 503, true, 0],
  ["404", 404, false, 20],
])("after a response of %s", (_, status, isStream, want) => {
  const budget = new RequestBudget(() => 0);
  budget.observe(new Response(null, { status, headers: { "Retry-After": "3" } }), isStream);
  expect(granted(budget)).toBe(want);
});
