// Texts about apps in the driver's language, which are loaded with the apps.

import { directionOf, fill } from "../i18n/words.ts";
import type { Language } from "../settings/settings.ts";
import { en, type AppKey, type AppTexts } from "./words/apps-en.ts";

/** AppSay returns a text with its placeholders filled. */
export type AppSay = (key: AppKey, values?: Readonly<Record<string, string>>) => string;

/** makeAppSay makes the texts of a language. Names keep their own direction within a text from right to left (U+2068, U+2069). */
export function makeAppSay(language: Language, texts: AppTexts): AppSay {
  const isolate = directionOf(language) === "rtl";
  return (key, values = {}) => fill(texts[key], isolate ? Object.fromEntries(Object.entries(values).map(([name, value]) => [name, `\u2068${value}\u2069`])) : values);
}

/** loadAppTexts loads a language; English is part of the apps. */
export async function loadAppTexts(language: Language): Promise<AppTexts> {
  switch (language) {
    case "en":
      return en;
    case "de":
      return (await import("./words/apps-de.ts")).de;
    case "fr":
      return (await import("./words/apps-fr.ts")).fr;
    case "nl":
      return (await import("./words/apps-nl.ts")).nl;
    case "es":
      return (await import("./words/apps-es.ts")).es;
    case "it":
      return (await import("./words/apps-it.ts")).it;
    case "ar":
      return (await import("./words/apps-ar.ts")).ar;
  }
}
