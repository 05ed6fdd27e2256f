import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Observable } from "../browser/observable.ts";
import type { Fix, PositionStatus } from "../car/position.ts";
import { RequestBudget } from "../net/requestbudget.ts";
import { effectiveSettings } from "../settings/settings.ts";
import { makeState, type State, type Viewport } from "../state/state.ts";
import { ViewReader } from "./viewreader.ts";
import type { ViewAnswer } from "../net/wire.ts";

const pins: ViewAnswer = { entities: [], clusters: null, sources: [], fetched_at_utc: "2026-11-21T08:00:00Z" };
const clusters: ViewAnswer = { ...pins, clusters: [{ id: "tile/1/0/0", lat: 52, lng: 5, count: 900, kind_id: "traffic.jam" }], sources: [{ id: "feed:a", status: "online" }] };
const at = (lng: number, zoom = 9): Viewport => ({ west: lng, south: 52, east: lng + 1, north: 53, zoom });

/** Page is a page with a simulated service that answers after 100 ms. */
class Page {
  readonly requests: { query: URLSearchParams; at: number; cache: RequestCache | undefined; aborted: () => boolean }[] = [];
  readonly state: State;
  readonly reader: ViewReader;
  answer: ViewAnswer = clusters;
  status: 200 | 400 | 429 | 503 = 200;

  constructor(fix: Fix | null, status: PositionStatus = "found") {
    this.state = makeState(effectiveSettings({}, []), { fix: new Observable(fix), positionStatus: new Observable(status) }, () => null);
    const clocks = { mono: () => performance.now(), wall: () => Date.now() };
    vi.stubGlobal("window", new EventTarget());
    vi.stubGlobal("document", Object.assign(new EventTarget(), { visibilityState: "visible" }));
    vi.stubGlobal("navigator", { onLine: true });
    vi.stubGlobal("fetch", (path: string, init: RequestInit) => this.#fetch(path, init));
    this.reader = new ViewReader(this.state, new RequestBudget(clocks.mono), clocks);
    this.reader.start();
  }

  #fetch(path: string, { signal, cache }: RequestInit): Promise<Response> {
    this.requests.push({ query: new URL(path, "http://service").searchParams, at: performance.now(), cache, aborted: () => signal?.aborted === true });
    const response = new Response(JSON.stringify(this.answer), { status: this.status });
    return new Promise((resolve, reject) => {
      setTimeout(() => {
        resolve(response);
      }, 100);
      signal?.addEventListener("abort", () => {
        reject(new Error("aborted"));
      });
    });
  }

  show(hidden: boolean): void {
    (document as { visibilityState: string }).visibilityState = hidden ? "hidden" : "visible";
    document.dispatchEvent(new Event("visibilitychange"));
  }

  connect(onLine: boolean): void {
    (navigator as { onLine: boolean }).onLine = onLine;
    window.dispatchEvent(new Event(onLine ? "online" : "offline"));
  }
}

const here: Fix = { lat: 48, lng: 2, accuracy: 5, heading: null, speed: null, at: 0 };
const advance = (milliseconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("a view is read once the map rests, and dropped when the map follows the car again", async () => {
  const page = new Page(here);
  await advance(60_000);
  expect(page.requests).toEqual([]);
  for (let step = 0; step < 10; step++) {
    page.state.viewport.set(at(4 + step));
    await advance(100);
  }
  await advance(1000);
  expect(page.requests.map(({ query }) => query.get("bbox"))).toEqual(["12.9000,51.9000,14.1000,53.1000"]);
  expect(page.state.view.get()).toEqual({ entities: [], clusters: clusters.clusters, sources: ["feed:a"], hidden: [] });
  page.state.viewport.set(null);
  expect(page.state.view.get()).toBeNull();
  await advance(120_000);
  expect(page.requests).toHaveLength(1);
});

test("of two views only the later is shown, whichever is answered first", async () => {
  const page = new Page(here);
  page.state.viewport.set(at(4));
  await advance(300);
  page.answer = pins;
  page.state.viewport.set(at(40));
  await advance(30); // the first is still being answered
  expect(page.state.view.get()).toBeNull();
  await advance(500);
  expect(page.requests).toHaveLength(2);
  expect(page.state.view.get()?.clusters).toBeNull();
});

test("a view that is still asked for when the next is asked for is aborted", async () => {
  const page = new Page(here);
  page.state.viewport.set(at(4));
  await advance(250);
  vi.stubGlobal("fetch", vi.fn(() => new Promise(() => undefined)));
  expect(page.requests[0]?.aborted()).toBe(false);
  page.state.settings.set({ ...page.state.settings.get(), kinds_off: ["traffic.jam"] });
  page.state.viewport.set(null);
  expect(page.requests[0]?.aborted()).toBe(true);
});

test("a driver who moves the map without end stays within the budget", async () => {
  const page = new Page(here);
  for (let step = 0; step < 200; step++) {
    page.state.viewport.set(at(step / 2, 5 + (step % 3)));
    await advance(300);
  }
  expect(page.requests.length).toBeGreaterThan(20);
  expect(page.requests.length).toBeLessThanOrEqual(60);
  await advance(3000);
  expect(page.requests[page.requests.length - 1]?.query.get("bbox")).toBe("99.4000,51.9000,100.6000,53.1000");
});

test("without a position the first view is read at once, and after a while if the driver is being located", async () => {
  const page = new Page(null, "unasked");
  page.state.viewport.set(at(4));
  expect(page.requests).toHaveLength(1);
  expect(page.state.clock.get()).toBeNull();
  await advance(200);
  expect(page.state.clock.get()).not.toBeNull();

  const asking = new Page(null, "asking");
  asking.state.viewport.set(at(4));
  await advance(1000);
  expect(asking.requests).toHaveLength(0);
  await advance(1000);
  expect(asking.requests).toHaveLength(1);
});

test("a complete answer serves small moves, clusters do not", async () => {
  const page = new Page(here);
  page.answer = pins;
  page.state.viewport.set(at(4));
  await advance(1000);
  page.state.viewport.set(at(4.05));
  await advance(1000);
  expect(page.requests).toHaveLength(1);
  page.answer = clusters;
  page.state.viewport.set(at(5));
  await advance(1000);
  page.state.viewport.set(at(5.05));
  await advance(1000);
  expect(page.requests).toHaveLength(3);
});

test("a view that rests is read again twice a minute, and at once after a vote", async () => {
  const page = new Page(here);
  page.state.viewport.set(at(4));
  await advance(62_000);
  expect(page.requests).toHaveLength(3);
  page.reader.refresh();
  await advance(1000);
  expect(page.requests).toHaveLength(4);
  expect(page.requests[3]?.cache).toBe("no-cache");
});

test("nothing is read while the page is hidden", async () => {
  const page = new Page(here);
  page.show(true);
  page.state.viewport.set(at(4));
  await advance(120_000);
  expect(page.requests).toEqual([]);
  page.show(false);
  await advance(1000);
  expect(page.requests).toHaveLength(1);
});

test("nothing is read without a network, and the page says that it cannot", async () => {
  const page = new Page(here);
  page.state.viewport.set(at(4));
  await advance(1000);
  page.connect(false);
  expect(page.state.viewFailed.get()).toBe(false); // this view is there
  page.state.viewport.set(at(40));
  await advance(120_000);
  expect([page.requests.length, page.state.viewFailed.get()]).toEqual([1, true]);
  page.connect(true);
  await advance(1000);
  expect([page.requests.length, page.state.viewFailed.get()]).toEqual([2, false]);
});

test("failures are tried again ever less often, and told; too many requests are not a failure", async () => {
  const page = new Page(here);
  page.status = 503;
  page.state.viewport.set(at(4));
  await advance(60_000);
  expect(page.state.viewFailed.get()).toBe(true);
  expect(page.requests.length).toBeLessThan(10);
  page.status = 200;
  await advance(120_000);
  expect([page.state.viewFailed.get(), page.state.view.get() !== null]).toEqual([false, true]);

  const refused = new Page(here);
  refused.status = 429;
  refused.state.viewport.set(at(4));
  await advance(1000);
  expect([refused.requests.length, refused.state.viewFailed.get()]).toEqual([1, false]);
});

test("what the driver hides is not asked for, and a change is read", async () => {
  const page = new Page(here);
  page.state.viewport.set(at(4));
  await advance(1000);
  page.state.settings.set({ ...page.state.settings.get(), kinds_off: ["alert.hazard.fog"] });
  await advance(1000);
  expect(page.requests.map(({ query }) => query.get("kinds_off"))).toEqual([null, "alert.hazard.fog"]);
});

test("a service that has lost a source is asked for all", async () => {
  const page = new Page(here);
  const source = (id: string) => ({ id, label: id, attribution: id, layer_slugs: [id], kind_ids: null, default_on: true, source_type: "feed-push" as const });
  page.state.sources.set([source("feed:a"), source("feed:b")]);
  page.state.settings.set({ ...page.state.settings.get(), sources_off: ["feed:b"] });
  page.status = 400;
  page.state.viewport.set(at(4));
  await advance(300);
  page.status = 200;
  await advance(1000);
  expect(page.requests.map(({ query }) => query.get("sources"))).toEqual(["feed:a", null]);
  expect(page.state.view.get()).not.toBeNull();
});
