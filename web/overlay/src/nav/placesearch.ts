// Searches while the driver types: at most one request every 250 ms, of which the last one counts.

import { HTTPError } from "../net/api.ts";
import type { Place } from "../geo/geo.ts";
import type { NavigationAPI } from "./api.ts";
import { arrange, categoryTags, typingDelay, type Category } from "./results.ts";
import type { Found } from "./types.ts";

/** SearchState is the content below the search field. */
export interface SearchState {
  /** "missing": the service itself answers that it has no place search. */
  how: "idle" | "searching" | "found" | "failed" | "missing";
  found: readonly Found[];
  attribution: string;
}

/** idle is the state without a search. */
export const idle: SearchState = { how: "idle", found: [], attribution: "" };

const maxText = 200; // characters, as in the service
const retryDelay = 1500; // ms
const categoryRadius = 20; // kilometres
const maxOfCategory = 12;

/** PlaceSearch finds places while the driver types. */
export class PlaceSearch {
  readonly #api: NavigationAPI;
  readonly #from: () => Place | null;
  readonly #language: () => string;
  readonly #chargers: (from: Place, signal: AbortSignal) => Promise<readonly Found[]>;
  readonly #onState: (state: SearchState) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking: AbortController | null = null;
  #sentAt = -Infinity;
  #state = idle;

  constructor(api: NavigationAPI, from: () => Place | null, language: () => string, chargers: (from: Place, signal: AbortSignal) => Promise<readonly Found[]>, onState: (state: SearchState) => void) {
    this.#api = api;
    this.#from = from;
    this.#language = language;
    this.#chargers = chargers;
    this.#onState = onState;
  }

  /** type takes each change of the field. Earlier results stay until the answer is there. */
  type(written: string): void {
    const text = Array.from(written.trim()).slice(0, maxText).join("");
    this.stop();
    if (text === "") {
      this.#set(idle);
      return;
    }
    this.#set({ ...this.#state, how: "searching" });
    this.#schedule(typingDelay(this.#sentAt, performance.now()), (signal) => this.#api.search(text, this.#from(), this.#language(), signal));
  }

  /** findCategory finds places of a category around the car. */
  findCategory(category: Category): void {
    this.stop();
    const from = this.#from();
    if (from === null) {
      this.#set({ ...idle, how: "found" });
      return;
    }
    this.#set({ ...idle, how: "searching" });
    this.#schedule(0, async (signal) => {
      if (category === "charger") return { found: await this.#chargers(from, signal), attribution: "" }; // of all sources, as pins are
      const { found, attribution } = await this.#api.near(from, categoryTags[category], { kilometres: categoryRadius, limit: maxOfCategory }, this.#language(), signal);
      return { found: found.filter(({ key, value }) => categoryTags[category].includes(`${key}:${value}`)), attribution };
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    this.#asking = null;
  }

  #schedule(wait: number, ask: (signal: AbortSignal) => Promise<{ found: readonly Found[]; attribution: string }>): void {
    this.#timer = setTimeout(() => {
      void this.#ask(ask);
    }, wait);
  }

  async #ask(ask: (signal: AbortSignal) => Promise<{ found: readonly Found[]; attribution: string }>): Promise<void> {
    const asking = (this.#asking = new AbortController());
    this.#sentAt = performance.now();
    try {
      const { found, attribution } = await ask(asking.signal);
      if (!asking.signal.aborted) this.#set({ how: "found", found: arrange(found), attribution });
    } catch (error) {
      if (asking.signal.aborted) return;
      const wait = missingFor(error);
      this.#set({ ...idle, how: wait === null ? "failed" : "missing" });
      this.#schedule(wait ?? retryDelay, ask);
    }
  }

  #set(state: SearchState): void {
    this.#state = state;
    this.#onState(state);
  }
}

/** missingFor returns after how many milliseconds to ask a service again that answered that it has no place search; null: another answer. */
export const missingFor = (error: unknown): number | null => (error instanceof HTTPError && error.status === 503 && error.retryAfter !== null ? error.retryAfter * 1000 : null);
