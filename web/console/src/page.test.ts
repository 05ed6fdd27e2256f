import { describe, expect, it } from "vitest";
import { contextOf } from "./apppreview.ts";
import { waitBefore } from "./live.ts";
import { withReason } from "./reasons.ts";
import { localTime } from "./times.ts";

describe("waitBefore", () => {
  it("asks less often the longer the page is open", () => {
    expect([0, 59_999, 60_000, 599_999, 600_000].map(waitBefore)).toEqual([2000, 2000, 5000, 5000, 30_000]);
  });
});

describe("withReason", () => {
  it("adds a reason on a line of its own, once", () => {
    expect(withReason("", "Names no source.")).toBe("Names no source.");
    expect(withReason("Row 2 is in the sea.\n", "Names no source.")).toBe("Row 2 is in the sea.\nNames no source.");
    expect(withReason("Names no source.\nRow 2.", "Names no source.")).toBe("Names no source.\nRow 2.");
    expect(withReason("Row 2.", "")).toBe("Row 2.");
  });
});

describe("contextOf", () => {
  it("has the keys of D16.8 and no others", () => {
    const message = JSON.stringify({ type: "context", units: "metric", uiSize: 5, slot: "widget", config: { a: "b" } });
    expect(contextOf(message, { width: 384.4, height: 480, dark: true, touch: false })).toEqual({
      type: "context", theme: "night", units: "metric", uiSize: 5, slot: "widget", size: { width: 384, height: 480 },
      device: { kind: "desktop", input: "pointer" }, config: { a: "b" },
    });
  });
});

describe("localTime", () => {
  it("names the zone", () => {
    const at = Date.parse("2026-11-21T23:05:00Z");
    expect(localTime(at, "en", "Europe/Brussels")).toMatch(/November 22, 2026 at 00:05 GMT\+1/);
    expect(localTime(at, "de", "Europe/Brussels")).toMatch(/22\. November 2026 um 00:05 MEZ/);
    expect(localTime(at, "fr", "UTC")).toMatch(/21 novembre 2026 à 23:05 UTC/);
  });
});
