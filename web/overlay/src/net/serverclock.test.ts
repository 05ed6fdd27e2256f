import { describe, expect, it } from "vitest";
import { adjustClock, serverTime, type ServerClock } from "./serverclock.ts";
import { seeded } from "../../../test/seeded.ts";

describe("the service's clock", () => {
  const iso = (ms: number): string => new Date(ms).toISOString();
  const truth = 1.8e12; // the service's time when mono is 0

  it("is right to half of the way there and back", () => {
    const clock = adjustClock(null, iso(truth + 1200), 1000, 1400);
    expect(serverTime(clock, 5000, 0)).toBe(truth + 5000);
  });

  it("does not depend on the car's clock", () => {
    const clock = adjustClock(null, iso(truth + 1200), 1000, 1400);
    expect(serverTime(clock, 5000, 99)).toBe(serverTime(clock, 5000, 4e12));
    expect(serverTime(null, 5000, 99)).toBe(99);
  });

  it("improves with each answer, and is never worse than the longest round trip", () => {
    const random = seeded(8);
    for (let run = 0; run < 100; run++) {
      let clock: ServerClock = null;
      let longest = 0;
      for (let mono = 0; mono < 60_000; mono += 3000) {
        const there = random() * 800;
        const back = random() * 800;
        longest = Math.max(longest, there + back);
        clock = adjustClock(clock, iso(truth + mono + there), mono, mono + there + back);
        expect(Math.abs(serverTime(clock, mono, 0) - truth - mono)).toBeLessThanOrEqual(longest + 1);
      }
    }
  });

  it("leaps forward after the car's monotonic clock has stood still", () => {
    let clock = adjustClock(null, iso(truth + 100), 0, 200);
    clock = adjustClock(clock, iso(truth + 3_600_000), 1000, 1200);
    expect(serverTime(clock, 1200, 0)).toBeGreaterThanOrEqual(truth + 3_600_000);
  });

  it("is not set back by an answer out of a cache, but by one that is clearly earlier", () => {
    const clock = adjustClock(null, iso(truth), 0, 0);
    expect(adjustClock(clock, iso(truth), 10_000, 10_001)).toBe(clock);
    const later = adjustClock(clock, iso(truth), 600_000, 600_001);
    expect(serverTime(later, 600_000, 0)).toBe(truth + 30_000);
  });

  it("ignores a time that is none", () => {
    expect(adjustClock(5, "yesterday", 0, 1)).toBe(5);
    expect(adjustClock(null, "", 0, 1)).toBeNull();
  });
});
