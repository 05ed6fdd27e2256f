import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { destination } from "../geo/geo.ts";
import { NearestReader } from "./nearestreader.ts";
import { Observable } from "../browser/observable.ts";
import type { Fix, PositionStatus } from "../car/position.ts";
import { RequestBudget } from "../net/requestbudget.ts";
import { effectiveSettings } from "../settings/settings.ts";
import { makeState, type State } from "../state/state.ts";
import type { Entity, Nearest } from "../net/wire.ts";

const here: Fix = { lat: 48, lng: 2, accuracy: 5, heading: null, speed: null, at: 0 };
const nearest = { entity: { id: "a" } as Entity, place: { name: "Lyon", distance_m: 900 } };
const advance = (milliseconds: number): Promise<unknown> => vi.advanceTimersByTimeAsync(milliseconds);

let state: State;
let fix: Observable<Fix | null>;
let paths: string[];
let status: number;
let answer: Nearest | null;

beforeEach(() => {
  vi.useFakeTimers();
  [paths, status, answer] = [[], 200, nearest];
  vi.stubGlobal("document", { visibilityState: "visible" });
  vi.stubGlobal("navigator", { onLine: true });
  vi.stubGlobal("fetch", (path: string) => {
    paths.push(path);
    return Promise.resolve(new Response(JSON.stringify({ nearest: answer }), { status }));
  });
  fix = new Observable<Fix | null>(here);
  state = makeState(effectiveSettings({}, []), { fix, positionStatus: new Observable<PositionStatus>("found") }, () => null);
  const clocks = { mono: () => performance.now(), wall: () => Date.now() };
  new NearestReader(state, new RequestBudget(clocks.mono), clocks).start();
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test("the nearest is asked for once where nothing is around, and again elsewhere", async () => {
  await advance(10_000);
  expect(paths).toEqual([]); // nobody knows what is around
  state.connection.set({ how: "live", since: 0 });
  await advance(60_000);
  expect(paths).toEqual(["/v2/overlay/nearest?lat=48.0000&lng=2.0000"]);
  expect(state.nearest.get()?.place?.name).toBe("Lyon");
  fix.set({ ...here, ...destination(here, 0, 4000) });
  await advance(10_000);
  expect(paths).toHaveLength(1);
  fix.set({ ...here, ...destination(here, 0, 6000) });
  await advance(10_000);
  expect(paths).toHaveLength(2);
  state.settings.set({ ...state.settings.get(), kinds_off: ["traffic.jam"] });
  await advance(10_000);
  expect(paths[2]).toContain("kinds_off=traffic.jam");
  state.known.set([{ id: "b" } as Entity]);
  expect(state.nearest.get()).toBeNull();
});

test("nothing is asked while hidden or without a network, and failures are tried again ever less often", async () => {
  state.connection.set({ how: "live", since: 0 });
  (navigator as { onLine: boolean }).onLine = false;
  await advance(10_000);
  (navigator as { onLine: boolean }).onLine = true;
  (document as { visibilityState: string }).visibilityState = "hidden";
  await advance(10_000);
  expect(paths).toEqual([]);
  (document as { visibilityState: string }).visibilityState = "visible";
  status = 503;
  await advance(60_000);
  expect(paths.length).toBeGreaterThan(2);
  expect(paths.length).toBeLessThan(10);
  [status, answer] = [200, null];
  const before = paths.length;
  await advance(120_000);
  expect([paths.length, state.nearest.get()]).toEqual([before + 1, null]);
});
