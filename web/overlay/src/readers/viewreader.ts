// Reads the map's view while the driver looks around: after each move, once the map rests, and again at a slow interval. It is
// loaded when the driver first looks around.

import { getJSON, HTTPError } from "../net/api.ts";
import type { Clocks } from "./nearbyreader.ts";
import { backoff } from "../net/reconnect.ts";
import type { RequestBudget } from "../net/requestbudget.ts";
import { adjustClock } from "../net/serverclock.ts";
import type { State, Viewport } from "../state/state.ts";
import { covers, readBox, selectionOf, viewQuery } from "./viewquery.ts";
import type { ViewAnswer } from "../net/wire.ts";

const debounce = 250; // ms from a move to the read
/** Milliseconds for which a driver who is being located does not need other places. */
const locatingDelay = 1500;
const refreshInterval = 30_000; // ms between two reads of the same view
const answerTimeout = 10_000; // ms
const budgetRetryAfter = 500; // ms until the request budget is asked again
const reservedRequests = 6; // requests that are left for the stream, for reads around the car and for alerts

/** LastRead is the last view that was read. */
interface LastRead {
  query: string;
  box: Viewport;
  at: number;
  /** The answer has all entities of the box, one by one. */
  isComplete: boolean;
  /** The parameters besides the box. */
  selection: string;
}

/** ViewReader sets state.view and viewFailed, and state.clock while nothing is read around the car. */
export class ViewReader {
  readonly #state: State;
  readonly #budget: RequestBudget;
  readonly #clocks: Clocks;
  #last: LastRead | null = null;
  #reading: { query: string; abort: AbortController } | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the view or the selection of kinds and sources last changed. */
  #changedAt = -Infinity;
  #wanted = "";
  #failures = 0;
  #retryAt = -Infinity;
  /** The service does not know a source of the catalogue any more: it is not asked for sources. */
  #ignoresSources = false;

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
    this.#state.viewport.watch(update);
    this.#state.settings.watch(update);
    this.#state.sources.watch(update);
    for (const event of ["online", "offline"]) window.addEventListener(event, update);
    document.addEventListener("visibilitychange", update);
  }

  /** refresh reads the view again, after the driver has changed something. */
  refresh(): void {
    if (this.#last !== null) this.#last = { ...this.#last, at: -Infinity };
    this.update();
  }

  /** update drops the view, or reads it when that is due. */
  update(): void {
    const viewport = this.#state.viewport.get();
    const wanted = this.#query(viewport);
    if (viewport === null || wanted === null) {
      this.#stop();
      return;
    }
    const now = this.#clocks.mono();
    if (wanted.query !== this.#wanted) {
      this.#wanted = wanted.query;
      this.#changedAt = now;
    }
    clearTimeout(this.#timer);
    if (this.#reading?.query === wanted.query) return; // its end calls update
    if (document.visibilityState === "hidden") return; // a change of that calls update
    if (!navigator.onLine) {
      this.#state.viewFailed.set(!this.#hasRead(viewport, wanted));
      return;
    }
    const due = Math.max(this.#dueAt(viewport, wanted, now), this.#retryAt);
    if (due > now) this.#updateAfter(due - now);
    else if (this.#budget.tryTake(reservedRequests)) void this.#read(wanted);
    else this.#updateAfter(budgetRetryAfter);
  }

  #updateAfter(wait: number): void {
    this.#timer = setTimeout(() => {
      this.update();
    }, wait);
  }

  #query(viewport: Viewport | null): Omit<LastRead, "at" | "isComplete"> | null {
    const { settings, sources, health } = this.#state;
    const selection = selectionOf(settings.get(), sources.get(), health.get());
    if (viewport === null || selection === null) return null;
    if (this.#ignoresSources) delete selection["sources"];
    const box = readBox(viewport);
    return { box, selection: JSON.stringify(selection), query: viewQuery(box, selection) };
  }

  #hasRead(viewport: Viewport, { query, selection }: Pick<LastRead, "query" | "selection">): boolean {
    const last = this.#last;
    return last !== null && (last.query === query || (last.isComplete && last.selection === selection && covers(last.box, viewport)));
  }

  #dueAt(viewport: Viewport, wanted: Pick<LastRead, "query" | "selection">, now: number): number {
    if (this.#last !== null && this.#hasRead(viewport, wanted)) return this.#last.at + refreshInterval;
    if (this.#state.fix.get() !== null || this.#last !== null) return this.#changedAt + debounce;
    return this.#state.positionStatus.get() === "asking" ? this.#changedAt + locatingDelay : now; // the first pins
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#reading?.abort.abort();
    this.#reading = null;
    this.#last = null;
    this.#wanted = "";
    this.#failures = 0;
    this.#retryAt = -Infinity;
    this.#state.viewFailed.set(false);
    this.#state.view.set(null);
  }

  async #read(wanted: Omit<LastRead, "at" | "isComplete">): Promise<void> {
    this.#reading?.abort.abort(); // only the latest view counts
    const abort = new AbortController();
    const own = { query: wanted.query, abort };
    this.#reading = own;
    const timeout = setTimeout(() => {
      abort.abort();
    }, answerTimeout);
    const asked = this.#clocks.mono();
    try {
      const onResponse = (response: Response): void => {
        this.#budget.observe(response, false);
      };
      const answer = await getJSON<ViewAnswer>(`/v2/overlay/view?${wanted.query}`, { signal: abort.signal, onResponse, ...(this.#last?.at === -Infinity && { cache: "no-cache" }) });
      if (this.#reading === own) this.#apply(answer, wanted, asked);
    } catch (error) {
      if (this.#reading === own) this.#fail(error);
    } finally {
      clearTimeout(timeout);
      if (this.#reading === own) {
        this.#reading = null;
        this.update();
      }
    }
  }

  #apply(answer: ViewAnswer, wanted: Omit<LastRead, "at" | "isComplete">, asked: number): void {
    const now = this.#clocks.mono();
    this.#last = { ...wanted, at: now, isComplete: answer.clusters === null && answer.truncated !== true };
    this.#failures = 0;
    this.#retryAt = -Infinity;
    if (this.#state.connection.get() === null) this.#state.clock.set(adjustClock(this.#state.clock.get(), answer.fetched_at_utc, asked, now));
    this.#state.viewFailed.set(false);
    this.#state.view.set({ entities: answer.entities, clusters: answer.clusters, sources: answer.sources.map(({ id }) => id), hidden: answer.hidden_kinds ?? [] });
  }

  #fail(error: unknown): void {
    const status = error instanceof HTTPError ? error.status : 0;
    if (status === 400 && !this.#ignoresSources && this.#wanted.includes("sources=")) {
      this.#ignoresSources = true;
      return;
    }
    const retryAfter = error instanceof HTTPError ? (error.retryAfter ?? 0) * 1000 : 0;
    this.#failures++;
    this.#retryAt = this.#clocks.mono() + Math.max(backoff(this.#failures, Math.random()), retryAfter);
    if (status !== 429) this.#state.viewFailed.set(true);
  }
}
