import { describe, expect, it } from "vitest";
import { guestBucket, adjust, rateLimitHeaders, retryAfterSeconds, take, type TokenBucket, type RateLimitHeaders } from "./tokenbucket.ts";
import { seeded } from "../../../test/seeded.ts";

const silent: RateLimitHeaders = { policy: null, state: null, retryAfter: null };

/** ask takes a token at each of the times and returns the times at which it got one. */
function ask(times: number[], start: TokenBucket): number[] {
  let bucket = start;
  return times.filter((now) => {
    const spending = take(bucket, now);
    bucket = spending.bucket;
    return spending.wait === 0;
  });
}

/** most returns the largest number of times within one window. */
function most(times: number[], window: number): number {
  let first = 0;
  return times.reduce((highest, time, i) => {
    while ((times[first] ?? 0) <= time - window) first++;
    return Math.max(highest, i - first + 1);
  }, 0);
}

describe("a guest", () => {
  it("never allows more than 60 requests in any minute", () => {
    const random = seeded(17);
    for (let run = 0; run < 20; run++) {
      const times: number[] = [];
      for (let now = 0; now < 600_000; now += random() * (random() < 0.02 ? 60_000 : 100)) times.push(now);
      const asked = ask(times, guestBucket(0));
      expect(most(asked, 60_000)).toBeLessThanOrEqual(60);
    }
  });

  it("may ask every two seconds for ever", () => {
    const times = Array.from({ length: 1000 }, (_, i) => i * 2000);
    expect(ask(times, guestBucket(0)).length).toBe(1000);
  });

  it("allows a burst of twenty, and returns the time to wait then", () => {
    let bucket = guestBucket(0);
    for (let i = 0; i < 20; i++) {
      const spending = take(bucket, 0);
      expect(spending.wait).toBe(0);
      bucket = spending.bucket;
    }
    const { wait } = take(bucket, 0);
    expect(wait).toBe(1500);
    expect(take(bucket, wait).wait).toBe(0);
    expect(take(bucket, wait - 1).wait).toBeGreaterThan(0);
  });

  it("keeps the reserve for more important requests", () => {
    let bucket = guestBucket(0);
    for (let i = 0; i < 15; i++) bucket = take(bucket, 0, 5).bucket;
    expect(take(bucket, 0, 5).wait).toBeGreaterThan(0);
    expect(take(bucket, 0).wait).toBe(0);
  });

  it("gains no tokens from a clock that goes back", () => {
    const empty = { ...guestBucket(1e6), tokens: 0 };
    const { bucket } = take(empty, 0);
    expect(take(bucket, 1e6).wait).toBeGreaterThan(0);
  });
});

describe("the service's word", () => {
  it("takes over a smaller number of remaining requests", () => {
    const bucket = adjust(guestBucket(0), 0, { ...silent, state: '"default";r=0;t=60' }, false);
    expect(take(bucket, 0).wait).toBe(1500);
  });

  it("is not taken for a gift", () => {
    const bucket = adjust({ ...guestBucket(0), tokens: 0 }, 0, { ...silent, state: '"default";r=59;t=1' }, false);
    expect(take(bucket, 0).wait).toBeGreaterThan(0);
  });

  it("follows a changed quota up and down", () => {
    const more = adjust(guestBucket(0), 0, { ...silent, policy: '"default";q=120;w=60' }, false);
    expect(more).toMatchObject({ quota: 120, window: 60_000, tokens: 20 });
    expect(ask(Array.from({ length: 300 }, (_, i) => 60_000 + i * 1000), more).length).toBe(300);
    expect(adjust(more, 120_000, { ...silent, policy: '"default";q=60;w=60' }, false).tokens).toBe(20);
  });

  it("to wait is obeyed", () => {
    const bucket = adjust(guestBucket(0), 1000, { ...silent, retryAfter: "7" }, true);
    expect(take(bucket, 1000).wait).toBe(7000);
    expect(take(bucket, 7999).wait).toBe(1);
    expect(take(bucket, 8000).wait).toBe(0);
  });

  it("no is heeded without a word of when", () => {
    expect(take(adjust(guestBucket(0), 0, silent, true), 0).wait).toBe(1000);
  });

  it.each(["", "default", '"default";q=x;w=60', '"default";q=60.5;w=1', "q=5;w=5", '"default";q=0;w=60', '"default";q=-1;w=60'])("%j says nothing", (policy) => {
    expect(adjust(guestBucket(0), 0, { ...silent, policy }, false)).toEqual(guestBucket(0));
  });

  it("is read from an answer's headers", () => {
    const headers = new Headers({ "RateLimit-Policy": '"default";q=60;w=60', RateLimit: '"default";r=59;t=1', "Retry-After": "3" });
    expect(rateLimitHeaders(headers)).toEqual({ policy: '"default";q=60;w=60', state: '"default";r=59;t=1', retryAfter: "3" });
  });

  it.each([
    ["3", 3],
    [" 4 ", 4],
    ["0", 0],
    ["99999", 600],
    ["-1", null],
    ["1.5", null],
    ["Fri, 21 Nov 2026 08:00:00 GMT", null],
    [null, null],
  ])("to retry after %j is %j", (header, want) => {
    expect(retryAfterSeconds(header)).toBe(want);
  });
});

describe("limits", () => {
  it("a quota of one request grants it at once, and the next after two windows", () => {
    const { bucket, wait } = take(adjust(guestBucket(0), 0, { ...silent, policy: '"default";q=1;w=60' }, false), 0);
    expect(wait).toBe(0);
    expect(take(bucket, 0).wait).toBe(120_000);
  });

  it("a window that changes alone is adopted", () => {
    expect(adjust(guestBucket(0), 0, { ...silent, policy: '"default";q=60;w=30' }, false)).toMatchObject({ quota: 60, window: 30_000 });
  });

  it("a refusal leaves one request for the time after the pause", () => {
    const refused = adjust(guestBucket(0), 0, silent, true);
    const { bucket, wait } = take(refused, 1000);
    expect(wait).toBe(0);
    expect(take(bucket, 1000).wait).toBeGreaterThan(0);
  });
});
