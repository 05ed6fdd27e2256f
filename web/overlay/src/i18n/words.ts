// Says things in the driver's language (pure, but for loading a language).

import type { Language } from "../settings.ts";
import { en } from "./en.ts";

export type Key = keyof typeof en;

/** Texts is a whole language. One without a key that English has does not compile. */
export type Texts = Readonly<Record<Key, string>>;

/** Slots are the names that stand in braces. */
type Slots<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Slots<Rest> : never;

/** Values fill the placeholders of a text. */
export type Values<K extends Key> = Readonly<Record<Slots<(typeof en)[K]>, string>>;

/** Say gives a text, its placeholders filled; a text without any takes no values. */
export type Say = <K extends Key>(key: K, ...values: [Slots<(typeof en)[K]>] extends [never] ? [] : [Values<K>]) => string;

/** Counted is what is said of one and of several in different words. */
export type Counted = Key extends infer K ? (K extends `${infer What}.one` ? What : never) : never;

/** Words speak one language. */
export interface Words {
  language: Language;
  say: Say;
  /** count says how many there are; written is the number as the language writes it. */
  count(what: Counted, n: number, written: string): string;
  /** kind is a kind's name; label is the service's own, for a kind that this page does not know yet. */
  kind(id: string, label: string): string;
}

/** The languages' names in themselves: whoever is lost in a foreign one finds the way back. */
export const languageNames: Readonly<Record<Language, string>> = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  nl: "Nederlands",
  es: "Español",
  it: "Italiano",
};

export function makeWords(language: Language, texts: Texts): Words {
  const plural = new Intl.PluralRules(language);
  return {
    language,
    say: (key, ...values) => fill(texts[key], values[0] ?? {}),
    count: (what, n, written) => fill(texts[`${what}.${plural.select(n) === "one" ? "one" : "other"}`], { count: written }),
    kind: (id, label) => {
      const key = `kind.${id}`;
      return isKey(key) ? texts[key] : label;
    },
  };
}

const isKey = (key: string): key is Key => Object.prototype.hasOwnProperty.call(en, key);

/** fill puts values into a text. What has no value stays as it is, which a driver can at least read. */
export function fill(text: string, values: Readonly<Record<string, string | undefined>>): string {
  return text.replace(/\{(\w+)\}/g, (slot, name: string) => (Object.prototype.hasOwnProperty.call(values, name) ? (values[name] ?? slot) : slot));
}

/** loadTexts fetches a language; English is always there. */
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
  }
}
