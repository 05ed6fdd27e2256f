// What the service's stream says of the catalogue of apps, and whether it concerns this driver (pure).

import type { AppsChange } from "../net/wire.ts";

/**
 * concerns reports whether to read again what is installed. known is the revision of the catalogue that the page heard of last; null: none
 * yet, so that it was read about when the stream began. A stream begins with the revision alone: what changed while there was none shows by it.
 */
export function concerns({ revision, changed }: AppsChange, known: number | null, installed: readonly string[]): boolean {
  if (changed.length > 0) return installed.some((id) => changed.includes(id));
  return known !== null && revision !== known;
}
