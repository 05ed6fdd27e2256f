import { describe, expect, test } from "vitest";
import { noOpening, step, takingOf, type Opening, type OpeningEffect, type OpeningEvent, type Wish } from "./opening.ts";

/** run returns the state after all events, and what the last one has done. */
function run(...events: OpeningEvent[]): { opening: Opening; effects: readonly OpeningEffect[] } {
  return events.reduce<{ opening: Opening; effects: readonly OpeningEffect[] }>(
    ({ opening }, event) => {
      const [next, effects] = step(opening, event);
      return { opening: next, effects };
    },
    { opening: noOpening, effects: [] },
  );
}

/** asked returns the wish of the request that is sent last; null: none is. */
function asked({ effects }: { effects: readonly OpeningEffect[] }): Wish | null {
  const open = effects.find((effect) => effect.do === "open");
  return open === undefined ? null : open.wish;
}

const ask = (wish: Partial<Wish> = {}): OpeningEvent => ({ name: "ask", wish });
const failed: OpeningEvent = { name: "failed", random: 0.5, wait: null };
const opened = (now = 0): OpeningEvent => ({ name: "opened", now });
const lost = (now: number, random = 0.5): OpeningEvent => ({ name: "lost", id: "old", isMoved: false, now, random });
const plain: Wish = { chosen: 0, adopts: false, reason: null, entityIDs: [], resumes: null };

describe("what was about to be asked is kept (F9)", () => {
  test.each<[string, OpeningEvent]>([
    ["when the network returns", { name: "online" }],
    ["when the time of the next attempt comes", { name: "due" }],
    ["when the session before was lost meanwhile", ask()],
  ])("%s", (_, event) => {
    expect(asked(run(ask({ adopts: true, reason: "closed", entityIDs: ["a"] }), failed, event))).toEqual({ ...plain, adopts: true, reason: "closed", entityIDs: ["a"] });
    expect(asked(run(ask({ chosen: 2 }), failed, event))).toEqual({ ...plain, chosen: 2 });
  });

  test("a stop that was added without network is led to when it returns, after any number of failures", () => {
    expect(asked(run(ask({ adopts: true }), failed, { name: "due" }, failed, { name: "due" }, failed, { name: "online" }))?.adopts).toBe(true);
  });

  test("a stop that is added while a chosen route waits replaces that choice, and stays wanted", () => {
    expect(asked(run(ask({ chosen: 2 }), failed, ask({ adopts: true })))).toEqual({ ...plain, adopts: true });
    expect(asked(run(ask({ chosen: 2 }), ask({ adopts: true }), ask()))).toEqual({ ...plain, adopts: true });
  });

  test("a session that is there fulfils it", () => {
    expect(asked(run(ask({ chosen: 2, adopts: true, reason: "left" }), opened(), ask()))).toEqual(plain);
  });

  test("a drive that ends forgets it", () => {
    const ended = run(ask({ adopts: true }), failed, { name: "ended" });
    expect(ended.effects).toEqual([{ do: "cancel" }]);
    expect(asked(run(ask({ adopts: true }), failed, { name: "ended" }, { name: "online" }))).toBeNull();
    expect(asked(run(ask({ adopts: true }), failed, { name: "ended" }, ask()))).toEqual(plain);
  });
});

describe("a car without a place", () => {
  test("is asked for when the place is known", () => {
    expect(asked(run(ask({ adopts: true }), { name: "placeless" }))).toBeNull();
    expect(asked(run(ask({ adopts: true }), { name: "placeless" }, { name: "online" }))).toBeNull();
    expect(asked(run(ask({ adopts: true }), { name: "placeless" }, { name: "place" }))).toEqual({ ...plain, adopts: true });
  });

  test("a place changes nothing for a session that is asked for, or is there", () => {
    expect(run(ask(), { name: "place" }).effects).toEqual([]);
    expect(run(ask(), opened(), { name: "place" }).effects).toEqual([]);
    expect(run({ name: "place" }).effects).toEqual([]);
  });
});

describe("when it is tried again", () => {
  const waits = (...events: OpeningEvent[]): number[] => run(...events).effects.flatMap((effect) => (effect.do === "wait" ? [effect.milliseconds] : []));

  test("after failures, with backoff", () => {
    expect(waits(ask(), failed)).toEqual([1000]);
    expect(waits(ask(), failed, { name: "due" }, failed, { name: "due" }, failed)).toEqual([3000]);
    expect(waits(ask(), { name: "failed", random: 0, wait: 7000 })).toEqual([7000]);
    expect(waits(ask(), failed, { name: "due" }, opened(), ask(), failed), "a session ends the count").toEqual([1000]);
    expect(waits(ask(), failed, { name: "due" }, failed, { name: "online" }, failed), "and the network's return").toEqual([1000]);
  });

  test("after a loss at a time by chance, within a second", () => {
    expect(waits(ask(), opened(0), lost(100_000, 0))).toEqual([0]);
    expect(waits(ask(), opened(0), lost(100_000, 0.9))).toEqual([900]);
    expect(asked(run(ask(), opened(0), lost(100_000), { name: "due" }))).toEqual({ ...plain, resumes: "old" });
  });

  test("sooner where the node itself says that it stops", () => {
    expect(waits(ask(), opened(0), { name: "lost", id: "old", isMoved: true, now: 100_000, random: 0.9 })[0]).toBeCloseTo(270);
  });

  test("after losses that follow one another, with backoff", () => {
    const again = [{ name: "due" } as const, opened(100_000), lost(101_000)];
    expect(waits(ask(), opened(0), lost(100_000), ...again)).toEqual([1000]);
    expect(waits(ask(), opened(0), lost(100_000), ...again, ...again)).toEqual([1500]);
    expect(waits(ask(), opened(0), lost(100_000), ...again, ...again, { name: "due" }, opened(200_000), lost(260_000)), "a session that lasted a minute").toEqual([500]);
  });

  test("a loss while another session is asked for waits for that one", () => {
    expect(run(ask({ adopts: true }), lost(0)).effects).toEqual([]);
    expect(run(ask({ adopts: true }), lost(0)).opening.wish).toEqual({ ...plain, adopts: true, resumes: "old" });
  });
});

describe("a car that left its route", () => {
  const left: OpeningEvent = { name: "want", wish: { adopts: true, reason: "left" } };

  test("asks for a session if none is asked for", () => {
    expect(asked(run(left))).toEqual({ ...plain, adopts: true, reason: "left" });
  });

  test("adds to what is asked for, and does not hurry it", () => {
    expect(run(ask(), failed, left).effects).toEqual([]);
    expect(asked(run(ask(), failed, left, { name: "due" }))).toEqual({ ...plain, adopts: true, reason: "left" });
    expect(run(ask(), left).effects).toEqual([]);
    expect(run(ask(), left).opening.wish).toEqual({ ...plain, adopts: true, reason: "left" });
  });
});

test("a newer request takes the place of the one before", () => {
  expect(run(ask(), ask({ adopts: true })).effects.map((effect) => effect.do)).toEqual(["cancel", "open"]);
});

const other = { isSame: false, isPinned: false, left: 1000, duration: 700 };

test.each<[string, Partial<Wish>, Partial<Parameters<typeof takingOf>[1]>, ReturnType<typeof takingOf>]>([
  ["the first route leads", {}, { left: null }, "leads"],
  ["the same way stays", {}, { isSame: true }, "stays"],
  ["a stop on the same way is led to", { adopts: true }, { isSame: true }, "leads"],
  ["a way that the driver declined is not taken", {}, { isPinned: true }, "stays"],
  ["another way at the beginning leads", {}, {}, "leads"],
  ["a faster way that was found while the session was lost is offered", { resumes: "old" }, {}, "offers"],
  ["a minute of ten is offered", { resumes: "old" }, { left: 600, duration: 540 }, "offers"],
  ["less than a minute is not, the driver hears nothing of it", { resumes: "old" }, { left: 300, duration: 241 }, "follows"],
  ["nor less than a tenth", { resumes: "old" }, { left: 3000, duration: 2701 }, "follows"],
  ["a slower one is taken, since the present way is closed", { resumes: "old" }, { duration: 1300 }, "follows"],
])("%s", (_, wish, given, want) => {
  expect(takingOf({ ...plain, ...wish }, { ...other, ...given })).toBe(want);
});
