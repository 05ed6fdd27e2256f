import { describe, expect, it } from "vitest";
import { confidenceOf, makeFormat } from "./format.ts";
import { seeded } from "../../../test/seeded.ts";
import { languages } from "../settings/settings.ts";

/** plain replaces narrow and non-breaking spaces, which differ between browsers. */
const plain = (text: string): string => text.replace(/\s/g, " ");

describe("distances", () => {
  const metric = makeFormat("en", "metric");
  it.each([
    [-5, "< 50 m"],
    [0, "< 50 m"],
    [24, "< 50 m"],
    [25, "50 m"],
    [74, "50 m"],
    [75, "100 m"],
    [349, "350 m"],
    [974, "950 m"],
    [975, "1.0 km"],
    [1000, "1.0 km"],
    [1049, "1.0 km"],
    [1051, "1.1 km"],
    [9940, "9.9 km"],
    [9960, "10 km"],
    [12_345, "12 km"],
    [123_456, "123 km"],
  ])("%d m is %s", (metres, want) => {
    expect(plain(metric.distance(metres).text)).toBe(want);
  });

  const imperial = makeFormat("en", "imperial");
  it.each([
    [0, "< 100 ft"],
    [15, "< 100 ft"],
    [16, "100 ft"],
    [100, "300 ft"],
    [289, "900 ft"],
    [320, "1000 ft"],
    [700, "2300 ft"],
    [770, "2500 ft"],
    [778, "0.5 mi"],
    [805, "0.5 mi"],
    [1609.344, "1.0 mi"],
    [16_093, "10 mi"],
  ])("%d m is %s", (metres, want) => {
    expect(plain(imperial.distance(metres).text)).toBe(want);
  });

  it("are written as each language writes them", () => {
    expect(plain(makeFormat("de", "metric").distance(1234).text)).toBe("1,2 km");
    expect(plain(makeFormat("fr", "imperial").distance(3000).text)).toContain("1,9");
    expect(metric.distance(350)).toMatchObject({ value: "350", unit: "m" });
    expect(metric.distance(10)).toMatchObject({ value: "< 50", unit: "m" });
    expect(metric.spokenDistance(350)).toBe("350 meters");
    expect(makeFormat("it", "metric").spokenDistance(350)).toBe("350 metri");
  });

  it("never grow as the car comes closer, in any language and unit", () => {
    const random = seeded(15);
    for (const units of ["metric", "imperial"] as const) {
      const format = makeFormat("en", units);
      let last = Infinity;
      for (let metres = 5000; metres > 0; metres -= random() * 20) {
        const { value, unit } = format.distance(metres);
        const now = Number(value.replace("< ", "")) * { m: 1, km: 1000, ft: 0.3048, mi: 1609.344 }[unit as "m" | "km" | "ft" | "mi"];
        expect(now).toBeLessThanOrEqual(last);
        last = now;
      }
    }
  });
});

it.each([
  [0.75, "sure"],
  [0.7499, "likely"],
  [0.6, "likely"],
  [0.5999, "open"],
  [0.4, "open"],
  [0.3999, "doubtful"],
])("a confidence of %d with a dispute is %s", (confidence, want) => {
  expect(confidenceOf(confidence, 1)).toBe(want);
});

it("nothing is doubtful that nobody disputed", () => {
  expect(confidenceOf(0.3, 0)).toBe("open");
  expect(confidenceOf(0.8, 0)).toBe("sure");
});

it("writes the lengths of the scale exactly", () => {
  expect(plain(makeFormat("en", "metric").length(20, "meter"))).toBe("20 m");
  expect(plain(makeFormat("de", "metric").length(2, "kilometer"))).toBe("2 km");
  expect(plain(makeFormat("en", "imperial").length(500, "foot"))).toBe("500 ft");
});

it("writes speeds as whole numbers", () => {
  expect(makeFormat("en", "metric").speed(13.9)).toMatchObject({ value: "50", unit: "km/h" });
  expect(makeFormat("en", "imperial").speed(13.4)).toMatchObject({ value: "30", unit: "mph" });
  expect(makeFormat("en", "metric").speed(-1).value).toBe("0");
});

it.each([
  [-1, "0 sec"],
  [12_900, "12 sec"],
  [59_999, "59 sec"],
  [60_000, "1 min"],
  [3 * 60_000 + 59_000, "3 min"],
  [3_600_000, "1 hr"],
  [86_399_999, "23 hr"],
  [86_400_000, "1 day"],
  [5 * 86_400_000, "5 days"],
])("writes %d ms as %s", (ms, want) => {
  expect(plain(makeFormat("en", "metric").duration(ms))).toBe(want);
});

it.each(languages)("has figures and units in %s", (language) => {
  for (const units of ["metric", "imperial"] as const) {
    const format = makeFormat(language, units);
    for (const { value, unit, text } of [format.distance(300), format.distance(3000), format.speed(20)]) {
      expect(value).toMatch(/^[\d.,]+$/);
      expect(unit).not.toBe("");
      expect(text).toContain(value);
    }
    expect(format.duration(180_000)).toMatch(/^3.*\p{L}/u);
  }
  expect(makeFormat(language, "metric").number(1.5)).toMatch(/^1[.,]5$/);
});

// The confidence of D9.4 with a prior of one half.
const reckoned = (confirms: number, disputes: number): number => (confirms + 1) / (confirms + disputes + 2);

it.each([
  [0, 0, "open"],
  [1, 0, "likely"],
  [2, 0, "sure"],
  [9, 0, "sure"],
  [0, 1, "doubtful"],
  [1, 1, "open"],
  [2, 1, "likely"],
  [0, 3, "doubtful"],
])("%d confirms and %d disputes are %s", (confirms, disputes, want) => {
  expect(confidenceOf(Math.round(reckoned(confirms, disputes) * 100) / 100, disputes)).toBe(want);
});
