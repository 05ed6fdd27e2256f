import { expect, it } from "vitest";
import { sourcesOf } from "../pins/attribution.ts";
import { factsOf } from "./card.ts";
import { makeFormat } from "../i18n/format.ts";
import { en } from "../i18n/en.ts";
import { makeWords } from "../i18n/words.ts";
import { setKindsVisible, setKindVisible } from "../settings/kindchoice.ts";
import { isOnWay, nearbyLines, roundedSeconds } from "./list.ts";
import { iconOf, entityLabel, streetOf } from "../pins/entitylabels.ts";
import { connectionText, isElsewhere, noDataText, transientNotice, positionText, type PositionFacts } from "./notice.ts";
import { withoutScheme } from "./pairing.ts";
import { isKindHidden } from "../settings/settings.ts";
import { hasNoData } from "../state/state.ts";
import type { Locale } from "../i18n/locale.ts";
import { notes } from "../alerts/alertsounds.ts";
import { HTTPError } from "../net/api.ts";
import { replyForError } from "./vote.ts";
import type { Entity, Source } from "../net/wire.ts";

const words: Locale = { ...makeWords("en", en), format: makeFormat("en", "metric") };
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

it("a card shows an entity's facts, age and source", () => {
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

it("a card shows that an entity has expired, and that a zone hides the exact place and claims no confidence", () => {
  const facts = factsOf(entity({ properties: { wayside_zone_m: 400 } }), true, [], seen, words);
  expect(factsOf(entity({ properties: { wayside_zone_m: 400 } }), false, [], seen, words).slice(0, 2)).toEqual(["Exact location hidden by local law.", "Seen just now"]);
  expect(facts).toEqual(["No longer there", "Exact location hidden by local law.", "Seen just now"]);
});

it.each([
  [0, 0, 0, 0.3, "Reported just now by 1 driver"],
  [3, 0, 0, 0.3, "Reported 3 min ago by 1 driver"],
  [3, 1, 0, 0.53, "Reported 3 min ago by 2 drivers"],
  [3, 2, 1, 0.52, "Reported 3 min ago by 3 drivers · 1 reported it gone"],
  [3, 0, 1, 0.2, "Probably gone · 1 reported it gone"],
])("a driver's report that is %d minutes old with %d confirmations and %d disputes", (age, confirm_count, dispute_count, confidence, want) => {
  const facts = factsOf(entity({ layer_slug: "drivers", confirm_count, dispute_count, confidence }), false, sources, seen + age * minute, words);
  expect(facts[0]).toBe(want);
  expect(facts.includes("Seen 3 min ago")).toBe(dispute_count > confirm_count);
});

it("a driver's report that has expired is no longer there", () => {
  expect(factsOf(entity({ layer_slug: "drivers" }), true, sources, seen + 3 * minute, words).slice(0, 2)).toEqual(["No longer there", "Seen 3 min ago"]);
});

it("sources of an entity are named once", () => {
  const merged = [{ source: "Live", id: "two" }, { source: "Live", id: "three" }, { source: "Town", id: "four" }];
  const { own, others } = sourcesOf(entity({ properties: { merged_from: merged } }), sources);
  expect([own?.id, others.map(({ id }) => id)]).toEqual(["Town", ["Live"]]);
});

it("names come from the words, then from the service, and a zone has a name of its own", () => {
  const kinds = [{ id: "alert.new", group: "alerts", label: "New", icon_url: "https://elsewhere.example/v2/icons/alert.new.svg" }];
  expect(entityLabel(entity(), kinds, words)).toBe("Police");
  expect(entityLabel(entity({ kind_id: "alert.new" }), kinds, words)).toBe("New");
  expect(entityLabel(entity({ kind_id: "camera.speed", properties: { wayside_zone_m: 300 } }), kinds, words)).toBe("Camera zone");
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
  const around = nearbyLines([far, near, entity()], { lat: 52, lng: 5 }, [{ pin, distance: 0, bearing: 0, stage: "ahead", due: false }]);
  expect(around.map((line) => line.entity.id)).toEqual(["near", "far"]);
});

const all = ["alert.police", "alert.hazard", "alert.hazard.fog", "alert.hazard.ice", "camera.speed"];
const offOf = (off: readonly string[]): string[] => all.filter((kind) => isKindHidden(kind, off));

it("a kind that is turned off takes its subtypes with it", () => {
  expect(offOf(setKindVisible([], "alert.hazard", false, all))).toEqual(["alert.hazard", "alert.hazard.fog", "alert.hazard.ice"]);
  expect(setKindVisible(["alert.hazard.fog"], "alert.hazard", false, all)).toEqual(["alert.hazard"]);
});

it("a subtype that is turned on again leaves the others off", () => {
  expect(offOf(setKindVisible(["alert.hazard", "camera.speed"], "alert.hazard.fog", true, all))).toEqual(["alert.hazard.ice", "camera.speed"]);
  expect(setKindVisible(["alert.hazard"], "alert.hazard", true, all)).toEqual([]);
  expect(setKindVisible(["alert.hazard.fog"], "alert.hazard", true, all)).toEqual([]);
});

it("whole groups are turned", () => {
  const off = setKindsVisible([], all, false, all);
  expect(offOf(off)).toEqual(all);
  expect(setKindsVisible(off, all, true, all)).toEqual([]);
});

it("a lost connection is shown after three seconds, with its duration", () => {
  const lost = { how: "lost", since: 1000 } as const;
  expect(connectionText(lost, true, true, 3000, words)).toBe("");
  expect(connectionText(lost, true, true, 11_000, words)).toBe("Connection lost. Reconnecting … Last updated 10 sec ago");
  expect(connectionText(lost, true, true, 121_000, words)).toBe("No connection. Pins may be out of date. Last updated 2 min ago");
  expect(connectionText(lost, true, false, 11_000, words)).toContain("No connection.");
  expect(connectionText({ how: "live", since: 0 }, true, true, 99_000, words)).toBe("");
  expect([connectionText(null, false, true, 0, words), connectionText(null, true, true, 0, words)]).toEqual(["", "Connecting …"]);
});

it("a driver without a position is shown what to do, with a map and without", () => {
  const text = (more: Partial<PositionFacts>): string => positionText({ status: "found", accuracy: 10, held: false, drawable: true, ...more }, words);
  for (const status of ["refused", "missing", "slow"] as const) {
    expect(text({ status })).toBe(en[`place.${status}`]);
    expect(text({ status, drawable: false })).toBe(en["place.type"]);
  }
  expect([text({ status: "unasked" }), text({ status: "unasked", drawable: false })]).toEqual(["", en["place.type"]]);
  expect([text({}), text({ held: true }), text({ status: "named", accuracy: null })]).toEqual(["", en["place.held"], ""]);
});

it("a position from the network's address is called what it is", () => {
  const text = (accuracy: number): string => positionText({ status: "found", accuracy, held: false, drawable: true }, words);
  expect(text(1000)).toBe("");
  expect(text(25_000)).toContain("25 km");
});

it("a place without data is told from one that was not read yet", () => {
  const live = { how: "live", since: 0 } as const;
  expect(hasNoData(live, true, 0)).toBe(true);
  expect([hasNoData(live, true, 1), hasNoData(live, false, 0), hasNoData(null, true, 0), hasNoData({ how: "lost", since: 0 }, true, 0)]).toEqual([false, false, false, false]);
});

it("the nearest data is named by its city, a large place near it, its street or its kind", () => {
  const from = { lat: 52, lng: 3 };
  const text = (properties: Entity["properties"], place: { name: string; distance_m: number } | null): string => noDataText({ entity: entity({ properties }), place }, from, [], words);
  const utrecht = { name: "Utrecht", distance_m: 9000 };
  expect(text({ city: "Vianen", street: "A2" }, utrecht)).toBe("No data within 10 km. Nearest: Vianen, 137 km");
  expect(text({ street: "A2" }, utrecht)).toContain("Nearest: Utrecht, ");
  expect(text({ street: "A2" }, null)).toContain("Nearest: A2, ");
  expect(text({}, null)).toContain("Nearest: Police, ");
  expect(noDataText(null, from, [], words)).toBe("No data within 10 km of you.");
});

it("a view without the driver is another place, also around the antimeridian", () => {
  const view = (west: number, east: number): boolean => isElsewhere({ west, south: 51, east, north: 53 }, { lat: 52, lng: -179 });
  expect([view(179, 183), view(-180, -178), view(-200, 200), view(-540, -530)]).toEqual([false, false, false, false]);
  expect([view(4, 5), view(179, 180.5)]).toEqual([true, true]);
  expect(isElsewhere({ west: 4, south: 51, east: 6, north: 53 }, { lat: 50, lng: 5 })).toBe(true);
});

it("what lies on other streets is not ahead", () => {
  const at = (metres: number, off: number, zone = 0): boolean => isOnWay({ distance: metres, bearing: 90 + off, pin: { zone } }, 90);
  expect([at(900, 0), at(900, 3), at(100, 30), at(40, 75)]).toEqual([true, true, true, true]);
  expect([at(900, 5), at(900, -25), at(200, 30), at(40, 91)]).toEqual([false, false, false, false]);
  expect(at(900, 25, 400)).toBe(true); // where in a zone it is must not be seen
});

it("a refused vote is put into words", () => {
  const reply = (status: number): string => replyForError(new HTTPError(new Response(null, { status })));
  expect([401, 404, 429, 500].map(reply)).toEqual(["vote.guest", "vote.late", "vote.tooMany", "vote.failed"]);
  expect(replyForError(new TypeError("Failed to fetch"))).toBe("link.offline");
});

it("addresses are shown as people type them", () => {
  expect(withoutScheme("https://wayside.example/pair")).toBe("wayside.example/pair");
});

it("the two stages sound different, and neither lasts longer than a second", () => {
  expect(notes.near.length).toBeGreaterThan(notes.ahead.length);
  for (const tone of Object.values(notes)) for (const { startsAt, duration } of tone) expect(startsAt + duration).toBeLessThanOrEqual(1);
});

it("what cannot be helped is said for a while, and again when it comes again", () => {
  const first = transientNotice(true, null, 1000);
  expect(first).toEqual({ since: 1000, shown: true });
  expect(transientNotice(true, first.since, 20_999).shown).toBe(true);
  expect(transientNotice(true, first.since, 21_000)).toEqual({ since: 1000, shown: false });
  expect(transientNotice(false, first.since, 22_000)).toEqual({ since: null, shown: false });
  expect(transientNotice(true, null, 23_000).shown).toBe(true);
});

it("the way to a pin is said in seconds, and from a minute on in the nearest one", () => {
  expect([12.4, 59.9, 60, 89, 91, 151].map(roundedSeconds)).toEqual([12.4, 59.9, 60, 60, 120, 180]);
});
