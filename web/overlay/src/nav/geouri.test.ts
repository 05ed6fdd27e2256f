import { describe, expect, it } from "vitest";
import { cleanName, parseLink } from "./geouri.ts";

describe("links to a destination", () => {
  it.each([
    ["52.1,5.2", { lat: 52.1, lng: 5.2 }, ""],
    [" -52.1 , +5 ", { lat: -52.1, lng: 5 }, ""],
    ["geo:52.1,5.2", { lat: 52.1, lng: 5.2 }, ""],
    ["GEO:52.1,5.2,30;u=20", { lat: 52.1, lng: 5.2 }, ""],
    ["geo:52.1,5.2;crs=wgs84?z=15", { lat: 52.1, lng: 5.2 }, ""],
    ["geo:0,0?q=52.1,5.2(Town+hall)", { lat: 52.1, lng: 5.2 }, "Town hall"],
    ["geo:52,5?q=52.1,5.2(A%20(b))", { lat: 52.1, lng: 5.2 }, "A (b)"],
    ["geo:52,5?q=pizza", { lat: 52, lng: 5 }, ""],
    ["0,0", { lat: 0, lng: 0 }, ""],
  ])("%s", (link, place, name) => {
    expect(parseLink(link)).toEqual({ place, name, detail: "" });
  });

  it.each([null, "", "Main Street", "91,5", "52,181", "52", "52,5,6,7", "NaN,5", "1e1,5", "geo:", "geo:0,0", "geo:0,0?q=pizza", "geo:52,5;crs=moon", "geo:abc,def", `52,${"0".repeat(3000)}5`])("has none in %s", (link) => {
    expect(parseLink(link)).toBeNull();
  });

  it("never throws and never gives a place outside of the globe or a long name", () => {
    const pieces = ["geo:", "?", "q=", "(", ")", ",", ";", "u=", "%", "%ZZ", "52", "-5", ".", "999", "\u202E", "\u0000", "<img src=x>", "&", "crs=", "😀", "x".repeat(200)];
    let seed = 7;
    const next = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let i = 0; i < 5_000; i++) {
      const link = Array.from({ length: next(9) }, () => pieces[next(pieces.length)]).join("");
      const found = parseLink(link);
      if (found === null) continue;
      expect(Math.abs(found.place.lat)).toBeLessThanOrEqual(90);
      expect(Math.abs(found.place.lng)).toBeLessThanOrEqual(180);
      expect(found.name.length).toBeLessThanOrEqual(160);
      expect(found.name).not.toMatch(/[\u0000\u202E\n]/);
    }
  });

  it("cuts names between characters", () => {
    expect(cleanName("😀".repeat(100))).toBe("😀".repeat(80));
    expect(cleanName("a\n\u202Eb\t c")).toBe("a b c");
  });
});
