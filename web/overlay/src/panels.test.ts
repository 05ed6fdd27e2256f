import { expect, it } from "vitest";
import { factsOf, sourcesOf } from "./card.ts";
import { makeFormat } from "./format.ts";
import { en } from "./i18n/en.ts";
import { makeWords } from "./i18n/words.ts";
import { turnAll, turnKind } from "./kindchoice.ts";
import { aroundOf, roundedTime } from "./list.ts";
import { iconOf, nameOf, streetOf } from "./naming.ts";
import { linkText, passing, placeText } from "./notice.ts";
import { hostOf } from "./pairing.ts";
import { isOff } from "./settings.ts";
import type { Speech } from "./speech.ts";
import { notes } from "./tones.ts";
import { HTTPError } from "./api.ts";
import { replyTo } from "./vote.ts";
import type { Entity, Source } from "./wire.ts";

const words: Speech = { ...makeWords("en", en), format: makeFormat("en", "metric") };
const seen = Date.parse("2026-06-01T12:00:00Z");
const minute = 60_000;

function entity(more: Partial<Entity> = {}): Entity {
  return {
    id: "one",
    layer_slug: "town",
    kind_id: "alert.police",
    geom: { type: "Point", coordinates: [5, 52] },
    geom_line: null,
    first_seen_at: "2026-06-01T11:00:00Z",
    last_seen_at: "2026-06-01T12:00:00Z",
    expires_at: "2026-06-01T13:00:00Z",
    status: "reported",
    confidence: 0.5,
    confirm_count: 0,
    dispute_count: 0,
    properties: {},
    ...more,
  };
}

const source = (id: string, layer: string, attribution = `Owner of ${id}`): Source => ({ id, label: id, attribution, layer_slugs: [layer], kind_ids: null, default_on: true, source_type: "feed-push" });
const sources = [source("Town", "town"), source("Live", "live"), source("Other", "other")];

it("a card says what is known, how old it is and whose it is", () => {
  const facts = factsOf(entity({ confirm_count: 1, confidence: 0.66, properties: { merged_from: [{ source: "Live", id: "two" }], network: "ionity" } }), false, sources, seen + 3 * minute, words);
  expect(facts).toEqual([
    "Probably there · 1 confirmation",
    "Seen 3 min ago",
    "Expires in 57 min",
    "Network: Ionity",
    "Source: Town · Owner of Town",
    "Also from: Live · Owner of Live",
  ]);
});

it("a card of what is gone says so, and of a zone that the place is hidden", () => {
  const facts = factsOf(entity({ properties: { wayside_zone_m: 400 } }), true, [], seen, words);
  expect(facts).toEqual(["No longer there", "Seen just now", "The exact place is not shown here."]);
});

it("sources of an entity are named once", () => {
  const merged = [{ source: "Live", id: "two" }, { source: "Live", id: "three" }, { source: "Town", id: "four" }];
  const { own, others } = sourcesOf(entity({ properties: { merged_from: merged } }), sources);
  expect([own?.id, others.map(({ id }) => id)]).toEqual(["Town", ["Live"]]);
});

it("names come from the words, then from the service, and a zone has a name of its own", () => {
  const kinds = [{ id: "alert.new", group: "alerts", label: "New", icon_url: "https://elsewhere.example/v2/icons/alert.new.svg" }];
  expect(nameOf(entity(), kinds, words)).toBe("Police");
  expect(nameOf(entity({ kind_id: "alert.new" }), kinds, words)).toBe("New");
  expect(nameOf(entity({ kind_id: "camera.speed", properties: { wayside_zone_m: 300 } }), kinds, words)).toBe("Camera zone");
  expect(iconOf({ kind_id: "alert.new" }, kinds)).toBe("/v2/icons/alert.new.svg");
});

it("what a provider wrote as street is taken only if it is a text, and is cut", () => {
  expect([streetOf(entity()), streetOf(entity({ properties: { street: 7 } })), streetOf(entity({ properties: { street: " Ring " } }))]).toEqual(["", "", "Ring"]);
  expect(streetOf(entity({ properties: { street: "x".repeat(500) } })).length).toBe(80);
});

it("what is around is what is not ahead, nearest first", () => {
  const far = entity({ id: "far", geom: { type: "Point", coordinates: [5.1, 52] } });
  const near = entity({ id: "near", geom: { type: "Point", coordinates: [5.01, 52] } });
  const pin = { id: "one", kind: "alert.police", lat: 52, lng: 5, zone: 0, merged: [], entity: entity() };
  const around = aroundOf([far, near, entity()], { lat: 52, lng: 5 }, [{ pin, distance: 0, bearing: 0, stage: "ahead", due: false }]);
  expect(around.map((line) => line.entity.id)).toEqual(["near", "far"]);
});

const all = ["alert.police", "alert.hazard", "alert.hazard.fog", "alert.hazard.ice", "camera.speed"];
const offOf = (off: readonly string[]): string[] => all.filter((kind) => isOff(kind, off));

it("a kind that is turned off takes its subtypes with it", () => {
  expect(offOf(turnKind([], "alert.hazard", false, all))).toEqual(["alert.hazard", "alert.hazard.fog", "alert.hazard.ice"]);
  expect(turnKind(["alert.hazard.fog"], "alert.hazard", false, all)).toEqual(["alert.hazard"]);
});

it("a subtype that is turned on again leaves the others off", () => {
  expect(offOf(turnKind(["alert.hazard", "camera.speed"], "alert.hazard.fog", true, all))).toEqual(["alert.hazard.ice", "camera.speed"]);
  expect(turnKind(["alert.hazard"], "alert.hazard", true, all)).toEqual([]);
  expect(turnKind(["alert.hazard.fog"], "alert.hazard", true, all)).toEqual([]);
});

it("whole groups are turned", () => {
  const off = turnAll([], all, false, all);
  expect(offOf(off)).toEqual(all);
  expect(turnAll(off, all, true, all)).toEqual([]);
});

it("a lost connection is told after three seconds, with since when", () => {
  const lost = { how: "lost", since: 1000 } as const;
  expect(linkText(lost, true, true, 3000, words)).toBe("");
  expect(linkText(lost, true, true, 11_000, words)).toBe("Connection lost. Trying again … Last update 10 sec ago");
  expect(linkText(lost, true, true, 121_000, words)).toBe("No connection. Pins may be out of date. Last update 2 min ago");
  expect(linkText(lost, true, false, 11_000, words)).toContain("No connection.");
  expect(linkText({ how: "live", since: 0 }, true, true, 99_000, words)).toBe("");
  expect([linkText(null, false, true, 0, words), linkText(null, true, true, 0, words)]).toEqual(["", "Connecting …"]);
});

it("a driver who is not located is told what to do, with a map and without", () => {
  expect(placeText("refused", false, true, words)).toContain("Touch the map");
  expect(placeText("refused", false, false, words)).toContain("Type it in");
  expect([placeText("found", false, true, words), placeText("found", true, true, words)]).toEqual(["", "No position signal"]);
});

it("a refused vote is put into words", () => {
  const reply = (status: number): string => replyTo(new HTTPError(new Response(null, { status })));
  expect([401, 404, 429, 500].map(reply)).toEqual(["vote.guest", "vote.late", "vote.tooMany", "vote.failed"]);
  expect(replyTo(new TypeError("Failed to fetch"))).toBe("link.offline");
});

it("addresses are shown as people type them", () => {
  expect(hostOf("https://wayside.example/pair")).toBe("wayside.example/pair");
});

it("the two stages sound different, and neither lasts longer than a second", () => {
  expect(notes.near.length).toBeGreaterThan(notes.ahead.length);
  for (const tone of Object.values(notes)) for (const { begins, lasts } of tone) expect(begins + lasts).toBeLessThanOrEqual(1);
});

it("what cannot be helped is said for a while, and again when it comes again", () => {
  const first = passing(true, null, 1000);
  expect(first).toEqual({ since: 1000, shown: true });
  expect(passing(true, first.since, 20_999).shown).toBe(true);
  expect(passing(true, first.since, 21_000)).toEqual({ since: 1000, shown: false });
  expect(passing(false, first.since, 22_000)).toEqual({ since: null, shown: false });
  expect(passing(true, null, 23_000).shown).toBe(true);
});

it("the way to a pin is said in seconds, and from a minute on in the nearest one", () => {
  expect([12.4, 59.9, 60, 89, 91, 151].map(roundedTime)).toEqual([12.4, 59.9, 60, 60, 120, 180]);
});
