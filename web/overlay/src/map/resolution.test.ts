import { describe, expect, test } from "vitest";
import { afterFrame, initialStats, shares, type FrameStats } from "./resolution.ts";

/** drive simulates frames whose duration is the cost of the share in use, at 60 frames a second at best. */
function drive(from: FrameStats, frames: number, cost: (share: number) => number): FrameStats {
  let stats = from;
  for (let i = 0; i < frames; i++) stats = afterFrame(stats, Math.max(1000 / 60, cost(shares[stats.at] ?? NaN)));
  return stats;
}

/** drawn returns a cost function: so many milliseconds for all pixels, plus a constant. */
const drawn =
  (pixels: number, anyway = 5) => (share: number): number => anyway + pixels * share ** 2;

const second = 60;

describe("a map that moves", () => {
  test("is drawn as finely as can be where frames come quickly", () => {
    expect(drive(initialStats, 60 * second, drawn(20)).at).toBe(0);
  });

  test("is drawn coarser where they do not, until they do, and no coarser", () => {
    for (const pixels of [30, 45, 60, 80]) {
      const { at } = drive(initialStats, 10 * second, drawn(pixels));
      expect(drawn(pixels)(shares[at] ?? NaN), `${String(pixels)} ms`).toBeLessThanOrEqual(28);
      expect(drawn(pixels)(shares[at - 1] ?? NaN), `${String(pixels)} ms, one finer`).toBeGreaterThan(25);
    }
  });

  test("takes three seconds for it at most", () => {
    expect(drive(initialStats, 60, drawn(60)).at).toBe(drive(initialStats, 600, drawn(60)).at);
  });

  test("is drawn coarser on a screen that shows a frame at beats of its own, too", () => {
    const beat = 1000 / 60;
    let [stats, done, shown] = [initialStats, 0, 0];
    for (let i = 0; i < 600; i++) {
      done += drawn(33)(shares[stats.at] ?? NaN);
      const next = Math.ceil(done / beat) * beat;
      stats = afterFrame(stats, next - shown);
      shown = next;
    }
    expect(shares[stats.at]).toBe(0.85);
  });

  test("stays as it is then", () => {
    for (let pixels = 20; pixels < 150; pixels++) {
      let stats = drive(initialStats, 10 * second, drawn(pixels, 0));
      const { at } = stats;
      for (let i = 0; i < 30; i++) {
        stats = drive(stats, 10, drawn(pixels, 0));
        expect(stats.at, `${String(pixels)} ms`).toBe(at);
      }
    }
  });

  test("is drawn with the last share where nothing helps enough", () => {
    expect(drive(initialStats, 10 * second, drawn(400)).at).toBe(shares.length - 1);
  });

  test("is drawn finely again where pixels are not what takes the time, and tried again only after a while", () => {
    const tried: number[] = [];
    let stats = initialStats;
    for (let frame = 0; frame < 8000; frame++) {
      const { at } = stats;
      stats = drive(stats, 1, drawn(1, 80));
      if (stats.at > at) tried.push(frame);
    }
    const pauses = tried.slice(1).map((frame, i) => frame - (tried[i] ?? NaN));
    expect(pauses).toEqual([120, 180, 300, 540, 1020, 1980, 1980]);
  });

  test("returns to the earlier resolution after a step without improvement, and resets the count after one with improvement", () => {
    const missed = drive(initialStats, 180, drawn(1, 80));
    expect(missed).toMatchObject({ at: 0, failedSteps: 2 });
    const helped = drive(missed, 700, drawn(60));
    expect(helped.at).toBeGreaterThan(0);
    expect(helped.at).toBeLessThan(shares.length - 1);
    expect(drive(helped, 90, drawn(1, 80))).toMatchObject({ at: helped.at, failedSteps: 1 });
  });

  test("is drawn finer step by step when frames come quickly again", () => {
    const coarse = drive(initialStats, 10 * second, drawn(90));
    expect(coarse.at).toBe(shares.length - 1);
    expect(drive(coarse, 29, drawn(2)).at).toBe(coarse.at);
    expect(drive(coarse, 31, drawn(2)).at).toBe(coarse.at - 1);
    expect(drive(coarse, 10 * second, drawn(2)).at).toBe(0);
  });

  test("does not care for a few frames that take long", () => {
    let stats = initialStats;
    for (let i = 0; i < 3000; i++) {
      stats = afterFrame(stats, i % 6 === 0 ? 300 : 17);
      expect(stats.at).toBe(0);
    }
  });
});
