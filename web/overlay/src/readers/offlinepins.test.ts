import { describe, expect, it } from "vitest";
import { keptFor, restorePins, type StoredPins } from "./offlinepins.ts";
import type { Entity } from "../net/wire.ts";

const noon = Date.UTC(2026, 5, 1, 12);
const minute = 60_000;

const pin = (id: string, expires: number | null): Entity => ({
  id,
  layer_slug: "a",
  kind_id: "alert.police",
  geom: { type: "Point", coordinates: [5, 52] },
  geom_line: null,
  first_seen_at: new Date(noon).toISOString(),
  last_seen_at: new Date(noon).toISOString(),
  expires_at: expires === null ? null : new Date(expires).toISOString(),
  status: "reported",
  confidence: 0.5,
  confirm_count: 0,
  dispute_count: 0,
  properties: {},
});

// The car's clock is an hour slow.
const stored: StoredPins = { form: 1, wall: noon - 60 * minute, server: noon, account: false, entities: [pin("short", noon + 5 * minute), pin("long", noon + 30 * minute), pin("camera", null)], health: [], hidden: ["camera"] };
const later = (minutes: number): number => stored.wall + minutes * minute;
const ids = (minutes: number): string[] | null => restorePins(stored, later(minutes), false)?.entities.map(({ id }) => id) ?? null;

describe("stored pins", () => {
  it("are shown until they expire by the service's time, whatever the car's clock says", () => {
    expect(ids(0)).toEqual(["short", "long", "camera"]);
    expect(ids(5)).toEqual(["long", "camera"]);
    expect(ids(31)).toEqual(["camera"]);
  });

  it("carry their age and the service's time", () => {
    expect(restorePins(stored, later(7), false)).toMatchObject({ age: 7 * minute, server: noon + 7 * minute, hidden: ["camera"] });
  });

  it("are not shown after a day, nor if the clock was set back", () => {
    expect(restorePins(stored, stored.wall + keptFor, false)).not.toBeNull();
    expect(restorePins(stored, stored.wall + keptFor + 1, false)).toBeNull();
    expect(restorePins(stored, stored.wall - 1, false)).toBeNull();
  });

  it("of an account are shown to nobody else", () => {
    expect(restorePins({ ...stored, account: true }, later(1), false)).toBeNull();
    expect(restorePins({ ...stored, account: true }, later(1), true)).not.toBeNull();
    expect(restorePins(stored, later(1), true)).not.toBeNull();
  });

  it("of another form are ignored", () => {
    for (const bad of [null, 1, "x", {}, { ...stored, form: 2 }, { ...stored, entities: {} }, { ...stored, wall: "1" }]) expect(restorePins(bad, later(1), false)).toBeNull();
  });
});
