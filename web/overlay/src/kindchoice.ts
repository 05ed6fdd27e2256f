// Turning kinds on and off: a kind that is off hides its subtypes too (pure).

import { isKindHidden } from "./settings.ts";

/** setKindVisible returns the kinds that are off after one was turned. all are the kinds that there are. */
export function setKindVisible(off: readonly string[], kind: string, on: boolean, all: readonly string[]): string[] {
  if (!on) return isKindHidden(kind, off) ? [...off] : [...off.filter((one) => !one.startsWith(`${kind}.`)), kind];
  // What hides it is opened up: the others that it hides are named one by one.
  const hiding = off.filter((one) => isKindHidden(kind, [one]));
  const opened = hiding.flatMap((one) => all.filter((other) => other !== one && isKindHidden(other, [one]) && !isKindHidden(other, [kind]) && !isKindHidden(kind, [other])));
  const kept = off.filter((one) => !hiding.includes(one) && !isKindHidden(one, [kind]));
  return [...new Set([...kept, ...opened])];
}

/** setKindsVisible turns several at once. */
export function setKindsVisible(off: readonly string[], kinds: readonly string[], on: boolean, all: readonly string[]): string[] {
  return kinds.reduce((before, kind) => setKindVisible(before, kind, on, all), [...off]);
}
