import { describe, expect, it } from "vitest";
import { distance } from "../geo/geo.ts";
import { decodePolyline, part, placeAt, routeLineOf, secondsAt, segmentAt } from "./routeline.ts";
import { encodePolyline, lineOf, placeOf, routeOf } from "./testroutes.ts";

describe("decodePolyline", () => {
  it("decodes what was encoded, also across zero", () => {
    const places = [{ lat: 0.000001, lng: -0.000002 }, { lat: -33.5, lng: 179.999999 }, { lat: 71.25, lng: -179.5 }];
    expect(decodePolyline(encodePolyline(places))).toEqual(places);
  });

  it("decodes the example of the format's description", () => {
    expect(decodePolyline("_izlhA~rlgdF_{geC~ywl@_kwzCn`{nI")).toEqual([{ lat: 38.5, lng: -120.2 }, { lat: 40.7, lng: -120.95 }, { lat: 43.252, lng: -126.453 }]);
  });

  it("ends where a text is cut off", () => {
    const whole = encodePolyline([{ lat: 52, lng: 5 }, { lat: 52.1, lng: 5.1 }]);
    for (let length = 0; length < whole.length; length++) expect(decodePolyline(whole.slice(0, length)).length).toBeLessThan(2);
  });
});

describe("routeLineOf", () => {
  const route = routeOf([0, 0], [
    [{ to: [[500, 0], [1000, 0]], speed: 10 }, { to: [[1000, 300]], speed: 5, limit: 30, congestion: "heavy" }],
    [{ to: [[1000, 500]] }],
  ]);
  const line = routeLineOf(route);

  it("joins the steps without repeated places", () => {
    expect(line.places).toHaveLength(5);
    expect(line.length).toBeCloseTo(1500, 0);
    expect(line.legEnds.map(Math.round)).toEqual([1300, 1500]);
    expect(line.steps.map(({ first, last, leg }) => [first, last, leg])).toEqual([[0, 2, 0], [2, 3, 0], [3, 3, 0], [3, 4, 1], [4, 4, 1]]);
  });

  it("has limits, flows and times of each segment", () => {
    expect(line.limits).toEqual([50, 50, 30, 50]);
    expect(line.flows).toEqual(["unknown", "unknown", "heavy", "unknown"]);
    expect(secondsAt(line, 750)).toBeCloseTo(75, 0);
    expect(secondsAt(line, 1300)).toBeCloseTo(160, 0);
    expect(secondsAt(line, 9999)).toBeCloseTo(180, 0);
  });

  it("takes times of steps, which include turns", () => {
    const slower = routeLineOf({ ...route, legs: route.legs.map((leg) => ({ ...leg, steps: leg.steps.map((step) => ({ ...step, duration: step.duration * 2 })) })) });
    expect(secondsAt(slower, 1500)).toBeCloseTo(360, 0);
  });

  it("reads limits in miles and roads without one", () => {
    const [leg] = route.legs;
    if (leg?.annotation === undefined) throw new Error("no annotation");
    const limits = { ...route, legs: [{ ...leg, annotation: { ...leg.annotation, maxspeed: [{ speed: 50, unit: "mph" as const }, { none: true as const }, { unknown: true as const }] } }] };
    expect(routeLineOf(limits).limits.map((limit) => (limit === null ? null : Math.round(limit)))).toEqual([80, Infinity, null]);
  });

  it("marks what is closed", () => {
    const closed = { id: "a", type: "road_closure", kind_id: "alert.road_closed", impact: "critical" as const, closed: true, length: 1, affected_road_names: [], geometry_index_start: 1, geometry_index_end: 2 };
    expect(routeLineOf(routeOf([0, 0], [[{ to: [[500, 0], [1000, 0], [1500, 0]] }]], [closed])).flows).toEqual(["unknown", "closed", "unknown"]);
  });

  it("is empty for a route without a line", () => {
    expect(routeLineOf({ ...route, legs: [] })).toMatchObject({ places: [], length: 0 });
  });
});

describe("places of a line", () => {
  const line = lineOf([0, 0], [{ to: [[100, 0], [100, 100]] }]);

  it("are found by metres", () => {
    expect(distance(placeAt(line, 50), placeOf([50, 0]))).toBeLessThan(0.2);
    expect(distance(placeAt(line, 150), placeOf([100, 50]))).toBeLessThan(0.2);
    expect(placeAt(line, -5)).toEqual(line.places[0]);
    expect(placeAt(line, 5000)).toEqual(line.places[2]);
    expect([-1, 0, 99, 101, 999].map((metres) => segmentAt(line, metres))).toEqual([0, 0, 0, 1, 1]);
  });

  it("are cut", () => {
    expect(part(line, 50, 150)).toHaveLength(3);
    expect(part(line, 20, 50)).toHaveLength(2);
  });
});
