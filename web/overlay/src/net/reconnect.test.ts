import { describe, expect, it } from "vitest";
import { backoff, hasSlept, initialLink, linkFailed, linkSucceeded, linkWoken, mayConnect, outageDuration, type LinkState } from "./reconnect.ts";
import { seeded } from "../../../test/seeded.ts";

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
  it("is retried after 1 s to 60 s, with exponential backoff and jitter", () => {
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

  it("starts immediately, and not while it is connected", () => {
    expect(mayConnect(initialLink, 0)).toBe(true);
    expect(mayConnect(linkSucceeded(initialLink, 0), 1e9)).toBe(false);
  });

  it("counts the time without the service from the first failure on", () => {
    let link = linkFailed(linkSucceeded(initialLink, 0), 20_000, 0, null);
    link = linkFailed(link, 30_000, 0, null);
    expect(outageDuration(link, 50_000)).toBe(30_000);
    expect(outageDuration(linkSucceeded(link, 50_000), 60_000)).toBe(0);
    expect(outageDuration(initialLink, 60_000)).toBe(0);
  });

  it("backs off further while connections break immediately", () => {
    let link: LinkState = initialLink;
    let mono = 0;
    const waits: number[] = [];
    for (let i = 0; i < 8; i++) {
      link = linkFailed(linkSucceeded(link, mono), mono + 50, 0.999, null);
      waits.push(Math.round((link.retryAt - mono - 50) / 1000));
      mono = link.retryAt;
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it("begins anew with what held for a while", () => {
    let link: LinkState = { ...initialLink, failures: 6 };
    link = linkFailed(linkSucceeded(link, 0), 10_000, 0, null);
    expect(link.failures).toBe(1);
  });

  it("counts as stable after ten seconds, and not before", () => {
    const connected = linkSucceeded({ ...initialLink, failures: 4 }, 0);
    expect(linkFailed(connected, 9999, 0, null).failures).toBe(5);
    expect(linkFailed(connected, 10_000, 0, null).failures).toBe(1);
    expect(linkWoken({ ...initialLink, failures: 4 }).failures).toBe(0);
  });

  it("waits as long as the service asks", () => {
    const link = linkFailed(initialLink, 1000, 0, 90);
    expect(mayConnect(link, 90_999)).toBe(false);
    expect(mayConnect(link, 91_000)).toBe(true);
  });

  it("is retried immediately after sleep, connected or not", () => {
    expect(mayConnect(linkWoken(linkFailed(initialLink, 1000, 0, 90)), 1001)).toBe(true);
    expect(mayConnect(linkWoken(linkSucceeded(initialLink, 0)), 1)).toBe(true);
    expect(outageDuration(linkWoken(linkFailed(initialLink, 1000, 0, null)), 3000)).toBe(2000);
  });
});
