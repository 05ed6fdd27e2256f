import { describe, expect, test } from "vitest";
import { listAhead, notAnnounced, type AlertPin } from "./alertrules.ts";
import { destination } from "../geo/geo.ts";
import { isOnWay } from "../panels/list.ts";
import { roadAnswerOf, withRoads } from "./roadanswer.ts";

const here = { lat: 52, lng: 5 };
const car = { ...here, heading: 90, speed: 14 };
const pin = (id: string, towards: number, metres: number, more: Partial<AlertPin> = {}): AlertPin => ({ id, kind: "camera.speed", ...destination(here, towards, metres), zone: 0, merged: [], ...more });
const pins = [pin("road", 90, 400), pin("parallel", 92, 500), pin("bend", 170, 300), pin("far", 90, 1900), pin("zone", 91, 300, { zone: 200 }), pin("charger", 90, 600, { kind: "charger.dc" })];
const alert = (id: string, distance_m: number, match: "road" | "cone" = "road") => ({ entity: { id }, distance_m, lead_m: 150, announce: false, match });
const said = { alerts: [alert("road", 420), alert("bend", 700), alert("far", 1980)], along: "probable" as const };
const answer = roadAnswerOf(said, pins, car, 0);
const listed = (at = car, now = 5000, from = answer) => withRoads(listAhead(at, pins, () => notAnnounced), pins, from, at, now);
const onWay = (...all: Parameters<typeof listed>) => listed(...all).filter((one) => isOnWay(one, 90)).map(({ pin: { id }, distance }) => `${id} ${distance.toFixed(0)}`);

describe("the list, by what the service saw along the roads", () => {
  test("leads over what is on the road, also around a bend, with the distance along it", () => {
    expect(onWay()).toEqual(["zone 200", "road 420", "charger 600", "bend 700", "far 1980"]);
    expect(listed().find(({ pin: { id } }) => id === "parallel")?.road).toBeNull();
  });

  test("is by direction where the service did not look along roads", () => {
    const none = roadAnswerOf({ ...said, along: null }, pins, car, 0);
    expect(none).toBeNull();
    expect(onWay(car, 5000, none)).toEqual(["zone 200", "road 400", "parallel 500", "charger 600", "far 1900"]);
  });

  test("counts what was driven since, and ends when the answer is old, far or of another direction", () => {
    const on = { ...car, ...destination(here, 90, 200) };
    expect(onWay(on)).toContain("road 220");
    expect(onWay(car, 16_000)).toContain("parallel 500");
    expect(onWay({ ...car, ...destination(here, 90, 401) })).not.toContain("bend 299");
    expect(listed({ ...car, heading: 121 }).every(({ road }) => road === undefined)).toBe(true);
  });

  test("knows nothing of pins that came later, or beyond the last of a full answer", () => {
    const later = roadAnswerOf(said, pins.slice(0, 1), car, 0);
    expect(listed(car, 5000, later).find(({ pin: { id } }) => id === "parallel")?.road).toBeUndefined();
    const full = roadAnswerOf({ ...said, alerts: Array.from({ length: 20 }, (_, i) => alert(`x${String(i)}`, 450)) }, pins, car, 0);
    expect([full?.metres.get("road"), full?.metres.get("parallel")]).toEqual([null, undefined]);
  });
});
