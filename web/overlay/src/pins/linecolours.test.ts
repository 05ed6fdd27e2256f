import { expect, test } from "vitest";
import { lineColour, severityOf } from "./linecolours.ts";

test("a line is coloured by closure and by the jam's level; works and hazards ask for care", () => {
  const of = (kind_id: string, level?: unknown): string => severityOf({ kind_id, properties: level === undefined ? {} : { level } });
  expect(of("alert.road_closed")).toBe("closed");
  expect([0, 2, 3, 4, 5].map((level) => of("traffic.jam", level))).toEqual(["slow", "slow", "heavy", "standstill", "closed"]);
  expect(of("traffic.jam")).toBe("heavy");
  expect(of("traffic.jam", "5")).toBe("heavy");
  expect(of("alert.construction", 5)).toBe("care");
  expect(of("alert.hazard.ice")).toBe("care");
  expect(of("alert.accident")).toBe("standstill");
});

test("severities have different colours, by day and by night", () => {
  for (const look of ["day", "night", "lost"] as const) {
    const drawn = lineColour(look).filter((part) => typeof part === "string" && part.startsWith("#"));
    expect(new Set(drawn).size).toBe(4);
  }
  expect(lineColour("day")).not.toEqual(lineColour("night"));
});
