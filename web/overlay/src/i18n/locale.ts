// The driver's language and units in one observable.

import { Observable } from "../browser/observable.ts";
import { makeFormat, type Format } from "./format.ts";
import type { Words } from "./words.ts";
import type { Settings } from "../settings/settings.ts";

/** Locale is the driver's texts and formats. */
export interface Locale extends Words {
  format: Format;
}

/** makeLocale combines the texts and the units. */
export function makeLocale({ words, settings }: { words: Observable<Words>; settings: Observable<Settings> }): Observable<Locale> {
  const make = (): Locale => ({ ...words.get(), format: makeFormat(words.get().language, settings.get().units) });
  const locale = new Observable<Locale>(make());
  let { units } = settings.get();
  let texts = words.get();
  words.watch((now) => {
    if (now === texts) return; // makeFormat loads the browser's data of the language, which takes a slow processor long
    texts = now;
    locale.set(make());
  });
  settings.watch((now) => {
    if (now.units === units) return;
    units = now.units;
    locale.set(make());
  });
  return locale;
}
