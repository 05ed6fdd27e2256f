import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AlertQuery } from "../net/api.ts";
import { Observable } from "../browser/observable.ts";
import { destination } from "../geo/geo.ts";
import { AlertMonitor, candidateOf, serviceObjects, type QueryAlerts } from "./alertmonitor.ts";
import type { Pose } from "../car/deadreckoning.ts";
import type { PositionStatus, Fix } from "../car/position.ts";
import { effectiveSettings } from "../settings/settings.ts";
import { makeState, type State } from "../state/state.ts";
import type { Alert, Entity } from "../net/wire.ts";

const here = { lat: 52, lng: 5 };
const pose: Pose = { ...here, heading: 90, speed: 20, accuracy: 5, held: false };

const entity = (id: string, metres: number): Entity => {
  const { lat, lng } = destination(here, 90, metres);
  return {
    id,
    layer_slug: "l",
    kind_id: "alert.police",
    geom: { type: "Point", coordinates: [lng, lat] },
    geom_line: null,
    first_seen_at: "2026-11-21T08:00:00Z",
    last_seen_at: "2026-11-21T08:00:00Z",
    expires_at: null,
    status: "reported",
    confidence: 0.5,
    confirm_count: 0,
    dispute_count: 0,
    properties: {},
  };
};
const alert = (id: string, over: Partial<Alert> = {}): Alert => ({ entity: { id }, distance_m: 200, lead_m: 240, announce: false, ...over });

let asked: AlertQuery[];
let state: State;

beforeEach(() => {
  vi.useFakeTimers();
  asked = [];
  const fix = new Observable<Fix | null>(null);
  state = makeState(effectiveSettings({}, []), { fix, positionStatus: new Observable<PositionStatus>("found") }, () => pose);
  state.entities.set([entity("a", 200), entity("b", 230)]);
});

afterEach(() => {
  vi.useRealTimers();
});

const monitorWith = (answer: ReturnType<QueryAlerts>): AlertMonitor =>
  new AlertMonitor(state, () => performance.now(), (ahead, signal) => {
    asked.push(ahead);
    signal.addEventListener("abort", () => {
      aborted?.(new Error("late"));
    });
    return answer;
  });
let aborted: ((error: Error) => void) | undefined;

const announced = (): string | undefined => state.alerts.get().announce?.pin.id;

test("offline, the page announces by itself and at once", () => {
  monitorWith(null).update();
  expect(announced()).toBe("a");
});

test("online, the service is asked once, and nothing is announced before it has answered", async () => {
  const monitor = monitorWith(Promise.resolve({ alerts: [alert("a", { announce: true }), alert("b")] }));
  monitor.update();
  monitor.update();
  expect([announced(), asked.length]).toEqual([undefined, 1]);
  expect(asked[0]).toMatchObject({ heading: 90, speed: 20, seen: [] });
  expect(state.alerts.get().listed).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(0);
  expect([announced(), asked.length]).toEqual(["a", 1]);
});

test("a pin that the service does not announce, such as one the driver voted on, is suppressed, and the next one is announced", async () => {
  const monitor = monitorWith(Promise.resolve({ alerts: [alert("a"), alert("b", { distance_m: 300 })] }));
  monitor.update();
  await vi.advanceTimersByTimeAsync(0);
  expect(announced()).toBe("b");
});

test("the list asks on which roads pins are before anything is announced, and again only when the answer is old", async () => {
  state.entities.set([entity("a", 900), entity("b", 1200)]);
  const monitor = monitorWith(Promise.resolve({ alerts: [alert("a", { distance_m: 1100, match: "road" })], along: "probable" as const }));
  monitor.update();
  await vi.advanceTimersByTimeAsync(0);
  expect(state.alerts.get().listed.map(({ pin, road }) => [pin.id, road === null ? null : Math.round(road ?? NaN)])).toEqual([["a", 1100], ["b", null]]);
  await vi.advanceTimersByTimeAsync(14_000);
  monitor.update();
  expect(asked.length).toBe(1);
  await vi.advanceTimersByTimeAsync(2000);
  monitor.update();
  expect(asked.length).toBe(2);
});

test("the list does not ask a service without roads again and again, nor for chargers, nor while led", async () => {
  state.entities.set([{ ...entity("a", 900), kind_id: "charger.supercharger" }]);
  const monitor = monitorWith(Promise.resolve({ alerts: [] }));
  monitor.update();
  expect(asked.length, "chargers").toBe(0);
  state.entities.set([entity("b", 900)]);
  state.guidance.set({ pose: (own) => own, zoom: () => null, limit: () => null, along: () => undefined, session: () => null });
  monitor.update();
  expect(asked.length, "led").toBe(0);
  state.guidance.set(null);
  monitor.update();
  for (let i = 0; i < 60; i++) {
    await vi.advanceTimersByTimeAsync(1000);
    monitor.update();
  }
  expect(asked.length, "without roads").toBe(1);
});

test("after an objection the service is asked again five seconds later: the car may have turned towards the pin", async () => {
  state.entities.set([entity("a", 200)]);
  let answer = [alert("a")];
  const monitor = new AlertMonitor(state, () => performance.now(), (ahead) => {
    asked.push(ahead);
    return Promise.resolve({ alerts: answer });
  });
  monitor.update();
  await vi.advanceTimersByTimeAsync(4900);
  monitor.update();
  expect([announced(), asked.length]).toEqual([undefined, 1]);
  answer = [alert("a", { announce: true })];
  await vi.advanceTimersByTimeAsync(200);
  monitor.update();
  await vi.advanceTimersByTimeAsync(0);
  expect([announced(), asked.length]).toEqual(["a", 2]);
});

test.each([
  [{ bearing: 270, maxspeed_kmh: 80 }, { bearing: 270, maxSpeed: 80 }],
  [{ heading_degrees: 10 }, { bearing: 10, maxSpeed: null }],
  [{ bearing: 270, both_directions: true }, { bearing: null, maxSpeed: null }],
  [{ bearing: "270", maxspeed_kmh: "80" }, { bearing: null, maxSpeed: null }],
  [{ bearing: 361, maxspeed_kmh: 0 }, { bearing: null, maxSpeed: null }],
  [{}, { bearing: null, maxSpeed: null, line: null }],
])("the properties %j decide on the announcement", (properties, want) => {
  expect(candidateOf({ ...entity("a", 100), properties })).toMatchObject(want);
});

test("the line of an entity is that of its alert", () => {
  const line = { type: "LineString" as const, coordinates: [[5, 52], [5.01, 52]] as [number, number][] };
  expect(candidateOf({ ...entity("a", 100), geom_line: line }).line).toEqual([{ lat: 52, lng: 5 }, { lat: 52, lng: 5.01 }]);
});

test("a service that does not answer within 700 ms is not waited for", async () => {
  monitorWith(
    new Promise((_, reject) => {
      aborted = reject;
    }),
  ).update();
  await vi.advanceTimersByTimeAsync(650);
  expect(announced()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(100);
  expect(announced()).toBe("a");
});

test.each([
  ["it announces it", [alert("a", { announce: true })], 0],
  ["it sees it, near enough, and does not", [alert("a"), alert("b")], 5000],
  ["to it, it is exactly at the lead, and it does not", [alert("a", { distance_m: 240 })], 5000],
  ["to it, it is still too far away", [alert("a", { distance_m: 241 })], 0],
  ["it announces another one first", [alert("a"), alert("b", { announce: true })], 0],
  ["it does not see it", [alert("b")], 0],
])("an objection by direction, if %s", (_, alerts, want) => {
  for (const along of [undefined, null]) expect(serviceObjects("a", { alerts, ...(along === null && { along }) })).toBe(want);
});

test.each([
  ["it announces it", "route", [alert("a", { announce: true })], 0],
  ["it sees it, near enough, and does not", "route", [alert("a")], 5000],
  ["to it, it is a little too far away", "probable", [alert("a", { distance_m: 288 })], 0],
  ["to it, it is a longer way", "probable", [alert("a", { distance_m: 289 })], 5000],
  ["it is on another road than the probable ones", "probable", [alert("b", { announce: true })], 5000],
  ["it is beside the route", "route", [alert("b", { announce: true })], 20_000],
] as const)("an objection along the roads, if %s", (_, along, alerts, want) => {
  expect(serviceObjects("a", { alerts: [...alerts], along })).toBe(want);
});

test("what lies beside the route is not announced, and the service gets its own words back", async () => {
  const session = (): string => "s1";
  state.guidance.set({ pose: (own) => own, zoom: () => null, limit: () => null, along: () => undefined, session });
  const monitor = monitorWith(Promise.resolve({ alerts: [], along: "route", state: "t1" }));
  monitor.update();
  await vi.advanceTimersByTimeAsync(0);
  monitor.update();
  await vi.advanceTimersByTimeAsync(0);
  expect(asked.map(({ session, state }) => [session, state])).toEqual([["s1", null], ["s1", "t1"]]);
  await vi.advanceTimersByTimeAsync(19_000);
  monitor.update();
  expect([announced(), asked.length]).toEqual([undefined, 2]);
});

test("alerts are updated each second while no fix arrives", () => {
  monitorWith(null).start();
  state.alerts.set({ listed: [], announce: null, banner: null, passed: null });
  vi.advanceTimersByTime(999);
  expect(state.alerts.get().listed).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(state.alerts.get().listed).toHaveLength(2);
});

test("while led, what the route leads to is announced, and what lies straight on beside it is not, also offline", () => {
  const guidance = { pose: (own: Pose | null) => own, zoom: () => null, limit: () => null, session: () => null };
  state.guidance.set({ ...guidance, along: ({ id }) => (id === "b" ? { distance: 235, reached: false } : null) });
  monitorWith(null).update();
  expect(announced()).toBe("b");
  expect(state.alerts.get().listed.map(({ pin, distance, road }) => [pin.id, distance, road])).toEqual([["b", 235, 235]]);
});

test("the list follows the roads of the service's answer", async () => {
  const monitor = monitorWith(Promise.resolve({ alerts: [alert("b", { match: "road" as const, distance_m: 260 })], along: "probable" as const, state: "t" }));
  monitor.update();
  await vi.advanceTimersByTimeAsync(0);
  monitor.update();
  expect(state.alerts.get().listed.map(({ pin, distance, road }) => [pin.id, Math.round(distance), road])).toEqual([["a", 200, null], ["b", 260, 260]]);
});
