import { describe, expect, it } from "vitest";
import { hasLeft, headsAway, isBeside, judgeOff } from "./offroute.ts";
import { beginTrack, drivenAt, follow, isFrozen, isOff, metresAt, reckon, type Track, type TrackedFix } from "./progress.ts";
import { snapToRoute } from "./snaptoroute.ts";
import { lineOf, placeOf, type Spot } from "./testroutes.ts";

const line = lineOf([0, 0], [{ to: [[1000, 0]] }, { to: [[1000, 1000]] }]);

const fixAt = (spot: Spot, at: number, more: Partial<TrackedFix> = {}): TrackedFix => ({ ...placeOf(spot), at, heading: 90, speed: 15, accuracy: 5, ...more });

function begin(fix: TrackedFix, on = line): Track {
  const track = beginTrack(on, fix);
  if (track === null) throw new Error("no track");
  return track;
}

const drive = (track: Track, fixes: readonly TrackedFix[], on = line): Track => fixes.reduce((before, fix) => follow(on, before, fix), track);

describe("snapToRoute", () => {
  const whole = { from: 0, to: 2000, expected: null };

  it("takes the nearest place", () => {
    const snap = snapToRoute(line, { ...placeOf([400, 12]), heading: null }, whole);
    expect(snap?.metres).toBeCloseTo(400, 0);
    expect(snap?.offset).toBeCloseTo(12, 0);
    expect(snap?.bearing).toBeCloseTo(90, 0);
  });

  it("takes the street of the heading at a corner", () => {
    expect(snapToRoute(line, { ...placeOf([990, 10]), heading: 0 }, whole)?.bearing).toBeCloseTo(0, 0);
    expect(snapToRoute(line, { ...placeOf([990, 10]), heading: 90 }, whole)?.bearing).toBeCloseTo(90, 0);
  });

  it("stays on the street of before where a route passes the same street twice", () => {
    const twice = lineOf([0, 0], [{ to: [[500, 0]] }, { to: [[500, 200]] }, { to: [[0, 200]] }, { to: [[0, 1]] }, { to: [[500, 1]] }]);
    expect(snapToRoute(twice, { ...placeOf([250, 0.5]), heading: 90 }, { from: 0, to: twice.length, expected: 240 })?.metres).toBeCloseTo(250, 0);
    expect(snapToRoute(twice, { ...placeOf([250, 0.5]), heading: 90 }, { from: 0, to: twice.length, expected: 1600 })?.metres).toBeGreaterThan(1500);
  });
});

describe("judging off", () => {
  const on = { offset: 5, turned: 10, departure: null, accuracy: 5, speed: 10 };

  it.each([
    ["on the route", on, false],
    ["49 m beside", { ...on, offset: 49 }, false],
    ["51 m beside", { ...on, offset: 51 }, true],
    ["80 m beside, known to 100 m", { ...on, offset: 80, accuracy: 100 }, false],
    ["120 m beside, known to 100 m", { ...on, offset: 120, accuracy: 100 }, true],
    ["against the direction", { ...on, turned: 170 }, true],
    ["across", { ...on, turned: 90 }, false],
    ["against the direction, standing", { ...on, turned: 170, speed: 1 }, false],
    ["without a heading", { ...on, turned: null }, false],
  ])("%s", (_, seen, beside) => {
    expect(isBeside(seen)).toBe(beside);
  });

  const away = { ...on, departure: { offset: 15, turned: 60 } };

  it.each([
    ["heading away", away, true],
    ["heading nearly along", { ...away, departure: { offset: 15, turned: 44 } }, false],
    ["cutting a corner", { ...away, departure: { offset: 9, turned: 60 } }, false],
    ["standing", { ...away, speed: 2 }, false],
    ["known to 40 m", { ...away, accuracy: 40 }, false],
  ])("%s", (_, seen, want) => {
    expect(headsAway(seen)).toBe(want);
  });

  it("needs two fixes in a row that head away, and no time", () => {
    let off = judgeOff(null, away, 1000);
    expect(hasLeft(off, 1000)).toBe(false);
    expect(judgeOff(off, on, 2000)).toBeNull();
    off = judgeOff(judgeOff(off, { ...on, offset: 60 }, 1500), away, 2000);
    expect(hasLeft(off, 2000)).toBe(false);
    off = judgeOff(off, away, 3000);
    expect(hasLeft(off, 3000)).toBe(true);
  });

  it("needs three seconds and two fixes", () => {
    const beside = { ...on, offset: 90 };
    let off = judgeOff(null, beside, 1000);
    expect(hasLeft(off, 9000)).toBe(false); // one fix may be wrong
    off = judgeOff(off, beside, 2000);
    expect(hasLeft(off, 3999)).toBe(false);
    expect(hasLeft(off, 4000)).toBe(true);
    expect(judgeOff(off, on, 5000)).toBeNull();
  });
});

describe("follow", () => {
  it("follows fixes with noise", () => {
    const track = drive(begin(fixAt([0, 3], 0)), Array.from({ length: 60 }, (_, i) => fixAt([(i + 1) * 15, ((i * 7) % 11) - 5], (i + 1) * 1000)));
    expect(track.metres).toBeCloseTo(900, -1);
    expect(isOff(track, 60_000)).toBe(false);
  });

  it("goes round the corner", () => {
    const track = drive(begin(fixAt([980, 0], 0)), [fixAt([995, 0], 1000), fixAt([1000, 10], 2000, { heading: 10 }), fixAt([1000, 25], 3000, { heading: 0 })]);
    expect(track.metres).toBeCloseTo(1025, -1);
  });

  it("leaves the route where the car goes straight on", () => {
    let track = begin(fixAt([980, 0], 0));
    const noticed = Array.from({ length: 12 }, (_, i) => {
      track = follow(line, track, fixAt([995 + i * 15, 0], (i + 1) * 1000));
      return isOff(track, (i + 1) * 1000);
    });
    expect(noticed.indexOf(true)).toBe(2); // 10 m and 25 m behind the junction
    expect(track.metres).toBeLessThan(1010);
  });

  it("leaves it where the car turns off, by its second fix, and not where it goes along a bend or a roundabout", () => {
    const turned = drive(begin(fixAt([485, 0], 0)), [fixAt([500, -12], 1000, { heading: 180 }), fixAt([500, -27], 2000, { heading: 180 })]);
    expect(isOff(turned, 2000)).toBe(true);
    const round = Array.from({ length: 25 }, (_, i): Spot => [500 + 20 * Math.sin((i * Math.PI) / 16), 20 - 20 * Math.cos((i * Math.PI) / 16)]);
    const bend = lineOf([0, 0], [{ to: [[500, 0], ...round, [400, -100]] }]);
    const fixes = round.filter((_, i) => i % 3 === 0).map(([x, y], i) => fixAt([x + 3, y - 3], 1000 + i * 1000, { heading: (450 - (i * 3 * 180) / 16) % 360, speed: 8 }));
    expect(fixes.some((_, i) => isOff(drive(begin(fixAt([490, 0], 0), bend), fixes.slice(0, i + 1), bend), 1000 + i * 1000))).toBe(false);
  });

  it("leaves the route where the car turns round", () => {
    const track = drive(begin(fixAt([500, 0], 0)), [0, 1, 2, 3, 4].map((i) => fixAt([495 - i * 10, 0], 1000 + i * 1000, { heading: 270, speed: 10 })));
    expect(isOff(track, 5000)).toBe(true);
  });

  it("does not leave it for a receiver that is wrong once, nor for one that is inaccurate", () => {
    const wrong = drive(begin(fixAt([500, 0], 0)), [fixAt([515, 300], 1000), fixAt([530, 2], 2000), fixAt([545, 2], 3000)]);
    expect(isOff(wrong, 9000)).toBe(false);
    const rough = drive(begin(fixAt([500, 0], 0)), [1, 2, 3, 4, 5].map((i) => fixAt([500 + i * 15, 90], i * 1000, { accuracy: 120 })));
    expect(isOff(rough, 9000)).toBe(false);
  });

  it("comes back farther ahead", () => {
    const around = [fixAt([300, 80], 5000), fixAt([600, 120], 25_000), fixAt([900, 90], 45_000), fixAt([960, 4], 50_000), fixAt([975, 2], 51_000)];
    const track = drive(begin(fixAt([200, 0], 0)), around);
    expect(track.off).toBeNull();
    expect(track.metres).toBeCloseTo(975, -1);
  });

  it("takes a place that is repeated while the car drives for no fix", () => {
    const frozen = fixAt([500, 0], 1000);
    expect(isFrozen(frozen, { ...frozen, at: 2000 })).toBe(true);
    expect(isFrozen(frozen, { ...frozen, at: 2000, speed: 0 })).toBe(false); // it stands
    const track = drive(begin(frozen), [2, 3, 4, 5].map((s) => ({ ...frozen, at: s * 1000 })));
    expect(metresAt(line, track, 5000)).toBeCloseTo(560, 0);
  });
});

describe("a bad receiver", () => {
  it("that is four seconds late leads on, that much behind", () => {
    const track = drive(begin(fixAt([0, 0], 0)), Array.from({ length: 40 }, (_, i) => fixAt([Math.max(0, (i - 3) * 15), 4], (i + 1) * 1000)));
    expect(track.off).toBeNull();
    expect(track.metres).toBeCloseTo(36 * 15, -1);
  });

  it("that jumps back once, and on again, moves nobody", () => {
    let track = begin(fixAt([700, 0], 0));
    for (const [i, east] of [715, 300, 310, 760, 775].entries()) {
      track = follow(line, track, fixAt([east, 0], (i + 1) * 1000));
      expect(isOff(track, (i + 1) * 1000), String(east)).toBe(false);
      expect(metresAt(line, track, (i + 1) * 1000)).toBeGreaterThanOrEqual(700);
    }
    expect(track.off).toBeNull();
    expect(metresAt(line, track, 5000)).toBeCloseTo(775, -1);
  });

  it("that jumps back for good is believed after three seconds", () => {
    const track = drive(begin(fixAt([900, 0], 0)), [1, 2, 3, 4, 5].map((i) => fixAt([300 + i * 15, 0], i * 1000)));
    expect(isOff(track, 5000)).toBe(true);
  });

  it("with one fix in ten seconds is followed around the corner, and noticed beside the route with the second fix", () => {
    let track = begin(fixAt([700, 0], 0));
    for (const [i, at] of ([[850, 3], [1000, 5], [1000, 150], [1000, 300]] as const).entries()) {
      track = follow(line, track, fixAt(at, (i + 1) * 10_000, { heading: i > 1 ? 0 : 90 }));
      expect(track.off, String(at)).toBeNull();
    }
    expect(track.metres).toBeCloseTo(1300, -1);
    const left = drive(begin(fixAt([980, 0], 0)), [fixAt([1130, 0], 10_000), fixAt([1280, 0], 20_000)]);
    expect(isOff(left, 20_000)).toBe(true);
  });

  it("that is wrong by two kilometres for a while leads nobody anywhere", () => {
    const wrong = drive(begin(fixAt([500, 0], 0)), [fixAt([515, 2000], 1000)]);
    expect(isOff(wrong, 60_000)).toBe(false);
    expect(metresAt(line, wrong, 2000)).toBeCloseTo(530, 0);
    expect(drive(wrong, [fixAt([530, 0], 2000)]).off).toBeNull();
  });
});

describe("reckoning", () => {
  it("goes on through a tunnel at the speed of before, around corners", () => {
    const track = drive(begin(fixAt([900, 0], 0)), [fixAt([915, 0], 1000)]);
    expect(reckon(line, track, 3000)).toMatchObject({ isReckoned: false });
    const inTunnel = reckon(line, track, 21_000);
    expect(inTunnel.metres).toBeCloseTo(1215, 0);
    expect(inTunnel.bearing).toBeCloseTo(0, 0);
    expect(inTunnel.isReckoned).toBe(true);
  });

  it("stands where the car stood, ends where the route ends, and gives up at last", () => {
    expect(metresAt(line, begin(fixAt([500, 0], 0, { speed: 0.5 })), 60_000)).toBeCloseTo(500, 0);
    expect(metresAt(line, begin(fixAt([500, 0], 0)), 3_600_000)).toBe(line.length);
    const long = lineOf([0, 0], [{ to: [[50_000, 0]] }]);
    expect(metresAt(long, begin(fixAt([0, 0], 0, { speed: 20 }), long), 3_600_000)).toBeCloseTo(3600, -1);
  });

  it("blends a fix in instead of jumping", () => {
    const before = begin(fixAt([500, 0], 0));
    const after = follow(line, before, fixAt([525, 0], 1000)); // 515 was expected
    expect(metresAt(line, after, 1000)).toBeCloseTo(515, 0);
    expect(metresAt(line, after, 2000)).toBeCloseTo(540, 0);
  });
});

describe("drivenAt", () => {
  it("goes on between fixes, and stops where the car left the route", () => {
    const on = drive(begin(fixAt([100, 0], 0)), [fixAt([115, 0], 1000)]);
    expect(drivenAt(line, on, 2000)).toBeCloseTo(130, 0);
    const beside = follow(line, on, fixAt([130, 90], 2000, { heading: 0 }));
    expect(beside.off).not.toBeNull();
    expect(metresAt(line, beside, 12_000), "it is looked for farther on").toBeGreaterThan(250);
    expect(drivenAt(line, beside, 12_000)).toBeCloseTo(115, 0);
  });
});

describe("a place set by hand", () => {
  const placed = (spot: Spot, at: number): TrackedFix => fixAt(spot, at, { accuracy: null, heading: null, speed: null });
  const on = begin(fixAt([100, 0], 0));

  it("moves the car to anywhere on the route, where it stands", () => {
    for (const [spot, metres] of [[[1000, 900], 1900], [[30, 10], 30]] as const) {
      const there = follow(line, on, placed([...spot], 1000));
      expect(there.off).toBeNull();
      expect(metresAt(line, there, 60_000)).toBeCloseTo(metres, -1);
    }
  });

  it("has left the route without a second fix", () => {
    const beside = follow(line, on, placed([500, 200], 1000));
    expect(isOff(beside, 1000)).toBe(true);
    expect(isOff(follow(line, beside, placed([600, 0], 2000)), 2000)).toBe(false);
  });
});
