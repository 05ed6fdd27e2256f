import { describe, expect, it } from "vitest";
import { age, backoff, broken, greyAfter, hasSlept, heard, lifetimeOf, linked, lostFor, mayTry, serverTime, unlinked, woken } from "./decay.ts";
import type { Link, ServerClock } from "./decay.ts";
import { seeded } from "./seeded.ts";

const minute = 60_000;

describe("ageing", () => {
  const hour = { lastSeen: 0, expires: 60 * minute };

  it.each([
    [0, "fresh", 1],
    [29, "fresh", 1],
    [30, "ageing", 0.75],
    [47, "ageing", 0.75],
    [48, "stale", 0.5],
    [59.999, "stale", 0.5],
    [60, "gone", 0],
    [1000, "gone", 0],
  ])("of an hour's pin after %d min: %s", (after, freshness, opacity) => {
    expect(age(hour, after * minute, 0)).toEqual({ freshness, opacity, grey: false });
  });

  it.each([
    [0, "fresh", false],
    [greyAfter - 1, "fresh", false],
    [greyAfter, "ageing", true],
    [5 * minute, "stale", true],
  ])("of a fresh pin whose service is lost for %d ms", (lost, freshness, grey) => {
    expect(age(hour, minute, lost)).toMatchObject({ freshness, grey });
  });

  it("takes pins away while the service is lost", () => {
    expect(age(hour, 60 * minute, 10 * minute).freshness).toBe("gone");
  });

  it("does not touch what persists, but for its colour", () => {
    const camera = { lastSeen: 0, expires: null };
    expect(age(camera, 1e15, 0)).toEqual({ freshness: "fresh", opacity: 1, grey: false });
    expect(age(camera, 1e15, 1e15)).toEqual({ freshness: "ageing", opacity: 0.75, grey: true });
  });

  it("never makes a pin younger as time goes by", () => {
    const order = ["fresh", "ageing", "stale", "gone"];
    const random = seeded(7);
    for (let i = 0; i < 500; i++) {
      const pin = { lastSeen: 0, expires: random() * 1e7 };
      let before = 0;
      for (let t = 0; t < 1.1e7; t += 1e6) {
        const rank = order.indexOf(age(pin, t, t / 20).freshness);
        expect(rank).toBeGreaterThanOrEqual(before);
        before = rank;
      }
    }
  });

  it("reads an entity's times", () => {
    expect(lifetimeOf({ last_seen_at: "1970-01-01T00:00:01Z", expires_at: "1970-01-01T00:00:02.5Z" })).toEqual({ lastSeen: 1000, expires: 2500 });
    expect(lifetimeOf({ last_seen_at: "1970-01-01T00:00:01Z", expires_at: null }).expires).toBeNull();
    expect(lifetimeOf({ last_seen_at: "", expires_at: "soon" }).expires).toBeNull();
  });

  it("keeps a pin whose times make no sense for as long as they allow", () => {
    expect(age({ lastSeen: NaN, expires: 1000 }, 999, 0).freshness).toBe("stale");
    expect(age({ lastSeen: 2000, expires: 1000 }, 999, 0).freshness).toBe("stale");
    expect(age({ lastSeen: NaN, expires: 1000 }, 1000, 0).freshness).toBe("gone");
  });
});

describe("the service's clock", () => {
  const iso = (ms: number): string => new Date(ms).toISOString();
  const truth = 1.8e12; // the service's time at mono 0

  it("is right to half of the way there and back", () => {
    const clock = heard(null, iso(truth + 1200), 1000, 1400);
    expect(serverTime(clock, 5000, 0)).toBe(truth + 5000);
  });

  it("does not care what the car's clock says", () => {
    const clock = heard(null, iso(truth + 1200), 1000, 1400);
    expect(serverTime(clock, 5000, 99)).toBe(serverTime(clock, 5000, 4e12));
    expect(serverTime(null, 5000, 99)).toBe(99);
  });

  it("gets better with each answer, and never worse than the longest way", () => {
    const random = seeded(8);
    for (let run = 0; run < 100; run++) {
      let clock: ServerClock = null;
      let longest = 0;
      for (let mono = 0; mono < 60_000; mono += 3000) {
        const there = random() * 800;
        const back = random() * 800;
        longest = Math.max(longest, there + back);
        clock = heard(clock, iso(truth + mono + there), mono, mono + there + back);
        expect(Math.abs(serverTime(clock, mono, 0) - truth - mono)).toBeLessThanOrEqual(longest + 1);
      }
    }
  });

  it("leaps forward after the car's monotonic clock has stood still", () => {
    let clock = heard(null, iso(truth + 100), 0, 200);
    clock = heard(clock, iso(truth + 3_600_000), 1000, 1200);
    expect(serverTime(clock, 1200, 0)).toBeGreaterThanOrEqual(truth + 3_600_000);
  });

  it("is not set back by an answer out of a cache, but by one that is clearly earlier", () => {
    const clock = heard(null, iso(truth), 0, 0);
    expect(heard(clock, iso(truth), 10_000, 10_001)).toBe(clock);
    const later = heard(clock, iso(truth), 600_000, 600_001);
    expect(serverTime(later, 600_000, 0)).toBe(truth + 30_000);
  });

  it("ignores a time that is none", () => {
    expect(heard(5, "yesterday", 0, 1)).toBe(5);
    expect(heard(null, "", 0, 1)).toBeNull();
  });
});

describe("sleep", () => {
  it.each([
    [1000, 1000, false],
    [10_000, 10_000, false],
    [10_001, 10_001, true],
    [1000, 3_600_000, true],
    [60_000, 1000, true],
    [1000, -3_600_000, false],
  ])("mono %d ms, wall %d ms: %s", (mono, wall, slept) => {
    expect(hasSlept({ mono: 5, wall: 1e12 }, { mono: 5 + mono, wall: 1e12 + wall })).toBe(slept);
  });
});

describe("the connection", () => {
  it("is tried again after 1 s to 60 s, later and later, and not by all at once", () => {
    const random = seeded(9);
    for (let failures = 1; failures < 200; failures++) {
      const wait = backoff(failures, random());
      expect(wait).toBeGreaterThanOrEqual(1000);
      expect(wait).toBeLessThanOrEqual(60_000);
    }
    expect(backoff(1, 0.999)).toBe(1000);
    expect(backoff(4, 0)).toBe(4000);
    expect(backoff(4, 0.999)).toBeCloseTo(7996, 0);
    expect(backoff(50, 0)).toBe(30_000);
  });

  it("begins at once, and not while it holds", () => {
    expect(mayTry(unlinked, 0)).toBe(true);
    expect(mayTry(linked(unlinked, 0), 1e9)).toBe(false);
  });

  it("counts the time without the service from the first failure on", () => {
    let link = broken(linked(unlinked, 0), 20_000, 0, null);
    link = broken(link, 30_000, 0, null);
    expect(lostFor(link, 50_000)).toBe(30_000);
    expect(lostFor(linked(link, 50_000), 60_000)).toBe(0);
    expect(lostFor(unlinked, 60_000)).toBe(0);
  });

  it("waits longer for what breaks at once, again and again", () => {
    let link: Link = unlinked;
    let mono = 0;
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      link = broken(linked(link, mono), mono + 50, 0.999, null);
      waits.push(Math.round((link.tryAt - mono - 50) / 1000));
      mono = link.tryAt;
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it("begins anew with what held for a while", () => {
    let link: Link = { ...unlinked, failures: 6 };
    link = broken(linked(link, 0), 10_000, 0, null);
    expect(link.failures).toBe(1);
  });

  it("waits as long as the service asks", () => {
    const link = broken(unlinked, 1000, 0, 90);
    expect(mayTry(link, 90_999)).toBe(false);
    expect(mayTry(link, 91_000)).toBe(true);
  });

  it("is tried at once after sleep, whether it seemed to hold or not", () => {
    expect(mayTry(woken(broken(unlinked, 1000, 0, 90)), 1001)).toBe(true);
    expect(mayTry(woken(linked(unlinked, 0)), 1)).toBe(true);
    expect(lostFor(woken(broken(unlinked, 1000, 0, null)), 3000)).toBe(2000);
  });
});
