import { describe, expect, it } from "vitest";
import { destination, bearing, distance, angleBetween, type Place } from "../geo/geo.ts";
import { poseAt, addFix, tunnelAfter, type Motion, type RawFix } from "./deadreckoning.ts";
import { seeded } from "../../../test/seeded.ts";

const origin = { lat: 52, lng: 5 };
const fixAt = (place: Place, more: Partial<RawFix> = {}): RawFix => ({ ...place, accuracy: 5, heading: null, speed: null, ...more });
const on = (metres: number, more: Partial<RawFix> = {}, degrees = 0): RawFix => fixAt(destination(origin, degrees, metres), more);

function taken(fixes: [now: number, fix: RawFix][], start: Motion | null = null): Motion {
  const motion = fixes.reduce<Motion | null>((before, [now, fix]) => addFix(before, fix, now), start);
  if (motion === null) throw new Error("nothing was taken");
  return motion;
}

describe("heading and speed", () => {
  it("are taken from the browser when it tells them", () => {
    const motion = taken([
      [0, on(0, { heading: 30, speed: 10 })],
      [1000, on(10, { heading: 40, speed: 12 })],
    ]);
    expect(motion).toMatchObject({ heading: 40, speed: 12 });
  });

  it("are reckoned from the movement when it does not", () => {
    const motion = taken(Array.from({ length: 5 }, (_, i) => [i * 1000, on(i * 15, {}, 90)]));
    expect(motion.speed).toBeCloseTo(15, 1);
    expect(motion.heading).toBeCloseTo(90, 1);
  });

  it.each([NaN, -1, Infinity])("that are %d count as unknown", (figure) => {
    const motion = taken(Array.from({ length: 5 }, (_, i) => [i * 1000, on(i * 15, { heading: figure, speed: figure }, 180)]));
    expect(motion.speed).toBeCloseTo(15, 1);
    expect(motion.heading).toBeCloseTo(180, 1);
  });

  it("ignore movements that are smaller than the fixes are wrong", () => {
    const random = seeded(11);
    let motion: Motion | null = null;
    for (let i = 0; i < 100; i++) motion = addFix(motion, on(random() * 19, { accuracy: 40 }, random() * 360), i * 1000);
    expect(motion).toMatchObject({ heading: null, speed: 0 });
  });

  it("need only the accuracy", () => {
    const motion = taken(Array.from({ length: 6 }, (_, i) => [i * 1000, on(i * 10, { accuracy: 45 })]));
    expect(motion.speed).toBeCloseTo(10, 1);
    expect(motion.heading).toBeCloseTo(0, 1);
  });

  it("keep the last heading below 2 m/s, even if the browser reports another", () => {
    const motion = taken([
      [0, on(0, { heading: 30, speed: 10 })],
      [1000, on(5, { heading: 200, speed: 1.9 })],
      [2000, on(6, { heading: 250, speed: 0 })],
    ]);
    expect(motion).toMatchObject({ heading: 30, speed: 0 });
    expect(taken([[0, on(0, { heading: 90, speed: 1 })]]).heading).toBeNull();
  });

  it("follow a bend", () => {
    let place: Place = origin;
    let motion: Motion | null = null;
    for (let i = 0; i < 20; i++) {
      place = destination(place, i * 9, 10);
      motion = addFix(motion, fixAt(place), i * 1000);
    }
    expect(Math.abs(angleBetween(motion?.heading ?? 0, 19 * 9))).toBeLessThan(10);
  });

  it("work across the antimeridian", () => {
    const start = { lat: 10, lng: 179.9999 };
    const motion = taken(Array.from({ length: 5 }, (_, i) => [i * 1000, fixAt(destination(start, 90, i * 15))]));
    expect(motion.lng).toBeLessThan(0);
    expect(motion.speed).toBeCloseTo(15, 1);
    expect(motion.heading).toBeCloseTo(90, 1);
    expect(distance(poseAt(motion, 5000), destination(start, 90, 75))).toBeLessThan(1);
  });
});

describe("outliers", () => {
  const driving: [number, RawFix][] = [
    [0, on(0, { heading: 0, speed: 20 })],
    [1000, on(20, { heading: 0, speed: 20 })],
  ];

  it("are dropped, and the next valid fix is used", () => {
    const before = taken(driving);
    const elapsed = taken([[2000, on(500)]], before);
    expect(elapsed).toMatchObject({ lat: before.lat, lng: before.lng, at: 1000 });
    const next = taken([[3000, on(60, { heading: 0, speed: 20 })]], elapsed);
    expect(next.at).toBe(3000);
    expect(next.outlier).toBeNull();
  });

  it("begin beyond 80 m/s", () => {
    expect(taken([[2000, on(99)]], taken(driving)).at).toBe(2000);
    expect(taken([[2000, on(101)]], taken(driving)).at).toBe(1000);
  });

  it("are believed when three in a row agree", () => {
    let motion = taken(driving);
    motion = taken([[2000, on(5000)], [3000, on(5020)]], motion);
    expect(motion.at).toBe(1000);
    motion = taken([[4000, on(5040, { heading: 0, speed: 20 })]], motion);
    expect(motion.at).toBe(4000);
    expect(distance(poseAt(motion, 4000), on(5040))).toBeLessThan(0.01);
  });

  it("are not believed when they disagree", () => {
    let motion = taken(driving);
    for (let i = 0; i < 10; i++) motion = taken([[2000 + i, on(5000 + (i % 2) * 3000)]], motion);
    expect(motion.at).toBe(1000);
  });

  it("are not what comes after a long gap", () => {
    expect(taken([[61_000, on(2000, { heading: 0, speed: 30 })]], taken(driving)).at).toBe(61_000);
  });

  it("are not what somebody names", () => {
    const motion = taken([[1100, { lat: -30, lng: 100, accuracy: null, heading: null, speed: null }]], taken(driving));
    expect(motion).toMatchObject({ lat: -30, lng: 100, heading: null, speed: null });
    expect(poseAt(motion, 1e9).held).toBe(false);
  });

  it("nor places that are none", () => {
    const before = taken(driving);
    expect(addFix(before, on(0, { lat: NaN }), 2000)).toBe(before);
    expect(addFix(null, on(0, { lat: 91 }), 0)).toBeNull();
  });
});

describe("between two fixes", () => {
  it("the car is extrapolated at its speed", () => {
    const motion = taken([[0, on(0, { heading: 90, speed: 20 })]]);
    expect(distance(poseAt(motion, 500), destination(origin, 90, 10))).toBeLessThan(0.1);
  });

  it("nothing leaps when a fix comes, and the error is gone soon", () => {
    const random = seeded(12);
    for (let run = 0; run < 100; run++) {
      let motion: Motion | null = null;
      for (let i = 0; i < 10; i++) {
        const noisy = destination(on(i * 20), random() * 360, random() * 8);
        const before: Motion | null = motion;
        const elapsed = addFix(motion, fixAt(noisy, { heading: (358 + random() * 4) % 360, speed: 20 }), i * 1000);
        if (before !== null && elapsed !== null) expect(distance(poseAt(before, i * 1000), poseAt(elapsed, i * 1000))).toBeLessThan(0.01);
        motion = elapsed;
      }
      if (motion === null) throw new Error("nothing was taken");
      expect(distance(poseAt(motion, 9000 + 700), destination(motion, motion.heading ?? 0, 14))).toBeLessThan(0.1);
    }
  });

  it("frames lie close together", () => {
    let motion: Motion | null = null;
    let last: Place | null = null;
    for (let ms = 0; ms < 20_000; ms += 16) {
      if (ms % 1000 === 0) motion = addFix(motion, on(ms / 50 + (ms % 3000) / 1000, { heading: 0, speed: 20 }), ms);
      if (motion === null) continue;
      const pose = poseAt(motion, ms);
      if (last !== null) expect(distance(last, pose)).toBeLessThan(0.6);
      last = pose;
    }
  });

  it("the car turns the short way", () => {
    const motion = taken([
      [0, on(0, { heading: 359, speed: 20 })],
      [1000, on(20, { heading: 1, speed: 20 })],
    ]);
    expect(poseAt(motion, 1000).heading).toBeCloseTo(359, 6);
    expect(poseAt(motion, 1350).heading).toBeCloseTo(0, 6);
    expect(poseAt(motion, 1700).heading).toBeCloseTo(1, 6);
  });

  it("a large correction is made at once", () => {
    const motion = taken([
      [0, on(0, { heading: 0, speed: 20 })],
      [20_000, on(600, { heading: 0, speed: 20 })],
    ]);
    expect(distance(poseAt(motion, 20_000), on(600))).toBeLessThan(0.01);
  });

  it("a car that stands is not drawn onwards", () => {
    const motion = taken([
      [0, on(0, { heading: 0, speed: 10 })],
      [1000, on(0, { heading: 0, speed: 1.9 })],
    ]);
    expect(motion.heading).toBe(0);
    expect(distance(poseAt(motion, 5000), origin)).toBeLessThan(1e-6);
  });

  it("two that come together make neither an outlier nor a speed", () => {
    const motion = taken([
      [0, on(0)],
      [1000, on(15)],
      [1010, on(22)],
    ]);
    expect(motion.at).toBe(1010);
    expect(motion.speed).toBeLessThan(25);
  });

  it("a clock that goes back does not move the car back", () => {
    const motion = taken([
      [0, on(0, { heading: 0, speed: 20 })],
      [1000, on(30, { heading: 0, speed: 20 })],
    ]);
    expect(distance(poseAt(motion, 0), poseAt(motion, 1000))).toBeLessThan(1e-6);
  });
});

describe("a tunnel", () => {
  const motion = taken([[0, on(0, { heading: 0, speed: 20 })]]);

  it("holds the car after ten seconds and reports it", () => {
    expect(poseAt(motion, tunnelAfter - 1).held).toBe(false);
    expect(poseAt(motion, tunnelAfter).held).toBe(true);
    expect(distance(poseAt(motion, tunnelAfter), poseAt(motion, 600_000))).toBe(0);
  });

  it("is entered without a jerk", () => {
    let last = 0;
    let step = Infinity;
    for (let ms = 100; ms <= tunnelAfter; ms += 100) {
      const metres = distance(origin, poseAt(motion, ms));
      expect(metres).toBeGreaterThanOrEqual(last);
      expect(metres - last).toBeLessThanOrEqual(step + 1e-6);
      step = metres - last;
      last = metres;
    }
    expect(step).toBeLessThan(0.1);
    expect(Math.abs(bearing(origin, poseAt(motion, 5000)))).toBeLessThan(0.01);
  });

  it("ends with the next fix", () => {
    expect(poseAt(taken([[30_000, on(500, { heading: 0, speed: 20 })]], motion), 30_000).held).toBe(false);
  });
});

it("keeps a short trail however often fixes come", () => {
  let motion: Motion | null = null;
  for (let ms = 0; ms < 60_000; ms += 50) motion = addFix(motion, on(ms / 100), ms);
  expect(motion?.trail.length).toBeLessThanOrEqual(22);
});

describe("limits", () => {
  it("the pose is held from the tenth second without a fix", () => {
    const motion = taken([[0, on(0, { heading: 0, speed: 20 })]]);
    expect([9999, 10_000].map((ms) => poseAt(motion, ms).held)).toEqual([false, true]);
  });

  // Constant speed for 3 s, then decelerating to zero at 10 s.
  it.each([
    [1000, 20],
    [3000, 60],
    [6500, 112.5],
    [10_000, 130],
    [60_000, 130],
  ])("%d ms after a fix at 20 m/s the car is extrapolated by %d m", (ms, metres) => {
    expect(distance(origin, poseAt(taken([[0, on(0, { heading: 0, speed: 20 })]]), ms))).toBeCloseTo(metres, 3);
  });

  it.each([
    [10_000, 5],
    [10_001, 0],
  ])("a track point that is %d ms old gives a speed of %d m/s", (ms, speed) => {
    expect(taken([[0, on(0)], [ms, on(50, { accuracy: 45 })]]).speed).toBeCloseTo(speed, 3);
  });

  it.each([
    [800, 25],
    [799, 0],
  ])("two fixes within %d ms give a speed of %d m/s", (ms, speed) => {
    expect(taken([[0, on(0)], [ms, on(20)]]).speed).toBeCloseTo(speed, 3);
  });

  it.each([
    [499, 1],
    [500, 2],
  ])("after %d ms the trail has %d track points", (ms, points) => {
    expect(taken([[0, on(0)], [ms, on(5)]]).trail).toHaveLength(points);
  });

  it.each([
    [15.9, 10],
    [16.1, 0],
  ])("a fix 10 ms after another and %d m away counts as of %d ms", (metres, at) => {
    expect(taken([[0, on(0)], [10, on(metres)]]).at).toBe(at);
  });

  it.each([
    [99, 0],
    [101, 101],
  ])("a correction of %d m draws the car at %d m", (metres, drawn) => {
    expect(distance(origin, poseAt(taken([[0, on(0)], [5000, on(metres)]]), 5000))).toBeCloseTo(drawn, 3);
  });

  it("a heading counts from exactly 2 m/s on, and north is a heading", () => {
    const first = taken([[0, on(0, { heading: 0, speed: 2 })]]);
    expect(first.heading).toBe(0);
    expect(distance(origin, poseAt(first, 1000))).toBeCloseTo(2, 3);
    expect(taken([[1000, on(2, { heading: 90, speed: 2 })]], first).heading).toBe(90);
  });

  it("a first heading is drawn without a turn", () => {
    const motion = taken([[0, on(0)], [1000, on(10, { heading: 30, speed: 10 })]]);
    expect(poseAt(motion, 1000).heading).toBe(30);
  });

  it("a place may be a pole or on the antimeridian, and not beyond", () => {
    const isTaken = (lat: number, lng: number): boolean => addFix(null, fixAt({ lat, lng }), 0) !== null;
    expect([isTaken(90, 180), isTaken(-90, -180)]).toEqual([true, true]);
    expect([isTaken(90.1, 0), isTaken(80, 0), isTaken(0, 180.1), isTaken(0, NaN)]).toEqual([false, true, false, false]);
  });
});
