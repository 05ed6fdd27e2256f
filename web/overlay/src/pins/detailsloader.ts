// Loads details.ts when a card or a banner first needs it: the first pins do not.

import type * as details from "./details.ts";
import { Observable } from "../browser/observable.ts";

/** Details is the module that writes details. */
export type Details = typeof details;

/** DetailsLoader loads the module once; after a failure it tries again with the next load. */
export class DetailsLoader {
  /** null until it is loaded. */
  readonly loaded = new Observable<Details | null>(null);
  #loading = false;

  load(): void {
    if (this.#loading || this.loaded.get() !== null) return;
    this.#loading = true;
    void import("./details.ts").then(
      (module) => {
        this.loaded.set(module);
      },
      () => {
        this.#loading = false;
      },
    );
  }
}
