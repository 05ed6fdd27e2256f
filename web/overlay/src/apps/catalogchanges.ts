// Decides which changes of the catalogue of apps concern this driver (pure).

import type { AppsChange } from "../net/wire.ts";

/** CatalogChanges decides after which changes the page reads the installed apps again. */
export class CatalogChanges {
  /** The last change; null: none yet. */
  #latest: AppsChange | null;

  /** The first read of the installed apps contains the change latest; null: the stream has not begun. */
  constructor(latest: AppsChange | null) {
    this.#latest = latest;
  }

  /**
   * mustRead reports whether to read again after a change. installed is null until the first read is answered: its answer may be older
   * than the change. A stream begins with the revision alone: by it the page notices what changed since the stream before, and it cannot
   * know what changed between its own first read and the first stream.
   */
  mustRead(change: AppsChange, installed: readonly string[] | null): boolean {
    const before = this.#latest;
    this.#latest = change;
    if (change === before) return false;
    if (before === null || installed === null) return true;
    return change.changed.length > 0 ? installed.some((id) => change.changed.includes(id)) : change.revision !== before.revision;
  }
}
