import { describe, expect, it } from "vitest";
import { HTTPError } from "../net/api.ts";
import { en } from "../i18n/en.ts";
import { makeWords } from "../i18n/words.ts";
import type { Kind } from "../net/wire.ts";
import { bodyOf, choices, failureOf, outcomeText, undoOf, type ReportAnswer } from "./rules.ts";

const kinds: Kind[] = ["alert.police", "alert.hazard", "alert.hazard.ice", "alert.hazard.fog", "traffic.jam", "camera.speed"].map((id) => ({ id, group: "", label: id, icon_url: "" }));
const entity = { id: "drivers:v1:x", kind_id: "alert.hazard.ice" };

describe("choices", () => {
  it("are the kinds that the service knows and no restriction hides", () => {
    const ids = (page: "first" | "hazards", hidden: string[]): string[] => choices(page, kinds, hidden).map(({ id }) => id);
    expect(ids("first", [])).toEqual(["alert.police", "traffic.jam", "alert.hazard"]);
    expect(ids("first", ["alert.police"])).toEqual(["traffic.jam", "alert.hazard"]);
    expect(ids("hazards", [])).toEqual(["alert.hazard.ice", "alert.hazard.fog", "alert.hazard"]);
    expect(ids("hazards", ["alert.hazard"])).toEqual([]);
  });
});

describe("outcomeText and undoOf", () => {
  const { say } = makeWords("en", en);
  it.each<[ReportAnswer, string, string | null]>([
    [{ entity, waits: false }, "Reported: Ice", "report"],
    [{ entity, waits: true }, "Reported: Ice. Others see it when a second driver reports it too.", "report"],
    [{ entity, waits: false, counted_as: "confirm", renewed: false }, "Confirmed. Thank you.", "vote"],
    [{ entity, waits: true, counted_as: "confirm", renewed: true }, "You reported this before. It stays longer now.", null],
  ])("tell what became of %j", (answer, text, undo) => {
    expect(outcomeText(answer, "Ice", say)).toBe(text);
    expect(undoOf(answer)).toBe(undo);
  });
});

describe("failureOf", () => {
  it.each([
    [401, "account.ended"],
    [422, "report.refused"],
    [429, "report.tooMany"],
    [503, "report.failed"],
  ] as const)("maps %d", (status, key) => {
    expect(failureOf(new HTTPError(new Response(null, { status })))).toBe(key);
  });
  it("says that there is no connection", () => {
    expect(failureOf(new TypeError("Failed to fetch"))).toBe("link.offline");
  });
});

describe("bodyOf", () => {
  const pose = { lat: 52.123456789, lng: -0.000001, heading: 359.7, speed: 20 };
  it("rounds the place to about a metre, and the heading within the circle", () => {
    expect(bodyOf("traffic.jam", pose, Date.UTC(2026, 10, 23))).toEqual({ kind: "traffic.jam", lat: 52.12346, lng: -0, heading: 0, observed_at: "2026-11-23T00:00:00.000Z" });
  });
  it("leaves out the heading of a car that stands, and a time that is not known", () => {
    expect(bodyOf("traffic.jam", { ...pose, speed: 1 }, null)).toEqual({ kind: "traffic.jam", lat: 52.12346, lng: -0 });
    expect(bodyOf("traffic.jam", { ...pose, heading: null }, null)).toEqual({ kind: "traffic.jam", lat: 52.12346, lng: -0 });
  });
});
