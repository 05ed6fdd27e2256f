import { describe, expect, it } from "vitest";
import { answersPerSecond, Conversation, deviceOf, FloodGuard, isFrom, isReady, isWithin, makeContext, sizeInterval, slotOf, type Clock, type Context, type Parts, type WindowLike } from "./host.ts";

/** TestClock runs timers when its time is moved on. */
class TestClock implements Clock {
  time = 1000;
  #timers: { at: number; run: () => void }[] = [];

  now(): number {
    return this.time;
  }

  after(delay: number, run: () => void): () => void {
    const timer = { at: this.time + delay, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer);
    };
  }

  pass(milliseconds: number): void {
    const end = this.time + milliseconds;
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((one) => one !== next);
      this.time = Math.max(this.time, next.at);
      next.run();
    }
    this.time = end;
  }
}

const parts: Parts = {
  theme: "day",
  units: "metric",
  uiSize: 5,
  slot: "widget",
  size: { width: 400, height: 700 },
  device: { kind: "car", input: "touch" },
  config: {},
};

interface Talk {
  clock: TestClock;
  talk: Conversation;
  sent: { at: number; context: Context }[];
}

function converse(): Talk {
  const clock = new TestClock();
  const sent: Talk["sent"] = [];
  const talk = new Conversation(parts, (context) => {
    sent.push({ at: clock.time, context });
  }, clock);
  return { clock, talk, sent };
}

describe("a context", () => {
  it("has exactly the keys of D16.8", () => {
    const context = makeContext({ ...parts, ...{ lat: 52, lng: 13, speed: 30, heading: 90, session: "x", account: "y" } });
    expect(Object.keys(context)).toEqual(["type", "theme", "units", "uiSize", "slot", "size", "device", "config"]);
    expect(Object.keys(makeContext({ ...parts, size: { ...parts.size, ...{ left: 1 } }, device: { ...parts.device, ...{ id: 1 } } }).size)).toEqual(["width", "height"]);
    expect(Object.keys(makeContext({ ...parts, device: { ...parts.device, ...{ id: 1 } } }).device)).toEqual(["kind", "input"]);
  });

  it("omits blank values, never null", () => {
    const config = { name: "a", empty: "", zero: 0, no: false, ...({ nothing: null, missing: undefined, list: [1], odd: NaN } as unknown as Record<string, string>) };
    expect(makeContext({ ...parts, config }).config).toEqual({ name: "a", zero: 0, no: false });
  });

  it("has whole numbers within their bounds", () => {
    expect(makeContext({ ...parts, uiSize: 7.4 }).uiSize).toBe(7);
    expect(makeContext({ ...parts, uiSize: 99 }).uiSize).toBe(10);
    expect(makeContext({ ...parts, uiSize: -1 }).uiSize).toBe(0);
    expect(makeContext({ ...parts, size: { width: 320.5, height: -1 } }).size).toEqual({ width: 321, height: 0 });
  });
});

it("devices differ by pointer and screen", () => {
  expect(deviceOf(true, { width: 1280, height: 800 })).toEqual({ kind: "car", input: "touch" });
  expect(deviceOf(true, { width: 844, height: 390 })).toEqual({ kind: "phone", input: "touch" });
  expect(deviceOf(false, { width: 1280, height: 800 })).toEqual({ kind: "desktop", input: "pointer" });
});

it("apps with a page have a slot", () => {
  expect(slotOf(["pins", "notifications", "widget"])).toBe("widget");
  expect(slotOf(["notifications"])).toBe("notifications");
  expect(slotOf(["pins", "custom_layer"])).toBeNull();
});

describe("messages", () => {
  const top = {} as { parent: WindowLike };
  top.parent = top;
  const frame = { parent: top };
  const nested = { parent: frame };

  it("come from the frame's own window and origin", () => {
    const own = { window: frame, origin: "https://app.example" };
    expect(isFrom({ source: frame, origin: "https://app.example" }, own)).toBe(true);
    expect(isFrom({ source: frame, origin: "https://other.example" }, own)).toBe(false);
    expect(isFrom({ source: nested, origin: "https://app.example" }, own)).toBe(false);
    expect(isFrom({ source: null, origin: "https://app.example" }, { ...own, window: null })).toBe(false);
  });

  it("of nested frames count for the app that holds them", () => {
    expect(isWithin(frame, frame)).toBe(true);
    expect(isWithin(nested, frame)).toBe(true);
    expect(isWithin({ parent: top }, frame)).toBe(false);
    expect(isWithin(null, frame)).toBe(false);
  });

  it("are ready or nothing", () => {
    expect(isReady({ type: "ready", more: 1 })).toBe(true);
    for (const other of [null, "ready", 1, [], {}, { type: "READY" }, { type: { type: "ready" } }]) expect(isReady(other)).toBe(false);
  });
});

describe("a conversation", () => {
  it("sends nothing before load or ready", () => {
    const { talk, sent, clock } = converse();
    talk.change({ theme: "night" });
    talk.resize({ width: 1, height: 1 });
    clock.pass(5000);
    expect(sent).toEqual([]);
    talk.loaded();
    expect(sent.map(({ context }) => [context.theme, context.size.width])).toEqual([["night", 1]]);
  });

  it("answers each ready once, at most ten times in any second, and drops none", () => {
    const { talk, sent, clock } = converse();
    for (let i = 0; i < 35; i++) {
      talk.ready();
      clock.pass(7);
    }
    clock.pass(10_000);
    expect(sent).toHaveLength(35);
    for (const { at } of sent) expect(sent.filter((other) => other.at >= at && other.at < at + 1000).length).toBeLessThanOrEqual(answersPerSecond);
    expect(sent[9]?.at).toBeLessThan(1100); // the first ten wait for nothing
  });

  it("sends a change of the look at once, and none without a change", () => {
    const { talk, sent } = converse();
    talk.loaded();
    talk.change({ theme: "day", units: "metric" });
    expect(sent).toHaveLength(1);
    talk.change({ theme: "night" });
    talk.change({ units: "imperial" });
    talk.change({ uiSize: 6 });
    talk.change({ uiSize: 6.2 });
    expect(sent.map(({ context }) => [context.theme, context.units, context.uiSize])).toEqual([["day", "metric", 5], ["night", "metric", 5], ["night", "imperial", 5], ["night", "imperial", 6]]);
  });

  it("reports sizes at most four times a second, the last one always and in time", () => {
    const { talk, sent, clock } = converse();
    talk.loaded();
    for (let width = 401; width <= 500; width++) {
      talk.resize({ width, height: 700 });
      clock.pass(16);
    }
    const last = clock.time - 16;
    clock.pass(1000);
    const sizes = sent.slice(1);
    for (const { at } of sizes) expect(sizes.filter((other) => other.at >= at && other.at < at + 1000).length).toBeLessThanOrEqual(4);
    expect(sizes[sizes.length - 1]?.context.size.width).toBe(500);
    expect((sizes[sizes.length - 1]?.at ?? 0) - last).toBeLessThanOrEqual(sizeInterval);
    const count = sent.length;
    talk.resize({ width: 500, height: 700.2 });
    clock.pass(1000);
    expect(sent).toHaveLength(count);
  });

  it("is silent when it is closed, until the frame loads again", () => {
    const { talk, sent, clock } = converse();
    talk.loaded();
    for (let i = 0; i < 20; i++) talk.ready();
    talk.resize({ width: 1, height: 1 });
    const count = sent.length;
    talk.close();
    talk.change({ theme: "night" });
    clock.pass(10_000);
    expect(sent).toHaveLength(count);
    talk.loaded();
    expect(sent).toHaveLength(count + 1);
  });
});

describe("a flood", () => {
  /** post has a frame post so many messages a second, and returns the verdicts of each second. */
  function post(guard: FloodGuard, perSecond: number, seconds: number, cost = 0): string[][] {
    return Array.from({ length: seconds }, (_, at) => {
      const verdicts = Array.from({ length: perSecond }, (__, i) => {
        const now = (at + i / perSecond) * 1000;
        const verdict = guard.judge(now);
        if (verdict === "read") guard.spent(cost, now + cost);
        return verdict;
      });
      return [...new Set(verdicts)];
    });
  }

  it("is read up to a bound, then ignored, then ends the frame", () => {
    expect(post(new FloodGuard(), 10_000, 3)).toEqual([["read", "ignore"], ["read", "ignore"], ["read", "suspend"]]);
  });

  it("of few messages is none", () => {
    expect(post(new FloodGuard(), 150, 20).flat().filter((verdict) => verdict !== "read")).toEqual([]);
  });

  it("of large messages is one", () => {
    expect(post(new FloodGuard(), 10, 3, 20)).toEqual([["read", "ignore"], ["ignore", "read"], ["ignore", "read", "suspend"]]);
  });

  it("of messages that take longer than a second each leaves the page a second between two of them, and ends the frame", () => {
    const guard = new FloodGuard();
    let now = 0;
    const reads: number[] = [];
    for (let verdict = guard.judge(now); verdict !== "suspend"; verdict = guard.judge(now)) {
      if (verdict === "ignore") now += 10;
      else {
        reads.push(now);
        guard.spent(1200, (now += 1200));
      }
      expect(now).toBeLessThan(10_000);
    }
    expect(reads).toEqual([0, 2200, 4400]);
  });

  it("with a pause is forgiven", () => {
    const guard = new FloodGuard();
    post(guard, 1000, 2);
    expect(guard.judge(5000)).toBe("read");
    expect(Array.from({ length: 1000 }, (_, i) => guard.judge(5001 + i / 2)).includes("suspend")).toBe(false);
  });
});
