import { describe, expect, it } from "vitest";
import { languages } from "../settings/settings.ts";
import { loadAppTexts, makeAppSay } from "./appwords.ts";
import { en, type AppKey } from "./words/apps-en.ts";

const keys = Object.keys(en) as AppKey[];
const slots = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();

describe.each(languages)("%s", (language) => {
  it("says everything about apps, with the placeholders of English", async () => {
    const texts = await loadAppTexts(language);
    expect(Object.keys(texts).sort()).toEqual([...keys].sort());
    for (const key of keys) {
      expect(texts[key], key).toMatch(/^\S(.*\S)?$/);
      expect(slots(texts[key]), key).toEqual(slots(en[key]));
      if (language !== "en") expect(texts[key], key).not.toBe(en[key]);
      expect(/[.?]$/.test(texts[key]) || language === "ar", key).toBe(/[.?]$/.test(en[key]) || language === "ar");
    }
  });
});

it("keeps names whole in texts from right to left", async () => {
  expect(makeAppSay("ar", await loadAppTexts("ar"))("slot.failed", { name: "Trip" })).toContain("\u2068Trip\u2069");
  expect(makeAppSay("en", en)("slot.failed", { name: "Trip" })).toBe("Trip does not load.");
});
