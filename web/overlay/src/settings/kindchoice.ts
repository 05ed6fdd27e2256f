// Showing and hiding kinds: hiding a kind hides its subtypes too (pure).

import { isKindHidden } from "./settings.ts";

/** setKindVisible returns the hidden kinds after one was shown or hidden. all lists every kind. */
export function setKindVisible(off: readonly string[], kind: string, on: boolean, all: readonly string[]): string[] {
  if (!on) return isKindHidden(kind, off) ? [...off] : [...off.filter((one) => !one.startsWith(`${kind}.`)), kind];
  // A hidden parent is replaced by its other subtypes.
  const hiding = off.filter((one) => isKindHidden(kind, [one]));
  const opened = hiding.flatMap((one) => all.filter((other) => other !== one && isKindHidden(other, [one]) && !isKindHidden(other, [kind]) && !isKindHidden(kind, [other])));
  const kept = off.filter((one) => !hiding.includes(one) && !isKindHidden(one, [kind]));
  return [...new Set([...kept, ...opened])];
}

/** setKindsVisible shows or hides several kinds. */
export function setKindsVisible(off: readonly string[], kinds: readonly string[], on: boolean, all: readonly string[]): string[] {
  return kinds.reduce((before, kind) => setKindVisible(before, kind, on, all), [...off]);
}
