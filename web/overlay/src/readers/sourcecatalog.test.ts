import { afterEach, beforeEach, describe, expect, it, test, vi } from "vitest";
import { Observable } from "../browser/observable.ts";
import { RequestBudget } from "../net/requestbudget.ts";
import { keysOfEntities, neverRead, nextReadAt, SourceCatalog, withFormer, type ReadHistory } from "./sourcecatalog.ts";
import type { View } from "../state/state.ts";
import type { Entity, Source } from "../net/wire.ts";

const source = (id: string, more: Partial<Source> = {}): Source => ({ id: `feed:${id}`, label: id, attribution: `© ${id}`, layer_slugs: [id], kind_ids: null, default_on: true, source_type: "feed-push", ...more });

const pin = (layer: string, mergedSources: string[] = []): Entity => ({
  id: `${layer}:1`,
  layer_slug: layer,
  kind_id: "alert.hazard",
  geom: { type: "Point", coordinates: [5, 52] },
  geom_line: null,
  first_seen_at: "2026-11-21T08:00:00Z",
  last_seen_at: "2026-11-21T08:00:00Z",
  expires_at: null,
  status: "reported",
  confidence: 0.5,
  confirm_count: 0,
  dispute_count: 0,
  properties: mergedSources.length > 0 ? { merged_from: mergedSources.map((id) => ({ source: `feed:${id}`, id: "1" })) } : {},
});

/** Page is the part of the page's state that the catalogue uses, with a simulated service. */
class Page {
  readonly state = { sources: new Observable<readonly Source[]>([]), known: new Observable<readonly Entity[]>([]), view: new Observable<View | null>(null) };
  readonly requestedAt: number[] = [];
  readonly caches: (RequestCache | undefined)[] = [];
  listed: Source[] = [source("a")];
  answers: "list" | "fail" | "refuse" | "hang" = "list";
  random = 0.5;

  constructor() {
    vi.stubGlobal("fetch", (path: string, { cache, signal }: RequestInit) => this.#fetch(path, cache, signal));
    const now = (): number => performance.now();
    new SourceCatalog(this.state, new RequestBudget(now), now, () => this.random).start();
  }

  #fetch(path: string, cache?: RequestCache, signal?: AbortSignal | null): Promise<Response> {
    expect(path).toBe("/v2/sources");
    this.requestedAt.push(performance.now());
    this.caches.push(cache);
    switch (this.answers) {
      case "list":
        return Promise.resolve(new Response(JSON.stringify({ sources: this.listed })));
      case "fail":
        return Promise.reject(new TypeError("no network"));
      case "refuse":
        return Promise.resolve(new Response("{}", { status: 429, headers: { "Retry-After": "20" } }));
      case "hang":
        return new Promise((_, reject) => {
          signal?.addEventListener("abort", () => {
            reject(new Error("aborted"));
          });
        });
    }
  }

  get ids(): string[] {
    return this.state.sources.get().map(({ id }) => id);
  }
}

let page: Page;

beforeEach(async () => {
  vi.useFakeTimers();
  page = new Page();
  await vi.advanceTimersByTimeAsync(0);
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("the catalogue is read once at start, past the browser's cache", async () => {
  expect(page.ids).toEqual(["feed:a"]);
  page.state.known.set([pin("a")]);
  await vi.advanceTimersByTimeAsync(9 * 60_000);
  expect(page.caches).toEqual(["no-cache"]);
});

test("a pin of an unknown source makes the page read the catalogue within a second", async () => {
  await vi.advanceTimersByTimeAsync(60_000);
  page.listed = [source("a"), source("b")];
  page.state.known.set([pin("a"), pin("b")]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(page.ids).toEqual(["feed:a", "feed:b"]);
  expect(page.requestedAt).toHaveLength(2);
});

test("a pin that an unknown source is merged into makes the page read the catalogue as well", async () => {
  await vi.advanceTimersByTimeAsync(60_000);
  page.listed = [source("a"), source("b")];
  page.state.known.set([pin("a", ["b"])]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(page.ids).toEqual(["feed:a", "feed:b"]);
});

test("a source that only clusters come from is asked for as well", async () => {
  await vi.advanceTimersByTimeAsync(60_000);
  page.listed = [source("a"), source("b")];
  page.state.view.set({ entities: [], clusters: [{ id: "tile/1/0/0", lat: 52, lng: 5, count: 900, kind_id: "traffic.jam" }], sources: ["feed:b"], hidden: [] });
  await vi.advanceTimersByTimeAsync(1000);
  expect(page.ids).toEqual(["feed:a", "feed:b"]);
});

test("pins of many unknown sources that arrive together cause one read", async () => {
  await vi.advanceTimersByTimeAsync(60_000);
  page.listed = [source("a"), source("b"), source("c"), source("d")];
  for (const layer of ["b", "c", "d"]) {
    page.state.known.set([...page.state.known.get(), pin(layer)]);
    await vi.advanceTimersByTimeAsync(90);
  }
  await vi.advanceTimersByTimeAsync(5000);
  expect(page.requestedAt).toHaveLength(2);
  expect(page.ids).toHaveLength(4);
});

test("an endless row of new unknown sources causes at most seven reads a minute", async () => {
  for (let second = 0; second < 180; second++) {
    page.state.known.set([pin(`new-${String(second)}`)]);
    await vi.advanceTimersByTimeAsync(1000);
  }
  for (const from of page.requestedAt) expect(page.requestedAt.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(7);
  expect(page.requestedAt.length).toBeGreaterThan(15);
});

test("a source that is never listed, such as a private feed, is asked about less and less often", async () => {
  page.random = 0;
  page.state.known.set([pin("private")]);
  await vi.advanceTimersByTimeAsync(11 * 60_000);
  const gaps = page.requestedAt.slice(1).map((at, i) => Math.round((at - (page.requestedAt[i] ?? 0)) / 1000));
  expect(gaps).toEqual([10, 20, 40, 80, 160, 320]);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(page.requestedAt.length).toBeLessThanOrEqual(7 + 7);
});

test("a feed that a node lists later than its pins come is found by a later read", async () => {
  await vi.advanceTimersByTimeAsync(60_000);
  page.state.known.set([pin("late")]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(page.ids).toEqual(["feed:a"]);
  page.listed = [source("a"), source("late")];
  await vi.advanceTimersByTimeAsync(30_000);
  expect(page.ids).toEqual(["feed:a", "feed:late"]);
});

test("without unknown pins the catalogue is read every ten minutes, with jitter", async () => {
  page.random = 0.999;
  await vi.advanceTimersByTimeAsync(3_600_000);
  const gaps = page.requestedAt.slice(1).map((at, i) => at - (page.requestedAt[i] ?? 0));
  expect(gaps.length).toBeGreaterThanOrEqual(5);
  expect(gaps.length).toBeLessThanOrEqual(6);
  expect(new Set(gaps.map(Math.round)).size).toBeGreaterThan(1); // the first read drew another number
});

test("a changed attribution is taken over, and an unchanged catalogue changes nothing", async () => {
  const changes: (readonly Source[])[] = [];
  page.state.sources.watch((sources) => changes.push(sources));
  await vi.advanceTimersByTimeAsync(11 * 60_000);
  expect([changes.length, page.requestedAt.length]).toEqual([1, 2]);
  page.listed = [source("a", { attribution: "© New" })];
  await vi.advanceTimersByTimeAsync(11 * 60_000);
  expect(changes).toHaveLength(2);
  expect(page.state.sources.get()[0]?.attribution).toBe("© New");
});

test("a source that is gone goes: at once without pins, else with its last pin", async () => {
  page.listed = [source("a"), source("b"), source("c")];
  page.state.known.set([pin("b"), pin("x")]);
  await vi.advanceTimersByTimeAsync(15_000);
  expect(page.ids).toEqual(["feed:a", "feed:b", "feed:c"]);
  page.listed = [source("a")];
  await vi.advanceTimersByTimeAsync(11 * 60_000);
  expect(page.ids).toEqual(["feed:a", "feed:b"]); // b's pins still need their attribution
  page.state.known.set([]);
  expect(page.ids).toEqual(["feed:a"]);
});

test("failed reads are tried again with backoff and jitter, and pins are not lost meanwhile", async () => {
  page.answers = "fail";
  page.random = 0;
  page.state.known.set([pin("b")]);
  page.listed = [source("a"), source("b")];
  await vi.advanceTimersByTimeAsync(5 * 60_000);
  const gaps = page.requestedAt.slice(2).map((at, i) => Math.round((at - (page.requestedAt[i + 1] ?? 0)) / 1000));
  expect(gaps.slice(0, 7)).toEqual([1, 1, 2, 4, 8, 16, 30]);
  expect(gaps.slice(7).every((gap) => gap === 30)).toBe(true);
  expect(page.ids).toEqual(["feed:a"]);
  page.answers = "list";
  await vi.advanceTimersByTimeAsync(31_000);
  expect(page.ids).toEqual(["feed:a", "feed:b"]);
});

test("a Retry-After is obeyed", async () => {
  await vi.advanceTimersByTimeAsync(60_000);
  page.answers = "refuse";
  page.state.known.set([pin("b")]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(page.requestedAt).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(2000);
  expect(page.requestedAt).toHaveLength(3);
});

test("a read that hangs is given up after ten seconds", async () => {
  await vi.advanceTimersByTimeAsync(60_000);
  page.answers = "hang";
  page.listed = [source("a"), source("b")];
  page.state.known.set([pin("b")]);
  await vi.advanceTimersByTimeAsync(10_200);
  page.answers = "list";
  await vi.advanceTimersByTimeAsync(2000);
  expect(page.ids).toEqual(["feed:a", "feed:b"]);
});

describe("nextReadAt", () => {
  const read: ReadHistory = { ...neverRead, endedAt: 1_000_000 };
  it.each([
    ["never read: now", neverRead, { newSince: null, isUnlisted: false }, -Infinity],
    ["all known: in nine to eleven minutes", read, { newSince: null, isUnlisted: false }, 1_540_000],
    ["all known, the other end of the jitter", { ...read, jitter: 1 }, { newSince: null, isUnlisted: false }, 1_660_000],
    ["new, a while after the last read: after the debounce", read, { newSince: 1_100_000, isUnlisted: true }, 1_100_300],
    ["new, right after the last read: ten seconds after it", read, { newSince: 1_001_000, isUnlisted: true }, 1_010_000],
    ["new, at the end of the interval: no later than it", read, { newSince: 1_539_900, isUnlisted: true }, 1_540_000],
    ["not listed once", { ...read, misses: 1 }, { newSince: null, isUnlisted: true }, 1_020_000],
    ["not listed once, with jitter", { ...read, misses: 1, jitter: 1 }, { newSince: null, isUnlisted: true }, 1_030_000],
    ["not listed many times", { ...read, misses: 50 }, { newSince: null, isUnlisted: true }, 1_540_000],
    ["failed: backoff alone counts", { ...read, failures: 3, jitter: 0 }, { newSince: 1_000_001, isUnlisted: true }, 1_002_000],
    ["refused: at least what the service asks for", { ...read, failures: 1, retryAfter: 20_000 }, { newSince: null, isUnlisted: false }, 1_020_000],
  ])("%s", (_, history, unknown, want) => {
    expect(nextReadAt(history, unknown)).toBe(want);
  });
});

test("former sources are kept for merged pins too, after the listed ones", () => {
  const [a, b, c] = [source("a"), source("b"), source("c")];
  expect(withFormer([c], [a, b, c], keysOfEntities([pin("c", ["a"])]))).toEqual([c, a]);
});
