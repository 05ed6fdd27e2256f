import { expect, test } from "vitest";
import { visitOf } from "./visit.ts";

test.each([
  ["", null, null, "first"],
  ["?other=1", null, null, "first"],
  ["?at=nowhere", null, null, "first"],
  ["?at=52,5", null, null, "locate"],
  ["?drive=demo", null, null, "locate"],
  ["", null, '{"choices":{}}', "locate"], // a driver of an earlier release
  ["", "locate", "{}", "locate"],
  ["", "look", "{}", "look"],
  ["?at=52,5", "look", "{}", "locate"],
  ["", "anything", "{}", "locate"],
] as const)("visitOf(%j, %j, %j) is %s", (query, visited, choices, want) => {
  expect(visitOf(new URLSearchParams(query), visited, choices)).toBe(want);
});
