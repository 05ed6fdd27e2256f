import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Observable } from "../browser/observable.ts";
import { destination } from "../geo/geo.ts";
import type { PositionStatus, Fix } from "../car/position.ts";
import { RequestBudget } from "../net/requestbudget.ts";
import { effectiveSettings } from "../settings/settings.ts";
import { makeState, type State } from "../state/state.ts";
import { pollDue, NearbyReader } from "./nearbyreader.ts";

const town = { lat: 52.000123456, lng: 5.00009 };
const answer = { entities: [], sources: [], fetched_at_utc: "2026-11-21T08:00:00Z" };
const snapshot = `retry: 2000\n\nevent: snapshot\ndata: ${JSON.stringify({ ...answer, entities: [{ id: "a" }] })}\nid: 1-0\n\n`;

/** Service is the simulated service's behaviour. */
interface Service {
  stream: "open" | "refuse" | "dead";
  polls: "answer" | "refuse" | "dead";
}

class Page {
  readonly requests: { path: string; id: string | null; at: number }[] = [];
  readonly service: Service = { stream: "open", polls: "answer" };
  readonly state: State;
  readonly nearbyReader: NearbyReader;
  /** Added to the car's wall clock. */
  wallOffset = 0;
  #sender: ReadableStreamDefaultController<Uint8Array> | null = null;

  constructor() {
    const fix = new Observable<Fix | null>(null);
    this.state = makeState(effectiveSettings({}, []), { fix, positionStatus: new Observable<PositionStatus>("found") }, () => null);
    const clocks = { mono: () => performance.now(), wall: () => Date.now() + this.wallOffset };
    this.nearbyReader = new NearbyReader(this.state, new RequestBudget(clocks.mono), clocks);
    vi.stubGlobal("fetch", (path: string, init: RequestInit) => this.#fetch(path, init));
  }

  #fetch(path: string, { headers, signal }: RequestInit): Promise<Response> {
    this.requests.push({ path, id: new Headers(headers).get("Last-Event-ID"), at: performance.now() });
    const isStream = path.startsWith("/v2/stream");
    const how = isStream ? this.service.stream : this.service.polls;
    if (how === "dead") {
      return new Promise((_, reject) => {
        signal?.addEventListener("abort", () => {
          reject(new Error("aborted"));
        });
      });
    }
    if (how === "refuse") return Promise.resolve(new Response("{}", { status: 429, headers: { "Retry-After": "7" } }));
    if (!isStream) return Promise.resolve(new Response(JSON.stringify(answer)));
    const body = new ReadableStream<Uint8Array>({
      start: (sender) => {
        this.#sender = sender;
        sender.enqueue(new TextEncoder().encode(snapshot));
        signal?.addEventListener("abort", () => {
          sender.error(new Error("aborted"));
        });
      },
    });
    return Promise.resolve(new Response(body));
  }

  place(place: { lat: number; lng: number }): void {
    this.state.fix.set({ ...place, accuracy: 5, heading: null, speed: null, at: 0 });
  }

  send(text: string): void {
    this.#sender?.enqueue(new TextEncoder().encode(text));
  }

  end(): void {
    this.#sender?.close();
  }

  /** advance lets time pass for the page. */
  async advance(milliseconds: number): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += 500) {
      await vi.advanceTimersByTimeAsync(500);
      this.nearbyReader.update();
    }
    await vi.advanceTimersByTimeAsync(0);
  }

  count(what: "stream" | "nearby"): number {
    return this.requests.filter(({ path }) => path.includes(what)).length;
  }
}

let page: Page;

beforeEach(() => {
  vi.useFakeTimers();
  page = new Page();
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("no request is sent while the position is unknown, and positions are sent with four decimals", async () => {
  await page.advance(5000);
  expect(page.requests).toEqual([]);
  page.place(town);
  await page.advance(1000);
  expect(page.requests.map(({ path }) => path)).toEqual(["/v2/stream?lat=52.0001&lng=5.0001&radius=10000&limit=500"]);
  expect(page.state.known.get()).toEqual([{ id: "a" }]);
  expect(page.state.connection.get()?.how).toBe("live");
  expect(page.state.clock.get()).not.toBeNull();
});

test("a stream that lives is enough, however long it is quiet but for its beats", async () => {
  page.place(town);
  for (let minute = 0; minute < 6; minute++) {
    await page.advance(20_000);
    page.send(":\nid: 2-0\n\n");
  }
  expect(page.requests).toHaveLength(1);
  page.send('event: gone\ndata: {"id":"a"}\nid: 3-0\n\n');
  await page.advance(500);
  expect(page.state.known.get()).toEqual([]);
});

test("a silent stream is closed, and a poll tells whether the service is reachable", async () => {
  page.place(town);
  await page.advance(1000);
  page.service.stream = "dead";
  page.service.polls = "dead";
  await page.advance(41_000);
  expect(page.count("nearby")).toBe(1);
  await page.advance(10_500);
  expect(page.state.connection.get()).toEqual({ how: "lost", since: expect.closeTo(500, -3) as number });
  expect(page.state.known.get()).toEqual([{ id: "a" }]); // known pins continue to age
});

test("a silent stream is given up after forty seconds, and not before", async () => {
  page.place(town);
  await page.advance(1000);
  page.service.stream = "dead";
  await page.advance(38_500);
  expect(page.count("nearby")).toBe(0);
  await page.advance(2000);
  expect(page.count("nearby")).toBe(1);
});

test("a stream that does not open is given up after fifteen seconds, and not before", async () => {
  page.service.stream = "dead";
  page.place(town);
  await page.advance(14_500);
  expect(page.requests).toHaveLength(1);
  await page.advance(2000);
  expect(page.count("nearby")).toBe(1);
});

test("a poll that hangs is given up after ten seconds, and not before", async () => {
  page.service.stream = "dead";
  page.service.polls = "dead";
  page.place(town);
  await page.advance(16_500);
  expect(page.count("nearby")).toBe(1);
  await page.advance(8000);
  expect(page.state.connection.get()).toBeNull();
  await page.advance(3000);
  expect(page.state.connection.get()?.how).toBe("lost");
});

test("a service that refuses polls for now is not lost", async () => {
  page.service.stream = "refuse";
  page.service.polls = "refuse";
  page.place(town);
  await page.advance(30_000);
  expect(page.count("nearby")).toBeGreaterThan(0);
  expect(page.state.connection.get()).toBeNull();
});

test("a refresh polls where there is no stream, and only there", async () => {
  page.nearbyReader.refresh(); // no place yet
  page.place(town);
  await page.advance(1000);
  page.nearbyReader.refresh();
  await page.advance(500);
  expect(page.count("nearby")).toBe(0);
  page.service.stream = "refuse";
  page.end();
  await page.advance(4000);
  const before = page.count("nearby");
  page.nearbyReader.refresh();
  page.nearbyReader.refresh(); // the first one is still in flight
  expect(page.count("nearby")).toBe(before + 1);
  await page.advance(0);
});

test("the sources' health is taken over from polls and events", async () => {
  page.place(town);
  await page.advance(1000);
  page.send('event: sources\ndata: {"sources":[{"id":"feed:a","status":"offline"}]}\n\n');
  await page.advance(500);
  expect(page.state.health.get()).toEqual([{ id: "feed:a", status: "offline" }]);
});

test("after a break the stream is resumed by its last event id", async () => {
  page.place(town);
  await page.advance(12_000);
  page.send(":\nid: 9-9\n\n");
  await page.advance(500);
  page.service.polls = "dead";
  page.end();
  await page.advance(2500);
  expect(page.requests.filter(({ path }) => path.includes("stream")).map(({ id }) => id)).toEqual([null, "9-9"]);
  expect(page.state.connection.get()?.how).toBe("live");
});

test("another circle is read when a third of the way out is driven, and not before", async () => {
  page.place(town);
  await page.advance(1000);
  page.place(destination(town, 90, 3313));
  await page.advance(2000);
  expect(page.requests).toHaveLength(1);
  page.place(destination(town, 90, 3353));
  await page.advance(2000);
  expect(page.requests).toHaveLength(2);
  expect(page.requests[1]?.id).toBeNull();
});

test("where streams are refused the page polls, obeys Retry-After and stays within a guest's limit", async () => {
  page.service.stream = "refuse";
  page.place(town);
  await page.advance(120_000);
  expect(page.state.connection.get()?.how).toBe("polling");
  const streams = page.requests.filter(({ path }) => path.includes("stream")).map(({ at }) => at);
  for (const [i, at] of streams.slice(1).entries()) expect(at - (streams[i] ?? 0)).toBeGreaterThanOrEqual(7000);
  expect(page.count("nearby")).toBeGreaterThan(8);
  expect(page.requests.length).toBeLessThan(60);
});

test("at high speed without streams the page polls more often, within a guest's limit", async () => {
  page.service.stream = "refuse";
  for (let second = 0; second < 120; second++) {
    page.place(destination(town, 90, second * 200));
    await page.advance(1000);
  }
  for (const { at } of page.requests) expect(page.requests.filter((one) => one.at >= at && one.at < at + 60_000).length).toBeLessThanOrEqual(60);
});

test("a page that was asleep reconnects immediately", async () => {
  page.place(town);
  await page.advance(12_000);
  page.wallOffset += 3_600_000; // the monotonic clock of this car stopped during sleep
  await page.advance(500);
  expect(page.count("stream")).toBe(2);
});

test("it comes back from being lost by itself", async () => {
  page.service.stream = "dead";
  page.service.polls = "dead";
  page.place(town);
  await page.advance(60_000);
  expect(page.state.connection.get()?.how).toBe("lost");
  expect(page.requests.length).toBeLessThan(25);
  page.service.stream = "open";
  await page.advance(90_000);
  expect(page.state.connection.get()?.how).toBe("live");
});

test("a choice of networks is applied immediately", async () => {
  page.place(town);
  await page.advance(1000);
  page.state.settings.set({ ...page.state.settings.get(), networks: ["tesla", "ionity"] });
  await page.advance(500);
  expect(page.requests[1]?.path).toContain("&networks=tesla%2Cionity");
});

test.each([
  [0, 0, false],
  [9999, 0, false],
  [2999, 900, false],
  [3000, 499, false],
  [3000, 501, true],
  [10_000, 0, true],
])("after %d ms and %d m: asked again %s", (passed, metres, want) => {
  expect(pollDue(passed, destination(town, 0, metres), { at: 0, place: town })).toBe(want);
});
