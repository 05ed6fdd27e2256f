import { expect, test } from "vitest";
import { detailsOf, summaryOf } from "./details.ts";
import { makeFormat } from "../i18n/format.ts";
import { de } from "../i18n/de.ts";
import { en } from "../i18n/en.ts";
import { makeWords } from "../i18n/words.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Entity } from "../net/wire.ts";

const words: Locale = { ...makeWords("en", en), format: makeFormat("en", "metric") };
const miles: Locale = { ...words, format: makeFormat("en", "imperial") };
const german: Locale = { ...makeWords("de", de), format: makeFormat("de", "metric") };
const now = Date.parse("2026-06-01T12:00:00Z");

function entity(kind_id: string, properties: Entity["properties"]): Entity {
  return {
    id: "one",
    layer_slug: "town",
    kind_id,
    geom: { type: "Point", coordinates: [5, 52] },
    geom_line: null,
    first_seen_at: "2026-06-01T11:00:00Z",
    last_seen_at: "2026-06-01T12:00:00Z",
    expires_at: null,
    status: "reported",
    confidence: 0.5,
    confirm_count: 0,
    dispute_count: 0,
    properties,
  };
}

/** plain replaces what Intl and isolates put into lines by what one reads. */
const plain = (line: string): string => line.replace(/[\u2068\u2069]/g, "").replace(/[\u00a0\u202f]/g, " ");
const lines = (kind: string, properties: Entity["properties"], locale = words): string[] => detailsOf(entity(kind, properties), locale, now).map(plain);

const jam = { level: 3, speed_kmh: 9.04, delay_seconds: 720, length_metres: 2300, end_node: "Last Lane", bearing: 271 };

test("a jam says its level, speed, delay, length, direction and end", () => {
  expect(lines("traffic.jam", jam)).toEqual(["Heavy traffic · 9 km/h · +12 min · 2.3 km long", "Direction: west", "Up to Last Lane"]);
  expect(lines("traffic.jam", jam, miles)[0]).toBe("Heavy traffic · 6 mph · +12 min · 1.4 mi long");
  expect(lines("traffic.jam", jam, german)).toEqual(["Stockender Verkehr · 9 km/h · +12 Min. · 2,3 km lang", "Richtung: Westen", "Bis Last Lane"]);
  expect(plain(summaryOf(entity("traffic.jam", jam), words))).toBe("Heavy traffic · +12 min");
});

test("works say lanes, closure, detour and until when", () => {
  expect(lines("alert.construction", { lanes_closed: 2, detour: true, both_directions: true, bearing: 9, ends_at: "2026-08-01T12:00:00Z", description: "New bridge" })).toEqual([
    "2 lanes closed",
    "Both directions",
    "Detour signposted",
    "Until Aug 1, 2026",
    "New bridge",
  ]);
  expect(lines("alert.construction", { closed: true, lanes_closed: 2 })).toEqual(["Road closed"]);
  expect(lines("alert.construction", { lanes_closed: 1, starts_at: "2026-06-01T11:59:59Z", ends_at: "2026-06-01T12:00:00Z" })).toEqual(["1 lane closed"]);
  expect(lines("alert.construction", { ends_at: "2026-06-01T12:30:00Z" })[0]).toMatch(/^Until \S+ \d+:30/);
});

test("a charger says power, free places, state, plugs, price and hours", () => {
  const state = { max_kw: 149.6, evses: 8, available: 3, out_of_order: 1, status_at: "2026-06-01T11:57:00Z", plugs: ["ccs", "type2"], price: "0.59 €/kWh", opening_hours: "24/7", name: "Harbour", operator: "Volt" };
  expect(lines("charger.supercharger", state)).toEqual([
    "150 kW · 3 of 8 free · 1 out of order",
    "Availability 3 min ago",
    "ccs · type2",
    "Price: 0.59 €/kWh",
    "Open: 24/7",
    "Harbour · Volt",
  ]);
  expect(lines("charger.destination", { max_kw: 3.68, evses: 1 })).toEqual(["3.7 kW · 1 charging point"]);
  expect(lines("charger.destination", { available: 5, evses: 2 })).toEqual(["5 free"]);
});

test("all eight directions have a name, and north is one at both ends", () => {
  const named = (bearing: unknown): string[] => lines("camera.speed", { bearing });
  expect([0, 45, 90, 135, 180, 225, 270, 315, 359, 360].map((bearing) => named(bearing)[0])).toEqual(
    ["north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west", "north", "north"].map((name) => `Direction: ${name}`),
  );
  expect([-1, 361, "90"].flatMap(named)).toEqual([]);
  expect(lines("camera.speed", { heading_degrees: 90 })).toEqual(["Direction: east"]);
  expect(lines("camera.speed", { bearing: 90, direction: "inbound" })).toEqual(["Direction: inbound"]);
});

test("values of another type or out of range are left out, whatever they are", () => {
  const names = [
    ...["level", "speed_kmh", "delay_seconds", "length_metres", "lanes_closed", "bearing", "direction", "both_directions", "closed", "detour", "starts_at", "ends_at"],
    ...["end_node", "description", "max_kw", "evses", "available", "out_of_order", "status_at", "plugs", "price", "opening_hours", "name", "operator"],
  ];
  for (const value of [null, -1, 1e300, Number.NaN, [], {}, { toString: 1 }, [[]], [{}], "", " ", "\u202e\u2066"]) {
    const properties = Object.fromEntries(names.map((name) => [name, value]));
    for (const kind of ["traffic.jam", "alert.construction", "camera.speed", "charger.supercharger"]) expect(lines(kind, properties), `${kind} ${JSON.stringify(value)}`).toEqual([]);
  }
});

test("a provider's text stays one short line that cannot turn the others around", () => {
  const [line = ""] = detailsOf(entity("alert.hazard", { description: `  <b>a\u202e</b>\n\u0000${"x".repeat(20_000)}` }), words, now);
  expect(line.startsWith("\u2068<b>a</b> x")).toBe(true);
  expect(line.endsWith("…\u2069")).toBe(true);
  expect(line.length).toBeLessThanOrEqual(202);
  const [smileys = ""] = detailsOf(entity("alert.hazard", { description: "x" + "😀".repeat(300) }), words, now);
  expect(encodeURIComponent(smileys)).toContain("%E2%80%A6"); // fails for half a character
  expect(lines("charger.supercharger", { plugs: Array.from({ length: 1000 }, (_, i) => `plug ${String(i)}`) })).toEqual(["plug 0 · plug 1 · plug 2 · plug 3 · plug 4 · plug 5"]);
});
