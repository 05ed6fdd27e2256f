import { describe, expect, it } from "vitest";
import { distance } from "../geo/geo.ts";
import { makeFormat } from "../i18n/format.ts";
import { HTTPError } from "../net/api.ts";
import { foundOf, RouteError, TooSoon } from "./api.ts";
import { drawingOf } from "./maneuvericon.ts";
import { boundsOf } from "./overview.ts";
import { arrowFeatures, collection, drivenFeature, flowFeatures, flowParts, isEmpty, longDriven } from "./routefeatures.ts";
import { lineOf } from "./testroutes.ts";
import { leftText, turnDistance, turnDistanceText } from "./triptexts.ts";
import { missingFor } from "./placesearch.ts";
import { troubleOf } from "./trouble.ts";
import type { Modifier } from "./types.ts";

describe("drawingOf", () => {
  const modifiers: readonly Modifier[] = ["uturn", "sharp right", "right", "slight right", "straight", "slight left", "left", "sharp left"];

  it("draws each direction differently, and left as the mirror of right", () => {
    const drawn = modifiers.map((modifier) => drawingOf({ type: "turn", modifier }));
    expect(new Set(drawn.map(({ paths, isMirrored }) => `${paths.join()} ${String(isMirrored)}`)).size).toBe(modifiers.length);
    for (const side of ["sharp ", "", "slight "] as const) {
      const [left, right] = (["left", "right"] as const).map((to) => drawingOf({ type: "turn", modifier: `${side}${to}` as Modifier }));
      expect(left).toEqual({ ...right, isMirrored: true });
    }
  });

  it("draws a roundabout with the number of its exit, mirrored where one drives on the left", () => {
    const right = drawingOf({ type: "roundabout", modifier: "right", exit: 2 }, { degrees: 180, driving_side: "right" });
    expect(right).toMatchObject({ text: "2", isMirrored: false });
    expect(right.paths[0]).toContain("24.0 11.0"); // out at the top
    expect(drawingOf({ type: "roundabout", exit: 2 }, { degrees: 180, driving_side: "left" }).isMirrored).toBe(true);
    expect(drawingOf({ type: "roundabout", exit: 1 }, { degrees: 90, driving_side: "right" }).paths[0]).toContain("35.0 22.0"); // at the right
  });

  it("shows the other branch of a fork", () => {
    expect(drawingOf({ type: "fork", modifier: "slight right" }).faint).toHaveLength(1);
    expect(drawingOf({ type: "turn", modifier: "slight right" }).faint).toHaveLength(0);
  });

  it("draws something for a type that is newer than the page", () => {
    expect(drawingOf({ type: "teleport" }).paths).toHaveLength(1);
  });
});

describe("texts of a drive", () => {
  const format = makeFormat("en", "metric");

  it("has finer distances near a turn", () => {
    expect([4, 14, 96, 296, 340, 980, 999].map((metres) => turnDistanceText(metres, "metric", format))).toEqual(["0 m", "10 m", "100 m", "300 m", "350 m", "950 m", "950 m"]);
    expect(turnDistanceText(1240, "metric", format)).toBe("1.2 km");
    expect(turnDistance(100, "imperial")).toEqual({ value: 350, unit: "foot" });
    expect(turnDistance(1000, "imperial")).toBeNull();
  });

  it("has whole minutes, begun ones included", () => {
    expect([0, 59, 61, 3599, 3600, 3900, 90_000].map((seconds) => leftText(seconds, format))).toEqual(["1 min", "1 min", "2 min", "1 hr", "1 hr", "1 hr 5 min", "1 day"]);
  });
});

describe("what is drawn of a route", () => {
  const line = lineOf([0, 0], [{ to: [[1000, 0]], congestion: "low" }, { to: [[1000, 500]] }, { to: [[2000, 500]], congestion: "severe" }]);

  it("joins what flows alike", () => {
    expect(flowParts(line)).toEqual([{ flow: "low", first: 0, last: 2 }, { flow: "severe", first: 2, last: 3 }]);
  });

  it("has what is driven", () => {
    expect(drivenFeature(line, 0, 1200).geometry).toMatchObject({ coordinates: { length: 3 } });
    expect(drivenFeature(line, 0, 0).geometry).toMatchObject({ coordinates: [] });
  });

  it("is not drawn at all where it is empty", () => {
    expect([collection([]), drivenFeature(line, 0, 0)].map(isEmpty)).toEqual([true, true]);
    expect([flowFeatures(line), drivenFeature(line, 0, 1200), collection(arrowFeatures(line, 1000))].map(isEmpty)).toEqual([false, false, false]);
  });

  it("has an arrow around a junction, with a head in its direction", () => {
    const [shaft, head] = arrowFeatures(line, 1000);
    if (shaft?.geometry.type !== "LineString" || head?.geometry.type !== "Polygon") throw new Error("no arrow");
    expect(shaft.geometry.coordinates).toHaveLength(3);
    const [left, tip, right] = (head.geometry.coordinates[0] ?? []).map(([lng = 0, lat = 0]) => ({ lng, lat }));
    if (left === undefined || tip === undefined || right === undefined) throw new Error("no head");
    expect(tip.lat).toBeGreaterThan(left.lat);
    expect(distance(left, right)).toBeCloseTo(22, 0);
    expect(arrowFeatures(line, line.length + 30)).toEqual([]); // no room
  });

  it("has bounds", () => {
    expect(boundsOf([{ lat: 1, lng: 5 }, { lat: 3, lng: -2 }])).toEqual([-2, 1, 5, 3]);
    expect(boundsOf([])).toBeNull();
  });
});

describe("troubleOf", () => {
  const refused = (status: number): HTTPError => new HTTPError(new Response(null, { status }));

  it.each([
    [new RouteError("NoRoute", ""), "noRoute"],
    [new RouteError("NoSegment", "Could not find a matching segment for coordinate 1"), "noRoad"],
    [new RouteError("NoSegment", "Could not find a matching segment for coordinate 10"), "noRoad"],
    [new RouteError("NoSegment", "Could not find a matching segment for coordinate 0"), "offMap"],
    [new RouteError("NoRegion", ""), "noRegion"],
    [new RouteError("InvalidValue", ""), "failed"],
    [new TooSoon(3), "tooSoon"],
    [new TypeError("Failed to fetch"), "noConnection"],
    [refused(500), "failed"],
  ])("%s is %s", (error, trouble) => {
    expect(troubleOf(error)).toBe(trouble);
  });
});

it("a service without place search is asked again when it says", () => {
  const refused = (status: number, headers?: HeadersInit): HTTPError => new HTTPError(new Response(null, { status, ...(headers && { headers }) }));
  expect([refused(503, { "Retry-After": "30" }), refused(503), refused(429, { "Retry-After": "30" }), new TypeError("Failed to fetch")].map(missingFor)).toEqual([30_000, null, null, null]);
});

describe("foundOf", () => {
  it("names what was found, and what tells it from others", () => {
    const geometry = { coordinates: [5, 52.01] as const };
    expect(foundOf({ geometry, properties: { name: "Mill", street: "Mill Road", housenumber: "3", city: "Town", osm_key: "amenity" } }, { lat: 52, lng: 5 })).toMatchObject({ name: "Mill", detail: "Mill Road 3, Town", key: "amenity", place: { lat: 52.01, lng: 5 } });
    const address = foundOf({ geometry, properties: { street: "Mill Road", housenumber: "3" } }, null);
    expect(address).toMatchObject({ name: "Mill Road 3", detail: "", metres: null });
  });
});

describe("longDriven", () => {
  it("is drawn anew now and then, and never reaches beyond the car", () => {
    expect([0, 1000, 1500, 1501, 2400].reduce<number[]>((drawn, driven) => [...drawn, longDriven(drawn[drawn.length - 1] ?? 0, driven)], [])).toEqual([0, 0, 0, 1001, 1001]);
    expect(longDriven(1001, 900), "the car was not as far").toBe(400);
    expect(longDriven(1001, 10)).toBe(0);
  });
});
