import { describe, expect, it } from "vitest";
import { appearanceAt, lifetimeOf } from "./freshness.ts";
import { seeded } from "../../../test/seeded.ts";

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
    expect(appearanceAt(hour, after * minute, 0)).toEqual({ freshness, opacity, grey: false });
  });

  it.each([
    [0, "fresh", false],
    [29_999, "fresh", false],
    [30_000, "ageing", true],
    [299_999, "ageing", true],
    [300_000, "stale", true],
  ])("of a fresh pin whose service is lost for %d ms", (lost, freshness, grey) => {
    expect(appearanceAt(hour, minute, lost)).toMatchObject({ freshness, grey });
  });

  it("takes pins away while the service is lost", () => {
    expect(appearanceAt(hour, 60 * minute, 10 * minute).freshness).toBe("gone");
  });

  it("does not touch what persists, but for its colour", () => {
    const camera = { lastSeen: 0, expires: null };
    expect(appearanceAt(camera, 1e15, 0)).toEqual({ freshness: "fresh", opacity: 1, grey: false });
    expect(appearanceAt(camera, 1e15, 1e15)).toEqual({ freshness: "ageing", opacity: 0.75, grey: true });
  });

  it("does not fade what its source says will end, until then", () => {
    const works = lifetimeOf({ first_seen_at: "", last_seen_at: "1970-01-01T00:00:00Z", expires_at: "1970-01-01T01:00:00.000Z", properties: { ends_at: "1970-01-01T01:00:00Z" } });
    expect(appearanceAt(works, 59.9 * minute, 0).freshness).toBe("fresh");
    expect(appearanceAt(works, 59.9 * minute, minute)).toMatchObject({ freshness: "ageing", grey: true });
    expect(appearanceAt(works, 30 * minute, 10 * minute).freshness).toBe("stale");
    expect(appearanceAt(works, 60 * minute, 0).freshness).toBe("gone");
    const before = lifetimeOf({ first_seen_at: "", last_seen_at: "1970-01-01T00:00:00Z", expires_at: "1970-01-01T01:00:00.000Z", properties: { ends_at: "1970-01-01T05:00:00Z" } });
    expect(appearanceAt(before, 59.9 * minute, 0).freshness).toBe("stale");
  });

  it("never makes a pin younger as time goes by", () => {
    const order = ["fresh", "ageing", "stale", "gone"];
    const random = seeded(7);
    for (let i = 0; i < 500; i++) {
      const pin = { lastSeen: 0, expires: random() * 1e7 };
      let before = 0;
      for (let t = 0; t < 1.1e7; t += 1e6) {
        const rank = order.indexOf(appearanceAt(pin, t, t / 20).freshness);
        expect(rank).toBeGreaterThanOrEqual(before);
        before = rank;
      }
    }
  });

  it("reads an entity's times", () => {
    expect(lifetimeOf({ first_seen_at: "1970-01-01T00:00:00.5Z", last_seen_at: "1970-01-01T00:00:01Z", expires_at: "1970-01-01T00:00:02.5Z" })).toEqual({ firstSeen: 500, lastSeen: 1000, expires: 2500 });
    expect(lifetimeOf({ first_seen_at: "", last_seen_at: "1970-01-01T00:00:01Z", expires_at: null }).expires).toBeNull();
    expect(lifetimeOf({ first_seen_at: "", last_seen_at: "", expires_at: "soon" }).expires).toBeNull();
  });

  it("keeps a pin whose times make no sense for as long as they allow", () => {
    expect(appearanceAt({ lastSeen: NaN, expires: 1000 }, 999, 0).freshness).toBe("stale");
    expect(appearanceAt({ lastSeen: 2000, expires: 1000 }, 999, 0).freshness).toBe("stale");
    expect(appearanceAt({ lastSeen: NaN, expires: 1000 }, 1000, 0).freshness).toBe("gone");
  });
});
