import { describe, expect, it } from "vitest";
import { seeded } from "../../../test/seeded.ts";
import { accountChoices, withChoice, defaultSettings, effectiveSettings, isKindHidden, limits, mergeChoices, noStoredChoices, parseChoices, parseStoredChoices, markSent, withoutChoices, serializeChoices } from "./settings.ts";
import type { Choices, StoredChoices } from "./settings.ts";

const feed = "feed:0192f0c1-2345-7abc-8def-0123456789ab";
const all: Required<Choices> = {
  units: "imperial",
  theme: "night",
  language: "fr",
  density: 2.5,
  tones: false,
  lead: 0.5,
  sources_off: ["incidents", feed],
  kinds_off: ["alert.police", "alert.hazard.car_stopped"],
  kinds_muted: ["alert.construction"],
  networks: [],
};

describe("defaults", () => {
  it.each<[string[], string, string]>([
    [["de-DE", "en"], "de", "metric"],
    [["en-US"], "en", "imperial"],
    [["en-gb"], "en", "imperial"],
    [["en"], "en", "metric"],
    [["pt-BR", "es-419"], "es", "metric"],
    [["zh-Hant-TW"], "en", "metric"],
    [[], "en", "metric"],
    [["nl"], "nl", "metric"],
  ])("of %j", (browserLanguages, language, units) => {
    expect(defaultSettings(browserLanguages)).toMatchObject({ language, units, theme: "auto", tones: true, lead: 1, density: 5, networks: null });
  });

  it("give way to choices, one by one", () => {
    expect(effectiveSettings({ language: "it" }, ["en-US"])).toEqual({ ...defaultSettings(["en-US"]), language: "it" });
  });
});

describe("what was stored", () => {
  it("is read as it was written", () => {
    expect(parseChoices(all)).toEqual(all);
    const stored: StoredChoices = { choices: all, updated: 5, unsent: true };
    expect(parseStoredChoices(serializeChoices(stored))).toEqual(stored);
  });

  it.each<[string, unknown]>([
    ["units", "furlongs"],
    ["theme", 1],
    ["language", "pt"],
    ["density", -0.1],
    ["density", 10.1],
    ["density", "5"],
    ["density", NaN],
    ["tones", "yes"],
    ["lead", 0.49],
    ["lead", 2.01],
    ["sources_off", "incidents"],
    ["kinds_off", { 0: "alert.police" }],
    ["networks", null],
    ["colour", "red"],
  ])("%s %j counts as not chosen", (member, value) => {
    expect(parseChoices({ [member]: value })).toEqual({});
  });

  it("keeps valid distinct list items within the service's limits", () => {
    expect(parseChoices({ sources_off: ["incidents", 5, "x", "incidents", feed, "feed:1"] })).toEqual({ sources_off: ["incidents", feed] });
    expect(parseChoices({ kinds_off: ["alert.police", "Police", "", "alert."] })).toEqual({ kinds_off: ["alert.police"] });
    expect(parseChoices({ networks: ["tesla", "a,b", "", "x\n", "é".repeat(32), "é".repeat(33)] })).toEqual({ networks: ["tesla", "é".repeat(32)] });
    const many = Array.from({ length: 60 }, (_, i) => `n${String(i)}`);
    expect(parseChoices({ networks: many }).networks?.length).toBe(limits.networks);
  });

  it.each([null, "", "{", "5", "null", "[]", '{"choices":5,"updated":"x"}', '{"updated":-1}', "true"])("%j is nothing", (text) => {
    expect(parseStoredChoices(text)).toEqual(noStoredChoices);
  });

  it("never makes reading fail, whatever bytes were stored", () => {
    const random = seeded(16);
    const isValid = serializeChoices({ choices: all, updated: 1e12, unsent: false });
    for (let i = 0; i < 2000; i++) {
      const at = Math.floor(random() * isValid.length);
      const text = isValid.slice(0, at) + String.fromCharCode(32 + Math.floor(random() * 95)) + isValid.slice(at + 1);
      const { choices } = parseStoredChoices(text);
      expect(parseChoices(choices)).toEqual(choices);
    }
  });
});

describe("choosing", () => {
  it("is newer than before, also when the clock was set back", () => {
    const first = withChoice(noStoredChoices, { units: "imperial" }, 1000, false);
    expect(first).toEqual({ choices: { units: "imperial" }, updated: 1000, unsent: false });
    const second = withChoice(first, { theme: "day" }, 10, true);
    expect(second).toEqual({ choices: { units: "imperial", theme: "day" }, updated: 1001, unsent: true });
  });

  it("can be taken back", () => {
    const stored = withoutChoices({ choices: all, updated: 5, unsent: false }, ["networks", "language"], 9, true);
    expect(stored.choices).not.toHaveProperty("networks");
    expect(stored.choices).toHaveProperty("units", "imperial");
    expect(stored).toMatchObject({ updated: 9, unsent: true });
  });

  it("takes nothing that the service would refuse", () => {
    expect(withChoice(noStoredChoices, { density: 11 }, 1, true).choices).toEqual({});
  });

  it("is done when the account has taken it, and not when something was chosen meanwhile", () => {
    const first = withChoice(noStoredChoices, { units: "imperial" }, 1000, true);
    expect(markSent(first, 1000).unsent).toBe(false);
    expect(markSent(withChoice(first, { units: "metric" }, 1500, true), 1000).unsent).toBe(true);
  });
});

describe("the newest copy wins", () => {
  const day: Choices = { theme: "day" };
  const night: Choices = { theme: "night" };
  it.each<[string, StoredChoices, Choices, number | null, Choices, boolean]>([
    ["the browser's", { choices: day, updated: 20, unsent: false }, night, 10, day, true],
    ["the account's", { choices: day, updated: 10, unsent: true }, night, 20, night, false],
    ["the account's, if both are as new", { choices: day, updated: 10, unsent: false }, night, 10, night, false],
    ["the account's, if it does not say when", { choices: day, updated: 10, unsent: false }, night, null, night, false],
    ["the browser's, if the account never got it", { choices: day, updated: 10, unsent: true }, night, null, day, true],
    ["the browser's, if the account has none", { choices: day, updated: 10, unsent: false }, {}, null, day, true],
    ["none, if neither has any", noStoredChoices, {}, null, {}, false],
    ["an emptied account, if it is newer", { choices: day, updated: 10, unsent: false }, {}, 20, {}, false],
  ])("%s", (_, stored, choices, updated, want, unsent) => {
    expect(mergeChoices(stored, { choices, updated })).toMatchObject({ choices: want, unsent });
  });
});

it("keeps the muted kinds in this browser, whatever the account has", () => {
  const stored: StoredChoices = { choices: { theme: "day", kinds_muted: ["alert.police"] }, updated: 10, unsent: false };
  expect(accountChoices(stored.choices)).toEqual({ theme: "day" });
  for (const updated of [20, null]) {
    expect(mergeChoices(stored, { choices: { theme: "night" }, updated }).choices).toEqual({ theme: "night", kinds_muted: ["alert.police"] });
  }
  expect(mergeChoices({ ...stored, choices: { kinds_muted: [] } }, { choices: {}, updated: null }).unsent).toBe(false);
});

it("hides a kind with its subtypes, and no namesake", () => {
  expect(isKindHidden("alert.hazard.ice", ["alert.hazard"])).toBe(true);
  expect(isKindHidden("alert.hazard", ["alert.hazard"])).toBe(true);
  expect(isKindHidden("alert.hazard", ["alert.hazard.ice"])).toBe(false);
  expect(isKindHidden("alert.hazardous", ["alert.hazard"])).toBe(false);
});

describe("limits", () => {
  it("are the service's", () => {
    expect(limits).toEqual({ density: [0, 10], lead: [0.5, 2], sourcesOff: 200, kindsOff: 18, networks: 50, networkBytes: 64 });
  });

  it.each([{ density: 0 }, { density: 10 }, { lead: 0.5 }, { lead: 2 }])("%j is within them", (choices) => {
    expect(parseChoices(choices)).toEqual(choices);
  });

  it("cut lists", () => {
    const sources = Array.from({ length: 201 }, (_, i) => `feed:0192f0c1-2345-7abc-8def-${String(i).padStart(12, "0")}`);
    expect(parseChoices({ sources_off: sources })).toEqual({ sources_off: sources.slice(0, 200) });
    const kinds = Array.from({ length: 19 }, (_, i) => `alert.${"x".repeat(i + 1)}`);
    expect(parseChoices({ kinds_off: kinds })).toEqual({ kinds_off: kinds.slice(0, 18) });
  });

  it("a kind's name has up to 64 characters", () => {
    const kinds = [64, 65].map((length) => `alert.${"x".repeat(length - 6)}`);
    expect(parseChoices({ kinds_off: kinds })).toEqual({ kinds_off: kinds.slice(0, 1) });
  });
});
