import { describe, expect, test } from "vitest";
import type { AlertPin } from "../alerts/alertrules.ts";
import { placeOnRoute } from "./onroute.ts";
import { routeLineOf } from "./routeline.ts";
import { placeOf, routeOf, type Spot } from "./testroutes.ts";

// 500 m east, 400 m north, 1000 m back west.
const line = routeLineOf(routeOf([0, 0], [[{ to: [[500, 0]] }, { to: [[500, 400]] }, { to: [[-500, 400]] }]]));
const pin = (spot: Spot, more: Partial<AlertPin> = {}): AlertPin => ({ id: "p", kind: "camera.speed", ...placeOf(spot), zone: 0, merged: [], ...more });
const metres = (at: number, one: AlertPin): number | null => {
  const place = placeOnRoute(line, at, one);
  return place && Math.round(place.distance);
};

describe("placeOnRoute", () => {
  test.each<[string, number, AlertPin, number | null]>([
    ["straight on", 100, pin([300, -6]), 200],
    ["around a corner", 300, pin([505, 200]), 400],
    ["a parallel road ahead", 100, pin([300, 40]), null],
    ["straight on where the route turns off", 400, pin([700, 0]), null],
    ["behind", 200, pin([100, 0]), null],
    ["beside the car", 200, pin([198, 5]), 0],
    ["this direction", 100, pin([300, 0], { bearing: 80 }), 200],
    ["the opposite carriageway", 100, pin([300, 8], { bearing: 270 }), null],
    ["the direction in which the route comes back", 100, pin([300, 400], { bearing: 270 }), 1000],
    ["a zone, to its edge", 100, pin([400, 20], { zone: 200 }), 202],
    ["in a zone", 350, pin([400, 20], { zone: 200 }), 0],
    ["behind a zone", 700, pin([400, 20], { zone: 200 }), null],
  ])("%s", (_, at, one, want) => {
    expect(metres(at, one)).toBe(want);
  });

  test("a line is as far as its first place on the route, and reached on it", () => {
    const jam = pin([500, 100], { kind: "traffic.jam", line: [placeOf([500, 100]), placeOf([500, 300])] });
    expect(placeOnRoute(line, 200, jam)).toMatchObject({ reached: false });
    expect(metres(200, jam)).toBe(400);
    expect(placeOnRoute(line, 650, jam)).toEqual({ distance: 0, reached: true });
    expect(metres(1000, jam)).toBeNull();
    const against = { ...jam, bearing: 180, line: [placeOf([500, 300]), placeOf([500, 100])] };
    expect(metres(200, against)).toBeNull();
  });
});
