import { describe, expect, it } from "vitest";
import { seeded } from "./seeded.ts";
import { choose, defaults, inForce, isOff, limits, merge, nothingKept, readChoices, readKept, sent, unchoose, writeKept } from "./settings.ts";
import type { Choices, Kept } from "./settings.ts";

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
  ])("of %j", (preferred, language, units) => {
    expect(defaults(preferred)).toMatchObject({ language, units, theme: "auto", tones: true, lead: 1, density: 5, networks: null });
  });

  it("give way to choices, one by one", () => {
    expect(inForce({ language: "it" }, ["en-US"])).toEqual({ ...defaults(["en-US"]), language: "it" });
  });
});

describe("what was stored", () => {
  it("is read as it was written", () => {
    expect(readChoices(all)).toEqual(all);
    const kept: Kept = { choices: all, updated: 5, unsent: true };
    expect(readKept(writeKept(kept))).toEqual(kept);
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
    expect(readChoices({ [member]: value })).toEqual({});
  });

  it("keeps of lists what makes sense, each once, within the service's bounds", () => {
    expect(readChoices({ sources_off: ["incidents", 5, "x", "incidents", feed, "feed:1"] })).toEqual({ sources_off: ["incidents", feed] });
    expect(readChoices({ kinds_off: ["alert.police", "Police", "", "alert."] })).toEqual({ kinds_off: ["alert.police"] });
    expect(readChoices({ networks: ["tesla", "a,b", "", "x\n", "é".repeat(32), "é".repeat(33)] })).toEqual({ networks: ["tesla", "é".repeat(32)] });
    const many = Array.from({ length: 60 }, (_, i) => `n${String(i)}`);
    expect(readChoices({ networks: many }).networks?.length).toBe(limits.networks);
  });

  it.each([null, "", "{", "5", "null", "[]", '{"choices":5,"updated":"x"}', '{"updated":-1}', "true"])("%j is nothing", (text) => {
    expect(readKept(text)).toEqual(nothingKept);
  });

  it("never makes reading fail, whatever bytes were stored", () => {
    const random = seeded(16);
    const good = writeKept({ choices: all, updated: 1e12, unsent: false });
    for (let i = 0; i < 2000; i++) {
      const at = Math.floor(random() * good.length);
      const text = good.slice(0, at) + String.fromCharCode(32 + Math.floor(random() * 95)) + good.slice(at + 1);
      const { choices } = readKept(text);
      expect(readChoices(choices)).toEqual(choices);
    }
  });
});

describe("choosing", () => {
  it("is newer than before, also when the clock was set back", () => {
    const first = choose(nothingKept, { units: "imperial" }, 1000, false);
    expect(first).toEqual({ choices: { units: "imperial" }, updated: 1000, unsent: false });
    const second = choose(first, { theme: "day" }, 10, true);
    expect(second).toEqual({ choices: { units: "imperial", theme: "day" }, updated: 1001, unsent: true });
  });

  it("can be taken back", () => {
    const kept = unchoose({ choices: all, updated: 5, unsent: false }, ["networks", "language"], 9, true);
    expect(kept.choices).not.toHaveProperty("networks");
    expect(kept.choices).toHaveProperty("units", "imperial");
    expect(kept).toMatchObject({ updated: 9, unsent: true });
  });

  it("takes nothing that the service would refuse", () => {
    expect(choose(nothingKept, { density: 11 }, 1, true).choices).toEqual({});
  });

  it("is done when the account has taken it, and not when something was chosen meanwhile", () => {
    const first = choose(nothingKept, { units: "imperial" }, 1000, true);
    expect(sent(first, 1000).unsent).toBe(false);
    expect(sent(choose(first, { units: "metric" }, 1500, true), 1000).unsent).toBe(true);
  });
});

describe("the newest copy wins", () => {
  const day: Choices = { theme: "day" };
  const night: Choices = { theme: "night" };
  it.each<[string, Kept, Choices, number | null, Choices, boolean]>([
    ["the browser's", { choices: day, updated: 20, unsent: false }, night, 10, day, true],
    ["the account's", { choices: day, updated: 10, unsent: true }, night, 20, night, false],
    ["the account's, if both are as new", { choices: day, updated: 10, unsent: false }, night, 10, night, false],
    ["the account's, if it does not say when", { choices: day, updated: 10, unsent: false }, night, null, night, false],
    ["the browser's, if the account never got it", { choices: day, updated: 10, unsent: true }, night, null, day, true],
    ["the browser's, if the account has none", { choices: day, updated: 10, unsent: false }, {}, null, day, true],
    ["none, if neither has any", nothingKept, {}, null, {}, false],
    ["an emptied account, if it is newer", { choices: day, updated: 10, unsent: false }, {}, 20, {}, false],
  ])("%s", (_, kept, choices, updated, want, unsent) => {
    expect(merge(kept, { choices, updated })).toMatchObject({ choices: want, unsent });
  });
});

it("hides a kind with its subtypes, and no namesake", () => {
  expect(isOff("alert.hazard.ice", ["alert.hazard"])).toBe(true);
  expect(isOff("alert.hazard", ["alert.hazard"])).toBe(true);
  expect(isOff("alert.hazard", ["alert.hazard.ice"])).toBe(false);
  expect(isOff("alert.hazardous", ["alert.hazard"])).toBe(false);
});
