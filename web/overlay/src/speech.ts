// How the page speaks: the driver's language and units, in one cell that changes when either does.

import { Cell } from "./cell.ts";
import { makeFormat, type Format } from "./format.ts";
import type { Words } from "./i18n/words.ts";
import type { State } from "./state.ts";

export interface Speech extends Words {
  format: Format;
}

/** speakAs follows the words and the units. */
export function speakAs({ words, settings }: State): Cell<Speech> {
  const make = (): Speech => ({ ...words.get(), format: makeFormat(words.get().language, settings.get().units) });
  const speech = new Cell<Speech>(make());
  let { units } = settings.get();
  words.watch(() => {
    speech.set(make());
  });
  settings.watch((now) => {
    if (now.units === units) return;
    units = now.units;
    speech.set(make());
  });
  return speech;
}
