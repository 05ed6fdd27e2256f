// Reads where the nearest data is, for a driver without data around. It is loaded when that first happens.

import { formatCoordinate, getJSON, HTTPError } from "../net/api.ts";
import { distance, type Place } from "../geo/geo.ts";
import type { Clocks } from "./nearbyreader.ts";
import { backoff } from "../net/reconnect.ts";
import type { RequestBudget } from "../net/requestbudget.ts";
import { isWithoutData, type State } from "../state/state.ts";
import { selectionOf } from "./viewquery.ts";
import type { NearestAnswer } from "../net/wire.ts";

/** Metres after which another entity may be the nearest. */
const rereadDistance = 5000;
const rereadInterval = 5 * 60_000; // ms: data may come and go
const tickInterval = 2000; // ms
const answerTimeout = 10_000; // ms
const reservedRequests = 6; // requests that are left for what is more important

/** NearestReader sets state.nearest. */
export class NearestReader {
  readonly #state: State;
  readonly #budget: RequestBudget;
  readonly #clocks: Clocks;
  #read: { place: Place; at: number; selection: string } | null = null;
  #reading: AbortController | null = null;
  #failures = 0;
  #retryAt = -Infinity;

  constructor(state: State, budget: RequestBudget, clocks: Clocks) {
    this.#state = state;
    this.#budget = budget;
    this.#clocks = clocks;
  }

  /** start runs until the page is closed. */
  start(): void {
    const update = (): void => {
      this.update();
    };
    this.#state.known.watch(update);
    setInterval(update, tickInterval);
  }

  /** update reads if that is due. */
  update(): void {
    const place = this.#state.fix.get();
    if (place === null || !isWithoutData(this.#state)) {
      this.#reading?.abort();
      this.#reading = null;
      this.#read = null;
      this.#state.nearest.set(null);
      return;
    }
    const { settings, sources, health } = this.#state;
    const selection = selectionOf(settings.get(), sources.get(), health.get());
    const now = this.#clocks.mono();
    if (selection === null || this.#reading !== null || now < this.#retryAt || document.visibilityState === "hidden" || !navigator.onLine) return;
    const before = this.#read;
    const isKnown = before !== null && before.selection === JSON.stringify(selection) && now - before.at < rereadInterval && distance(before.place, place) < rereadDistance;
    if (!isKnown && this.#budget.tryTake(reservedRequests)) void this.#ask(place, selection);
  }

  async #ask(place: Place, selection: Record<string, string>): Promise<void> {
    const abort = new AbortController();
    this.#reading = abort;
    const timeout = setTimeout(() => {
      abort.abort();
    }, answerTimeout);
    const onResponse = (response: Response): void => {
      this.#budget.observe(response, false);
    };
    const query = new URLSearchParams({ lat: formatCoordinate(place.lat), lng: formatCoordinate(place.lng), ...selection });
    try {
      const { nearest } = await getJSON<NearestAnswer>(`/v2/overlay/nearest?${query.toString()}`, { signal: abort.signal, onResponse });
      if (this.#reading !== abort) return;
      this.#failures = 0;
      this.#read = { place, at: this.#clocks.mono(), selection: JSON.stringify(selection) };
      this.#state.nearest.set(nearest);
    } catch (error) {
      if (this.#reading !== abort) return;
      this.#failures++;
      const retryAfter = error instanceof HTTPError ? (error.retryAfter ?? 0) * 1000 : 0;
      this.#retryAt = this.#clocks.mono() + Math.max(backoff(this.#failures, Math.random()), retryAfter);
    } finally {
      clearTimeout(timeout);
      if (this.#reading === abort) this.#reading = null;
    }
  }
}
