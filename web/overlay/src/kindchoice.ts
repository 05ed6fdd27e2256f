// Turning kinds on and off: a kind that is off hides its subtypes too (pure).

import { isOff } from "./settings.ts";

/** turnKind returns the kinds that are off after one was turned. all are the kinds that there are. */
export function turnKind(off: readonly string[], kind: string, on: boolean, all: readonly string[]): string[] {
  if (!on) return isOff(kind, off) ? [...off] : [...off.filter((one) => !one.startsWith(`${kind}.`)), kind];
  // What hides it is opened up: the others that it hides are named one by one.
  const hiding = off.filter((one) => isOff(kind, [one]));
  const opened = hiding.flatMap((one) => all.filter((other) => other !== one && isOff(other, [one]) && !isOff(other, [kind]) && !isOff(kind, [other])));
  const kept = off.filter((one) => !hiding.includes(one) && !isOff(one, [kind]));
  return [...new Set([...kept, ...opened])];
}

/** turnAll turns several at once. */
export function turnAll(off: readonly string[], kinds: readonly string[], on: boolean, all: readonly string[]): string[] {
  return kinds.reduce((before, kind) => turnKind(before, kind, on, all), [...off]);
}
