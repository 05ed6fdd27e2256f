// How the page speaks: the driver's language and units, in one cell that changes when either does.

import { Cell } from "./cell.ts";
import { makeFormat, type Format } from "./format.ts";
import { en } from "./i18n/en.ts";
import { loadTexts, makeWords, type Texts, type Words } from "./i18n/words.ts";
import type { Language, Settings } from "./settings.ts";

export interface Speech extends Words {
  format: Format;
}

/** speakAs follows the settings. It begins in English, which is always there; a language that does not load changes nothing. */
export function speakAs(settings: Cell<Settings>): Cell<Speech> {
  const texts = new Map<Language, Texts>([["en", en]]);
  const make = (language: Language): Speech => ({ ...makeWords(language, texts.get(language) ?? en), format: makeFormat(language, settings.get().units) });
  const speech = new Cell<Speech>(make("en"));
  let spoken: Language = "en";
  let key = "";
  const take = (language: Language): void => {
    const { units } = settings.get();
    if (key === `${language} ${units}`) return;
    key = `${language} ${units}`;
    spoken = language;
    document.documentElement.lang = language;
    speech.set(make(language));
  };
  settings.watch(({ language }) => {
    take(texts.has(language) ? language : spoken);
    if (texts.has(language)) return;
    loadTexts(language).then(
      (loaded) => {
        texts.set(language, loaded);
        if (settings.get().language === language) take(language);
      },
      () => undefined, // there is no connection; the texts that are there go on
    );
  });
  return speech;
}
