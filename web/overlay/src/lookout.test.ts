import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AlertQuery } from "./api.ts";
import { Cell } from "./cell.ts";
import { along } from "./geo.ts";
import { Lookout, speaksAgainst, type Ask } from "./lookout.ts";
import type { Pose } from "./motion.ts";
import type { Finding, Fix } from "./position.ts";
import { inForce } from "./settings.ts";
import { makeState, type State } from "./state.ts";
import type { Alert, Entity } from "./wire.ts";

const here = { lat: 52, lng: 5 };
const pose: Pose = { ...here, heading: 90, speed: 20, accuracy: 5, held: false };

const entity = (id: string, metres: number): Entity => {
  const { lat, lng } = along(here, 90, metres);
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
  const fix = new Cell<Fix | null>(null);
  state = makeState(inForce({}, []), { fix, finding: new Cell<Finding>("found") }, () => pose);
  state.entities.set([entity("a", 200), entity("b", 230)]);
});

afterEach(() => {
  vi.useRealTimers();
});

const watch = (answer: ReturnType<Ask>): Lookout =>
  new Lookout(state, () => performance.now(), (ahead, signal) => {
    asked.push(ahead);
    signal.addEventListener("abort", () => {
      aborted?.(new Error("late"));
    });
    return answer;
  });
let aborted: ((error: Error) => void) | undefined;

const announced = (): string | undefined => state.alerts.get().announce?.pin.id;

test("offline, the page announces by itself and at once", () => {
  watch(null).look();
  expect(announced()).toBe("a");
});

test("online, the service is asked once, and nothing is announced before it has answered", async () => {
  const lookout = watch(Promise.resolve([alert("a", { announce: true }), alert("b")]));
  lookout.look();
  lookout.look();
  expect([announced(), asked.length]).toEqual([undefined, 1]);
  expect(asked[0]).toMatchObject({ heading: 90, speed: 20, seen: [] });
  expect(state.alerts.get().sights).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(0);
  expect([announced(), asked.length]).toEqual(["a", 1]);
});

test("what the service keeps silent about, such as what the driver voted on, stays silent, and the next comes to its turn", async () => {
  const lookout = watch(Promise.resolve([alert("a"), alert("b", { distance_m: 300 })]));
  lookout.look();
  await vi.advanceTimersByTimeAsync(0);
  expect(announced()).toBe("b");
});

test("a service that takes its time is not waited for", async () => {
  watch(
    new Promise((_, reject) => {
      aborted = reject;
    }),
  ).look();
  await vi.advanceTimersByTimeAsync(650);
  expect(announced()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(100);
  expect(announced()).toBe("a");
});

test.each([
  ["it announces it", [alert("a", { announce: true })], false],
  ["it sees it, near enough, and does not", [alert("a"), alert("b")], true],
  ["to it, it is still too far away", [alert("a", { distance_m: 241 })], false],
  ["it announces another one first", [alert("a"), alert("b", { announce: true })], false],
  ["it does not see it", [alert("b")], false],
])("an objection, if %s", (_, alerts, want) => {
  expect(speaksAgainst("a", alerts)).toBe(want);
});
