import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { momentOf } from "./card.ts";
import { wordsOf } from "./words.ts";

describe("momentOf", () => {
  it("writes a time in the page's language", () => {
    expect(momentOf("2026-11-21T08:05:00Z", "en")).toMatch(/^November 21, 2026 at 8:05.AM UTC$/);
    expect(momentOf("2026-11-21T08:05:00+01:00", "de")).toBe("21. November 2026 um 07:05 UTC");
    expect(momentOf("soon", "en")).toBe("soon");
  });
});

describe("words", () => {
  it("returns the page's texts with values filled in", () => {
    const words = wordsOf('{"map.nth":"{0} of {1}"}');
    expect(words("map.nth", 2, 7)).toBe("2 of 7");
    expect(words("kind.new")).toBe("kind.new");
    expect(words("constructor")).toBe("constructor");
    expect(wordsOf(undefined)("map.next")).toBe("map.next");
  });

  it("asks for nothing that the page does not bring", () => {
    const brought = readFileSync(new URL("../../../internal/http/console/map.go", import.meta.url), "utf8");
    for (const file of ["map.ts", "feedmap.ts", "card.ts", "features.ts"]) {
      const source = readFileSync(new URL(`./${file}`, import.meta.url), "utf8");
      for (const [, key = ""] of source.matchAll(/"(map\.[a-z]+)"/g)) expect(key === "map.css" || brought.includes(`"${key}"`), `${file}: ${key}`).toBe(true);
    }
  });
});
