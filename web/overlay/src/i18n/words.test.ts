import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { languages, type Language } from "../settings/settings.ts";
import { ar } from "./ar.ts";
import { en } from "./en.ts";
import type { Key, Texts } from "./en.ts";
import { fill, languageNames, loadTexts, makeWords } from "./words.ts";

const keys = Object.keys(en) as Key[];
const all = new Map<Language, Texts>(await Promise.all(languages.map(async (language) => [language, await loadTexts(language)] as const)));

function textsOf(language: Language): Texts {
  const texts = all.get(language);
  if (texts === undefined) throw new Error(`no ${language}`);
  return texts;
}

// Texts that are legitimately the same as in English. Any other equal text is an untranslated one.
const everywhere: readonly Key[] = ["menu.developers"];
const same: Record<Exclude<Language, "en">, readonly Key[]> = {
  de: ["menu.apps", "banner.spoken", "banner.spokenStreet", "pair.codeSpoken"],
  fr: ["card.confirms.one", "card.confirms.other", "menu.title", "menu.sources", "units.imperial", "kind.alert.police", "kind.alert.accident", "kind.alert.hazard.animal"],
  nl: ["menu.apps", "compass.6", "pair.codeSpoken", "account.title", "menu.title", "lead.later"],
  es: ["kind.alert.hazard.animal"],
  it: ["account.title", "menu.title"],
  ar: [],
};

const slots = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).sort();

describe.each(languages)("%s", (language) => {
  const texts = textsOf(language);

  it("has every text and no other", () => {
    // Arabic falls back to English at run time, so that a text may be added without it; the language is complete all the same.
    expect(Object.keys(language === "ar" ? ar : texts).sort()).toEqual([...keys].sort());
  });

  it("says everything, with the placeholders of English and nothing that looks like code", () => {
    for (const key of keys) {
      const text = texts[key];
      expect(text, key).toMatch(/^\S(.*\S)?$/);
      expect(slots(text), key).toEqual(slots(en[key]));
      expect(text.replace(/\{\w+\}/g, "x"), key).not.toMatch(/[{}<>!]|\.\.\.|'|"| {2}/);
    }
  });

  it("does not leave a text in English", () => {
    if (language === "en") return;
    const found = keys.filter((key) => texts[key] === en[key]);
    expect(found.sort()).toEqual([...new Set([...everywhere, ...same[language]])].sort());
  });

  it("ends sentences with a stop where English does", () => {
    const stop = /[.…:]$/;
    expect(keys.filter((key) => stop.test(en[key]) !== stop.test(texts[key]))).toEqual([]);
  });

  it("says what to do where a way can’t be found", () => {
    const troubles = keys.filter((key) => key.startsWith("nav.trouble."));
    expect(troubles.length).toBeGreaterThan(6);
    for (const key of troubles) expect(texts[key], key).toMatch(/ …$|[.:] \S.*\.$/); // what the page does, or a second sentence
  });

  it("fits big buttons", () => {
    const buttons = keys.filter((key) => /^(do\.|state\.|vote\.(there|gone)$|menu\.(title|all|none)$|map\.(recentre|headingUp|northUp)$|density\.(smaller|larger)$|lead\.(later|earlier)$|theme\.(day|night|auto)$|units\.(metric|imperial)$)/.test(key));
    expect(buttons.length).toBeGreaterThan(20);
    for (const key of buttons) expect(texts[key].length, `${key}: ${texts[key]}`).toBeLessThanOrEqual(18);
    for (const key of keys) expect(texts[key].length, key).toBeLessThanOrEqual(85);
  });

  it("has different words for what must not be mistaken", () => {
    const apart: Key[][] = [
      ["vote.there", "vote.gone"],
      ["state.on", "state.off"],
      ["confidence.sure", "confidence.likely", "confidence.open", "confidence.doubtful"],
      ["theme.day", "theme.night", "theme.auto"],
      ["lead.later", "lead.earlier"],
      ["sources.online", "sources.degraded", "sources.offline"],
      keys.filter((key) => key.startsWith("kind.")),
    ];
    for (const group of apart) expect(new Set(group.map((key) => texts[key].toLowerCase())).size).toBe(group.length);
  });

  it("names itself", () => {
    expect(languageNames[language]).not.toBe("");
  });
});

// Words that the page does not use, in English; the service's glossary has the same rule for its texts.
const avoided = /\b(cannot|turned down|interface|mend|touch|car does not|write it|type it)\b/i;

it("uses the words of the trade", () => {
  expect(keys.filter((key) => avoided.test(en[key]))).toEqual([]);
});

it("names every kind of the service's catalogue, in English as the service does", () => {
  const catalogue = readFileSync(new URL("../../../../internal/ground/mapdata/kinds.go", import.meta.url), "utf8");
  const kinds = [...catalogue.matchAll(/^\t\{"([a-z_.]+)", "([a-z]+)", "([^"]+)"/gm)];
  expect(kinds.length).toBe(keys.filter((key) => key.startsWith("kind.")).length);
  const words = makeWords("en", en);
  for (const [, id = "", group = "", label = ""] of kinds) {
    expect(words.kind(id, "")).toBe(label);
    expect(en).toHaveProperty([`group.${group}`]);
  }
});

describe("words", () => {
  const words = makeWords("en", en);

  it("fill placeholders", () => {
    expect(words.say("banner.spokenStreet", { kind: "Police", distance: "350 m", street: "Kade" })).toBe("Police in 350 m, Kade");
    expect(words.say("vote.there")).toBe("Still there");
  });

  it("demand what a text needs, and nothing else", () => {
    // @ts-expect-error: the distance is missing
    words.say("card.seen");
    // @ts-expect-error: there is no such placeholder
    words.say("card.seen", { age: "1", street: "2" });
    // @ts-expect-error: there is no such text
    expect(() => words.say("banner.nowhere")).toThrow();
    // @ts-expect-error: it has no plural
    expect(() => words.count("vote", 1, "1")).toThrow();
  });

  it("put values in as they are, whatever they hold", () => {
    expect(fill("{a} {b}", { a: "{b}", b: "$& $1" })).toBe("{b} $& $1");
    expect(fill("{a} {constructor}", {})).toBe("{a} {constructor}");
  });

  it("keep figures and names whole in a text from right to left", () => {
    expect(makeWords("ar", textsOf("ar")).say("ahead.emptyAround", { distance: "2 km" })).toBe("لا شيء ضمن \u20682 km\u2069");
    expect(words.say("ahead.emptyAround", { distance: "2 km" })).toBe("Nothing within 2 km");
  });

  it("count as the language does", () => {
    expect(words.count("card.confirms", 1, "1")).toBe("1 confirmation");
    expect(words.count("card.confirms", 0, "0")).toBe("0 confirmations");
    expect(makeWords("fr", textsOf("fr")).count("card.confirms", 0, "0")).toBe("0 confirmation");
    expect(makeWords("es", textsOf("es")).count("card.confirms", 1_000_000, "1.000.000")).toBe("1.000.000 confirmaciones");
    expect(makeWords("de", textsOf("de")).count("card.disputes", 2, "2")).toBe("2 melden: nicht mehr da");
  });

  it("fall back to the service's label for a kind that is new", () => {
    expect(words.kind("alert.volcano", "Volcano")).toBe("Volcano");
    expect(makeWords("de", textsOf("de")).kind("traffic.jam", "Traffic jam")).toBe("Stau");
  });
});

// Prefixes of keys that are composed at run time.
const composed = /^(kind|confidence|theme|units)\.|^sources\.(online|degraded|offline)$|^place\.(refused|missing|slow)$|^card\.(confirms|disputes|reported|reportedNow)\.|^detail\.(lanes|places)\.|^nav\.(trouble|voice|category|set|avoid|send)\.|^nav\.(home|work)$/;

it("has no unused text", () => {
  const folder = new URL("../", import.meta.url);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !/^i18n.[a-z]{2}\.ts$/.test(name));
  const files = names.map((name) => new URL(name, folder));
  const code = files.map((file) => readFileSync(file, "utf8")).join("\n");
  expect(keys.filter((key) => !composed.test(key) && !code.includes(`"${key}"`))).toEqual([]);
});
