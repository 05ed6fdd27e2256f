import { expect, test } from "vitest";
import { diffFeatures, type Pin } from "./featurediff.ts";

const pin = (id: string, kind: string, lng = 5): Pin => ({
  type: "Feature",
  id,
  geometry: { type: "Point", coordinates: [lng, 52] },
  properties: { id, kind },
});
const pins = (...all: Pin[]): Map<string, Pin> => new Map(all.map((one) => [one.id, one]));

test("equal sets have no difference", () => {
  expect(diffFeatures(pins(pin("a", "x")), pins(pin("a", "x")))).toBeNull();
  expect(diffFeatures(pins(), pins())).toBeNull();
});

test("what is new is added, and what is gone is removed", () => {
  const b = pin("b", "x");
  expect(diffFeatures(pins(pin("a", "x")), pins(b))).toEqual({ remove: ["a"], add: [b], update: [] });
});

test("only changed members are part of the difference", () => {
  expect(diffFeatures(pins(pin("a", "x"), pin("b", "x")), pins(pin("a", "x", 6), pin("b", "y")))).toEqual({
    remove: [],
    add: [],
    update: [
      { id: "a", newGeometry: { type: "Point", coordinates: [6, 52] }, removeProperties: [], addOrUpdateProperties: [] },
      { id: "b", removeProperties: [], addOrUpdateProperties: [{ key: "kind", value: "y" }] },
    ],
  });
});

test("a property that is no longer there is removed", () => {
  const bare: Pin = { ...pin("a", "x"), properties: { id: "a" } };
  expect(diffFeatures(pins(pin("a", "x")), pins(bare))?.update).toEqual([{ id: "a", removeProperties: ["kind"], addOrUpdateProperties: [] }]);
});
