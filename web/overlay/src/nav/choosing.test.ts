// The pure parts of where to and which way.
import { describe, expect, it } from "vitest";
import { destination } from "../geo/geo.ts";
import { autoStartAfter, isDue, isOver, startsIn, stopped } from "./autostart.ts";
import { arrangeChargers, candidatesOf, detourOf, isReachable, leaveOf, maxCandidates, parseRange, rangeAt, readPlaces, type AlongRoute } from "./chargers.ts";
import { isSame, maxRecent, noPlaces, parsePlaces, parseStoredPlaces, withoutRecent, withRecent, withSlot } from "./keptplaces.ts";
import { arrange, arrowTo, mayType, octantOf, typingDelay } from "./results.ts";
import { insertStop, maxStops, moveStop, removeStop, rowAt } from "./stops.ts";
import type { Destination } from "../state/state.ts";
import type { Found, Route } from "./types.ts";
import { avoidedOf, boundsOf, chosenWay, durationOf, endOf, factsOf } from "./routefacts.ts";

const start = { lat: 52, lng: 5 };
const at = (metres: number, degrees = 90): Destination => ({ place: destination(start, degrees, metres), name: `at ${String(metres)}`, detail: "" });

describe("kept places", () => {
  it("keeps the last ten, the latest first and each once", () => {
    let places = noPlaces;
    for (let i = 0; i < 14; i++) places = withRecent(places, at(i * 1000));
    places = withRecent(places, at(8000));
    expect(places.recent).toHaveLength(maxRecent);
    expect(places.recent.slice(0, 3).map(({ name }) => name)).toEqual(["at 8000", "at 13000", "at 12000"]);
    expect(withoutRecent(places, at(8000)).recent.some((one) => isSame(one, at(8000)))).toBe(false);
  });

  it("does not list home among the last ones", () => {
    const places = withSlot(withRecent(noPlaces, at(500)), "home", at(500));
    expect(places.recent).toEqual([]);
    expect(withRecent(places, { ...at(505), name: "another name" }).recent).toEqual([]);
    expect(withSlot(places, "home", null).home).toBeNull();
  });

  it("parses whatever is stored", () => {
    const places = withSlot(withRecent(noPlaces, at(1)), "work", at(9000));
    expect(parseStoredPlaces(JSON.stringify(places))).toEqual(places);
    for (const text of [null, "", "{", "[]", "7", '"x"', '{"home":7,"recent":{"length":3}}', '{"recent":[null,{"place":{"lat":"52","lng":5}},{"place":{"lat":91,"lng":5}},{"place":null}]}']) expect(parseStoredPlaces(text)).toEqual(noPlaces);
    expect(parsePlaces({ home: { place: start, name: "a\u202Eb", detail: 7 } }).home).toEqual({ place: start, name: "a b", detail: "" });
  });
});

describe("stops", () => {
  const stops = [at(1000), at(2000), at(3000)];

  it("moves and removes", () => {
    expect(moveStop(stops, 0, 2).map(({ name }) => name)).toEqual(["at 2000", "at 3000", "at 1000"]);
    expect(moveStop(stops, 2, -5).map(({ name }) => name)).toEqual(["at 3000", "at 1000", "at 2000"]);
    expect(moveStop(stops, 7, 0)).toBe(stops);
    expect(removeStop(stops, 1)).toHaveLength(2);
    expect(removeStop([at(1)], 0)).toHaveLength(1);
  });

  it("inserts where the way stays shortest, and never behind the destination", () => {
    expect(insertStop(stops, at(1500), start).map(({ name }) => name)).toEqual(["at 1000", "at 1500", "at 2000", "at 3000"]);
    expect(insertStop(stops, at(9000), start).at(-1)).toEqual(at(3000));
    expect(insertStop(stops, at(2000), start)).toBe(stops);
    expect(insertStop([at(3000)], at(1000), null)).toEqual([at(1000), at(3000)]);
    const many = Array.from({ length: maxStops }, (_, i) => at(i * 1000 + 500));
    expect(insertStop(many, at(77), start)).toBe(many);
  });

  it("finds the row under a dragged handle", () => {
    expect([rowAt(0, 80, 64, 3), rowAt(0, 20, 64, 3), rowAt(2, -500, 64, 3), rowAt(1, 500, 64, 3), rowAt(1, 5, 0, 3)]).toEqual([1, 0, 0, 2, 1]);
  });
});

describe("start by itself", () => {
  it("counts ten seconds down", () => {
    const running = { since: 1000 };
    expect([startsIn(running, 1000), startsIn(running, 1001), startsIn(running, 10_999), startsIn(running, 99_000)]).toEqual([10, 10, 1, 0]);
    expect(isDue(running, 1000 + autoStartAfter - 1)).toBe(false);
    expect(isDue(running, 1000 + autoStartAfter)).toBe(true);
  });

  it("does not start after it was stopped or slept through", () => {
    expect([startsIn(stopped, 5), isDue(stopped, 1e9), isOver(stopped, 1e9)]).toEqual([null, false, false]);
    expect(isDue({ since: 0 }, 3_600_000)).toBe(false);
    expect(isOver({ since: 0 }, 3_600_000)).toBe(true);
  });
});

describe("results", () => {
  const found = (id: string, metres: number, name = id): Found => ({ ...at(metres), id, name, key: "", value: "", metres, bearing: 90 });

  it("has near ones before far ones, and each place once", () => {
    expect(arrange([found("far", 80_000), found("near", 900), found("next", 20_000), found("near", 900)]).map(({ id }) => id)).toEqual(["near", "next", "far"]);
    expect(arrange([1, 2, 3, 4, 5].map((i) => found(String(i), i * 1000, "Main Street")))).toHaveLength(3);
    expect(arrange([{ ...found("x", 1), metres: null }])).toHaveLength(1);
  });

  it("takes two results for one place only where all that is written of them is equal", () => {
    const same = (over: Partial<Found>): number => arrange([{ ...found("a", 900, "Mill"), detail: "Dam 1" }, { ...found("b", 920, "Mill"), detail: "Dam 1", ...over }]).length;
    expect([same({}), same({ detail: "Dam 2" }), same({ name: "Inn" }), same({ place: at(960).place })]).toEqual([1, 2, 2, 2]);
  });

  it("asks at most each 250 ms", () => {
    expect([typingDelay(-Infinity, 5), typingDelay(1000, 1100), typingDelay(1000, 2000), typingDelay(5000, 1000)]).toEqual([0, 150, 0, 250]);
  });

  it("puts typing away above 10 km/h until the car is slow", () => {
    expect([mayType(null, true), mayType(2.7, true), mayType(2.9, true), mayType(2, false), mayType(1, false)]).toEqual([true, true, false, false, true]);
  });

  it("names directions", () => {
    expect([0, 22, 23, 90, 200, 350, 359.9, -45].map(octantOf)).toEqual([0, 0, 1, 2, 4, 0, 0, 7]);
    expect(arrowTo(start, destination(start, 90, 500), 90)).toBe(0);
    expect(arrowTo(start, destination(start, 0, 500), 90)).toBe(270);
  });
});

describe("ways", () => {
  const route = (over: Partial<Route["wayside"]> = {}, classes: string[] = [], mode: "driving" | "ferry" = "driving"): Route =>
    ({ legs: [{ steps: [{ mode, intersections: [{ classes }] }], summary: "Main Street, Ring", incidents: [], distance: 1, duration: 1 }], distance: 5000, duration: 400, wayside: { duration_ms: 400_000, free_flow_ms: 400_000, metric_version: 1, conditions: [], avoided: [], warnings: [], ...over } }) as unknown as Route;

  it("tells delay, tolls and ferries", () => {
    expect(factsOf(route())).toEqual({ seconds: 400, metres: 5000, delay: 0, hasToll: false, hasFerry: false, hasMotorway: false, via: "Main Street, Ring", avoided: [], isClosed: false });
    expect(factsOf(route({ free_flow_ms: 300_000 }, ["toll", "motorway"], "ferry"))).toMatchObject({ delay: 100, hasToll: true, hasFerry: true, hasMotorway: true });
    expect(factsOf(route({ free_flow_ms: 341_000 })).delay).toBe(0);
    expect(avoidedOf([factsOf(route({ avoided: ["a", "b"] })), factsOf(route({ avoided: ["b", "c", "d"] }))])).toEqual(["a", "b", "c"]);
  });

  it("tells of an end on a motorway, or far from the place", () => {
    const ending = (classes: string[]): Pick<Route, "legs"> =>
      ({ legs: [{ steps: [{ maneuver: { type: "depart" }, intersections: [{ classes: ["motorway"] }, { classes }] }, { maneuver: { type: "arrive", location: [start.lng, start.lat] }, intersections: [{}] }] }] }) as unknown as Route;
    expect(endOf(ending([]), start)).toEqual({ away: 0, isOnMotorway: false });
    expect(endOf(ending(["toll", "motorway"]), start)).toEqual({ away: 0, isOnMotorway: true });
    expect([endOf(ending([]), at(140).place).away, endOf(ending([]), at(900).place).away]).toEqual([0, expect.closeTo(900, 0)]);
    expect(endOf({ legs: [] }, start)).toEqual({ away: 0, isOnMotorway: false });
  });

  it("writes hours and minutes", () => {
    expect([10, 89, 91, 3600, 5400].map(durationOf)).toEqual([{ hours: 0, minutes: 1 }, { hours: 0, minutes: 1 }, { hours: 0, minutes: 2 }, { hours: 1, minutes: 0 }, { hours: 1, minutes: 30 }]);
  });

  it("chooses the line that was touched", () => {
    const lines = [[{ x: 0, y: 0 }, { x: 100, y: 0 }], [{ x: 0, y: 50 }, { x: 100, y: 50 }], [{ x: 7, y: 7 }]];
    expect([chosenWay(lines, { x: 50, y: 20 }, 30), chosenWay(lines, { x: 50, y: 40 }, 30), chosenWay(lines, { x: 50, y: 140 }, 30)]).toEqual([0, 1, null]);
  });

  it("has bounds", () => {
    expect(boundsOf([start, { lat: 51, lng: 6 }])).toEqual([5, 51, 6, 52]);
    expect(boundsOf([])).toBeNull();
  });
});

describe("chargers on the way", () => {
  const places = Array.from({ length: 101 }, (_, i) => destination(start, 90, i * 1000));
  const line = { places, metres: places.map((_, i) => i * 1000), length: 100_000 };
  const charger = (along: number, away: number): { value: string; place: { lat: number; lng: number } } => ({ value: String(along), place: destination(destination(start, 90, along), 0, away) });

  it("reads around few places of the line", () => {
    expect(readPlaces(line, 0)).toEqual([10_000, 30_000, 50_000, 70_000, 90_000]);
    expect(readPlaces({ length: 900 }, 0)).toEqual([900]);
    expect(readPlaces({ length: 2_000_000 }, 5000)).toHaveLength(6);
  });

  it("takes those near the line that lie ahead, spread along it", () => {
    const some = candidatesOf(line, 20_000, [charger(10_000, 100), charger(30_000, 2000), charger(40_000, 3000), charger(90_000, 50)]);
    expect(some.map(({ value }) => value)).toEqual(["30000", "90000"]);
    expect(some[0]?.along).toBeCloseTo(30_000, -2);
    const crowd = [...Array.from({ length: 200 }, (_, i) => charger(5000 + i, 10)), charger(60_000, 2000)];
    const chosen = candidatesOf(line, 0, crowd);
    expect(chosen).toHaveLength(maxCandidates);
    expect(chosen.some(({ value }) => value === "60000")).toBe(true);
  });

  it("measures the detour between two points of the line", () => {
    expect(leaveOf({ along: 1000 }, 0, 100_000)).toEqual({ from: 0, to: 3500 });
    expect(leaveOf({ along: 99_000 }, 0, 100_000)).toEqual({ from: 96_500, to: 100_000 });
    expect([detourOf(100, 150, 120), detourOf(50, 50, 120), detourOf(null, 5, 5), detourOf(5, undefined, 5)]).toEqual([130, 0, null, null]);
  });

  it("knows the range along the way", () => {
    const one = (along: number, detour: number): AlongRoute<string> => ({ value: String(along), place: start, along, away: 0, detour, metres: along });
    expect([rangeAt(50_000, 20_000), rangeAt(50_000, 80_000), rangeAt(null, 5)]).toEqual([30_000, -30_000, null]);
    expect(arrangeChargers([one(80_000, 20), one(20_000, 290), one(10_000, 301), one(30_000, 5)], 50_000).map(({ value }) => value)).toEqual(["20000", "30000", "80000"]);
    expect([isReachable(50_000, 45_000), isReachable(50_000, 45_001), isReachable(null, 1e9)]).toEqual([true, false, true]);
    expect([parseRange("250"), parseRange(" 90 ", 1609), parseRange("0"), parseRange("-5"), parseRange("1e3"), parseRange("99999"), parseRange("٢٥٠")]).toEqual([250_000, 144_810, null, null, null, null, 250_000]);
  });
});
