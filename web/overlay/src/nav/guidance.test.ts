import { describe, expect, it } from "vitest";
import { zoomFor } from "../map/camera.ts";
import { reachedLeg, sideOf, walkTo } from "./arrival.ts";
import { changeRoute, correctionOf, factorOf, initialPace, keepPace, stopsAhead, type Pace } from "./eta.ts";
import { ledZoom } from "./ledcamera.ts";
import { aheadAt, limitAt, nameBehind, nextJunctions, refsOf, stepAt } from "./maneuver.ts";
import { blockedBy, endsWithRest, isInJunction, isSameWay, prefersGoingOn, turnsBackAtOnce } from "./reroute.ts";
import { parseKeptDrive, resumptionOf, writeKeptDrive } from "./resume.ts";
import { routeLineOf } from "./routeline.ts";
import { lineOf, placeOf, routeOf, type StepPlan } from "./testroutes.ts";
import type { Banner, BannerLine } from "./types.ts";

const lineText = (text: string): BannerLine => ({ text, type: "turn", modifier: "left", driving_side: "right", components: [{ type: "text", text }] });
const lanes: Banner = { distanceAlongGeometry: 200, primary: lineText("B"), secondary: null, sub: { ...lineText(""), components: [{ type: "lane", text: "", directions: ["left"], active: true }, { type: "lane", text: "", directions: ["straight"], active: false }] } };

const plans: readonly StepPlan[] = [
  { to: [[1000, 0]], name: "A", banners: [{ distanceAlongGeometry: 1000, primary: lineText("B"), secondary: null }, lanes] },
  { to: [[1000, 250]], name: "B", ref: "B 1; A 2;E 3", maneuver: { modifier: "left" }, banners: [{ distanceAlongGeometry: 250, primary: lineText("C"), secondary: null }], limit: 30 },
  { to: [[2000, 250]], name: "C", maneuver: { modifier: "right" } },
];
const line = lineOf([0, 0], plans);

describe("aheadAt", () => {
  it("is the next maneuver and the one that follows within 300 m", () => {
    const { next, after } = aheadAt(line, 400);
    expect(next).toMatchObject({ index: 1, primary: { text: "B" }, refs: ["B 1", "A 2"] });
    expect(next?.distance).toBeCloseTo(600, 0);
    expect(after?.primary?.text).toBe("C");
  });

  it("has none after it where the next street is longer", () => {
    const { next, after } = aheadAt(line, 1100);
    expect(next?.index).toBe(2);
    expect(after).toBeNull();
  });

  it("has lanes once they are due", () => {
    expect(aheadAt(line, 700).lanes).toEqual([]);
    expect(aheadAt(line, 850).lanes.map(({ active }) => active)).toEqual([true, false]);
  });

  it("ends with the arrival", () => {
    expect(aheadAt(line, 1500).next?.maneuver.type).toBe("arrive");
    expect(aheadAt(line, 1500).after).toBeNull();
    expect(aheadAt(line, line.length).next).toBeNull();
    expect(stepAt(line, 99_999)).toBe(3);
  });

  it("names the roads at the next two junctions", () => {
    expect(nextJunctions(line, 0).map(({ name }) => name)).toEqual(["B", "C"]);
    expect(nextJunctions(line, 1100).map(({ name }) => name)).toEqual(["C"]);
  });

  it("has the limit of the street", () => {
    expect([500, 1100, 1300].map((metres) => limitAt(line, metres))).toEqual([50, 30, 50]);
  });

  it("names the exit of a motorway once: its number has a sign", () => {
    const primary: BannerLine = { ...lineText("Exit 12 North / Harbour"), components: [{ type: "exit", text: "Exit" }, { type: "exit-number", text: "12" }, { type: "text", text: "North" }, { type: "delimiter", text: "/" }, { type: "text", text: "Harbour" }] };
    expect(nameBehind({ primary, exit: "12" })).toBe("North / Harbour");
    expect(nameBehind({ primary, exit: "" })).toBe("Exit 12 North / Harbour");
    expect(nameBehind({ primary: { ...primary, components: primary.components.slice(0, 2) }, exit: "12" })).toBe("Exit 12 North / Harbour");
    expect(nameBehind({ primary: null, exit: "12" })).toBe("");
  });

  it("reads references", () => {
    expect(refsOf(" ; A 1")).toEqual(["A 1"]);
    expect(refsOf(undefined)).toEqual([]);
  });
});

describe("the time of arrival", () => {
  /** paceOf drives so many planned seconds, each of which takes so long. */
  const paceOf = (planned: number, each: number, from: Pace = initialPace): Pace => {
    let pace = from;
    for (let i = 0; i <= planned; i++) pace = keepPace(pace, i, i * each * 1000);
    return pace;
  };

  it("is the planned one at first", () => {
    expect(correctionOf(initialPace)).toBe(1);
    expect(correctionOf(paceOf(60, 2))).toBe(1);
  });

  it("follows a drive that is slower or faster", () => {
    expect(correctionOf(paceOf(600, 1.1))).toBeCloseTo(1.1, 2);
    expect(correctionOf(paceOf(600, 0.9))).toBeCloseTo(0.9, 2);
  });

  it("is corrected by a quarter at most", () => {
    expect(correctionOf(paceOf(600, 3))).toBe(1.25);
    expect(correctionOf(paceOf(600, 0.1))).toBe(0.75);
  });

  it("ignores a clock that jumped, a browser that slept, and another route", () => {
    const pace = paceOf(600, 1);
    for (const [seconds, at] of [[601, 4_000_000], [601, -4_000_000], [5000, 601_000], [10, 601_000]] as const) expect(correctionOf(keepPace(pace, seconds, at))).toBeCloseTo(1, 2);
    expect(correctionOf(paceOf(100, 1, changeRoute(pace)))).toBeCloseTo(1, 2);
  });

  it("is known at each stop", () => {
    const two = routeLineOf(routeOf([0, 0], [[{ to: [[1000, 0]] }], [{ to: [[3000, 0]] }]]));
    expect(stopsAhead(two, 500, initialPace).map(({ seconds }) => Math.round(seconds))).toEqual([50, 250]);
    expect(stopsAhead(two, 1500, initialPace).map(({ seconds }) => Math.round(seconds))).toEqual([150]);
    expect(stopsAhead(two, 500, paceOf(600, 1.2), 2).map(({ seconds }) => Math.round(seconds))).toEqual([120, 600]);
  });

  it("takes what the service says of the rest", () => {
    const [at, half] = [500, line.length / 2];
    expect(factorOf(line, at, 0)).toBe(1);
    expect(factorOf(line, half, line.length / 10)).toBeCloseTo(2, 1);
    expect(factorOf(line, half, 1e9)).toBe(10);
    expect(factorOf(line, line.length, 60)).toBe(1);
  });
});

describe("arrival", () => {
  const two = routeLineOf(routeOf([0, 0], [[{ to: [[1000, 0]] }], [{ to: [[3000, 0]] }]]));

  it("is near the end, and nearer while the car drives", () => {
    expect(reachedLeg(two, 900, 15, 0)).toBe(-1);
    expect(reachedLeg(two, 960, 15, 0)).toBe(-1);
    expect(reachedLeg(two, 980, 15, 0)).toBe(0);
    expect(reachedLeg(two, 940, 0, 0)).toBe(0);
    expect(reachedLeg(two, 940, 0, 1)).toBe(-1);
    expect(reachedLeg(two, 2990, 5, 0)).toBe(1);
  });

  it("says the side of the street", () => {
    expect(sideOf(two, 0)).toBe("right");
    expect(sideOf(two, 7)).toBeNull();
  });

  it("says what is left to walk", () => {
    expect(walkTo(two, placeOf([3000, 10]))).toBe(0);
    expect(walkTo(two, placeOf([3000, 120]))).toBeCloseTo(120, 0);
  });
});

describe("new routes", () => {
  it("do not appear in a junction", () => {
    const at = [500, 960, 980, 1010, 1030].map((metres) => isInJunction(line, metres, 10));
    expect(at).toEqual([false, false, true, true, false]);
    expect(isInJunction(line, 950, 30)).toBe(true); // a faster car is nearer in time
    expect(isInJunction(line, 5, 10)).toBe(false); // where it begins
  });

  it("are the same way where they only begin elsewhere", () => {
    const rest = lineOf([400, 0], [{ to: [[1000, 0]] }, ...plans.slice(1)]);
    const other = lineOf([400, 0], [{ to: [[400, 250]] }, { to: [[2000, 250]] }]);
    expect(isSameWay(line, 400, rest)).toBe(true);
    expect(isSameWay(line, 0, rest)).toBe(false);
    expect(isSameWay(line, 400, other)).toBe(false);
  });

  it("are led already where they began behind the car", () => {
    const rest = lineOf([400, 0], [{ to: [[1000, 0]] }, ...plans.slice(1)]);
    const other = lineOf([0, 0], [{ to: [[400, 0]] }, { to: [[400, 250]] }, { to: [[2000, 250]] }]);
    const detour = lineOf([0, 0], [{ to: [[400, 0]] }, { to: [[400, 600]] }, { to: [[1000, 600]] }, { to: [[1000, 0]] }, ...plans.slice(1)]);
    expect(endsWithRest(line, rest, 0)).toBe(true);
    expect(endsWithRest(line, line, 400)).toBe(true);
    expect(endsWithRest(rest, line, 400)).toBe(true);
    expect(endsWithRest(rest, line, 0)).toBe(false); // it does not begin before the car
    expect(endsWithRest(other, line, 400)).toBe(false);
    expect(endsWithRest(detour, rest, 0)).toBe(false); // its last part alone is the same
  });

  it("turn back only where going on costs two minutes", () => {
    const back = lineOf([0, 0], [{ to: [[200, 0]] }, { to: [[-3000, 0]], maneuver: { type: "continue", modifier: "uturn" } }]);
    const late = lineOf([0, 0], [{ to: [[2000, 0]] }, { to: [[-3000, 0]], maneuver: { type: "continue", modifier: "uturn" } }]);
    expect([back, late, line].map(turnsBackAtOnce)).toEqual([true, false, false]);
    expect(prefersGoingOn({ duration: 300 }, { duration: 419 })).toBe(true);
    expect(prefersGoingOn({ duration: 300 }, { duration: 420 })).toBe(false);
  });
});

describe("ledZoom", () => {
  it("is nearer before junctions and farther where one is fast", () => {
    expect(ledZoom(14, null)).toBe(zoomFor(14));
    expect(ledZoom(14, 2000)).toBe(zoomFor(14));
    expect(ledZoom(14, 50)).toBe(17);
    expect(ledZoom(14, 200)).toBeGreaterThan(zoomFor(14));
    expect(ledZoom(36, 450)).toBeGreaterThan(zoomFor(36)); // 14 s before, where it is fast
    const zooms = [600, 400, 300, 200, 100, 60, 10].map((metres) => ledZoom(20, metres));
    expect([...zooms].sort((a, b) => a - b)).toEqual(zooms);
  });
});

describe("a kept drive", () => {
  const drive = { stops: [{ place: { lat: 52, lng: 5 }, name: "x".repeat(500), detail: "" }], avoid: ["toll" as const], at: 1_000_000_000_000 };

  it("is read again, with names of bounded length", () => {
    expect(parseKeptDrive(writeKeptDrive(drive))).toEqual({ ...drive, stops: [{ ...drive.stops[0], name: "x".repeat(200) }] });
  });

  it.each([null, "", "{", "[]", "{}", '{"stops":[],"avoid":[],"at":1}', '{"stops":[{"place":{"lat":91,"lng":0},"name":"","detail":""}],"avoid":[],"at":1}', '{"stops":[{"place":{"lat":1,"lng":0},"name":"","detail":""}],"avoid":["boats"],"at":1}', "null"])("is none: %s", (text) => {
    expect(parseKeptDrive(text)).toBeNull();
  });

  it("goes on, is asked for, or is forgotten", () => {
    const minutes = (count: number): number => drive.at + count * 60_000;
    expect([0, 29, 31, 60 * 23, 60 * 25, -10, -60].map((age) => resumptionOf(drive, minutes(age)))).toEqual(["resume", "resume", "ask", "ask", "forget", "resume", "ask"]);
  });
});

it("a route is closed with no way around until one of the closures is gone", () => {
  const closed = blockedBy(blockedBy(null, "came", ["a", "b"]), "closed", ["a", "b"]);
  expect(closed).toEqual(["a", "b"]);
  expect(blockedBy(closed, "came", ["c"])).toBe(closed);
  expect(blockedBy(closed, "gone", ["c"])).toBe(closed);
  expect(blockedBy(closed, "gone", ["a"])).toBeNull();
  expect(blockedBy(null, "gone", ["a"])).toBeNull();
});
