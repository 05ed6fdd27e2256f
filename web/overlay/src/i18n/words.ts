// Texts in the driver's language (pure, except for loading a language).

import type { Language } from "../settings/settings.ts";
import { en, type Key, type Texts } from "./en.ts";

/** Slots are the names of placeholders in braces. */
type Slots<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Slots<Rest> : never;

/** Values fill the placeholders of a text. */
export type Values<K extends Key> = Readonly<Record<Slots<(typeof en)[K]>, string>>;

/** Say returns a text with its placeholders filled; a text without placeholders takes no values. */
export type Say = <K extends Key>(key: K, ...values: [Slots<(typeof en)[K]>] extends [never] ? [] : [Values<K>]) => string;

/** Counted are the keys of texts with a singular and a plural form. */
export type Counted = Key extends infer K ? (K extends `${infer What}.one` ? What : never) : never;

/** Words are the texts of one language. */
export interface Words {
  language: Language;
  say: Say;
  /** count returns the singular or plural form; written is the formatted number, more the values of other placeholders. */
  count(what: Counted, n: number, written: string, more?: Readonly<Record<string, string>>): string;
  /** kind returns a kind's name; label is the service's own, for a kind that is newer than this page. */
  kind(id: string, label: string): string;
}

/** Names of the languages in themselves, so that drivers recognise their own in a foreign language. */
export const languageNames: Readonly<Record<Language, string>> = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  nl: "Nederlands",
  es: "Español",
  it: "Italiano",
  ar: "العربية",
};

/** directionOf returns in which direction a language is written. */
export const directionOf = (language: Language): "ltr" | "rtl" => (language === "ar" ? "rtl" : "ltr");

/** makeWords makes the texts of a language. */
export function makeWords(language: Language, texts: Texts): Words {
  const plural = new Intl.PluralRules(language);
  const put = (text: string, values: Readonly<Record<string, string | undefined>>): string => fill(text, directionOf(language) === "rtl" ? isolated(values) : values);
  return {
    language,
    say: (key, ...values) => put(texts[key], values[0] ?? {}),
    count: (what, n, written, more = {}) => put(texts[`${what}.${plural.select(n) === "one" ? "one" : "other"}`], { ...more, count: written }),
    kind: (id, label) => {
      const key = `kind.${id}`;
      return isKey(key) ? texts[key] : label;
    },
  };
}

const isKey = (key: string): key is Key => Object.prototype.hasOwnProperty.call(en, key);

/** isolated keeps figures and foreign names whole within a text from right to left, as <bdi> does for elements (U+2068, U+2069). */
const isolated = (values: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value === undefined ? value : `\u2068${value}\u2069`]));

/** fill replaces placeholders. A placeholder without a value stays, so that the text is readable. */
export function fill(text: string, values: Readonly<Record<string, string | undefined>>): string {
  return text.replace(/\{(\w+)\}/g, (slot, name: string) => (Object.prototype.hasOwnProperty.call(values, name) ? (values[name] ?? slot) : slot));
}

/** loadTexts loads a language; English is part of the page. */
export async function loadTexts(language: Language): Promise<Texts> {
  switch (language) {
    case "en":
      return en;
    case "de":
      return (await import("./de.ts")).de;
    case "fr":
      return (await import("./fr.ts")).fr;
    case "nl":
      return (await import("./nl.ts")).nl;
    case "es":
      return (await import("./es.ts")).es;
    case "it":
      return (await import("./it.ts")).it;
    case "ar":
      return { ...en, ...(await import("./ar.ts")).ar };
  }
}
