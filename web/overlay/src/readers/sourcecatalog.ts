// Keeps the catalogue of sources current. A source's attribution must be shown with its data, and a page may stay open for days
// while feeds are approved: the catalogue is read again soon after a pin comes from a source that it does not list, and at a slow
// interval otherwise.

import { getSources, HTTPError, type RequestOptions } from "../net/api.ts";
import { backoff } from "../net/reconnect.ts";
import type { RequestBudget } from "../net/requestbudget.ts";
import { mergedFrom } from "../pins/attribution.ts";
import type { Observable } from "../browser/observable.ts";
import type { State } from "../state/state.ts";
import type { Entity, Source } from "../net/wire.ts";

/** Milliseconds between two reads while the catalogue lists the source of every pin; each is up to a tenth earlier or later. */
const refreshInterval = 10 * 60_000;
/** Milliseconds from the first pin of an unknown source to the read, so that pins which arrive together cause one read. */
const debounce = 300;
/** Milliseconds between two reads, at least: a steady flow of unknown sources then takes a tenth of a guest's requests. */
const minInterval = 10_000;
const answerTimeout = 10_000; // ms
const budgetRetryAfter = 1000; // ms until the request budget is asked again
const reservedRequests = 4; // requests that are left for the stream and for reads of pins

const layerKey = (slug: string): string => `layer ${slug}`;
const sourceKey = (id: string): string => `source ${id}`;

/** keysOf returns the keys by which pins may name the sources: layers, and for merged pins the sources' ids (pure). */
function keysOf(sources: readonly Source[]): Set<string> {
  return new Set(sources.flatMap(({ id, layer_slugs }) => [sourceKey(id), ...layer_slugs.map(layerKey)]));
}

/** keysInUse returns the keys by which the pins and clusters on the map name their sources. */
function keysInUse({ known, view }: Pick<State, "known" | "view">): Set<string> {
  const seen = view.get();
  const keys = keysOfEntities([...known.get(), ...(seen?.entities ?? [])]);
  for (const id of seen?.clusters ? seen.sources : []) keys.add(sourceKey(id));
  return keys;
}

/** keysOfEntities returns the keys by which pins name their sources (pure). */
export function keysOfEntities(entities: readonly Entity[]): Set<string> {
  return new Set(entities.flatMap((entity) => [layerKey(entity.layer_slug), ...mergedFrom(entity).map(({ source }) => sourceKey(source))]));
}

/** ReadHistory holds the times and failures that the next read depends on. */
export interface ReadHistory {
  /** When the last read ended, by a monotonic clock in milliseconds; -Infinity: there was none. */
  endedAt: number;
  /** Failed reads since the last successful one. */
  failures: number;
  /** Milliseconds that the service asked to wait. */
  retryAfter: number;
  /** Successful reads in a row that did not list the source of a pin. */
  misses: number;
  /** Within [0, 1), drawn for each read: spreads the reads of many cars. */
  jitter: number;
}

/** neverRead is the history before the first read. */
export const neverRead: ReadHistory = { endedAt: -Infinity, failures: 0, retryAfter: 0, misses: 0, jitter: 0 };

/** Unknown holds the layers and sources that pins name and the catalogue does not list. */
export interface Unknown {
  /** Since when there has been a source that no read was asked about; null: there is none. */
  newSince: number | null;
  /** Whether a read was asked about a source and did not list it, such as a private feed of the driver. */
  isUnlisted: boolean;
}

/** nextReadAt returns when to read, in milliseconds of the monotonic clock (pure). */
export function nextReadAt({ endedAt, failures, retryAfter, misses, jitter }: ReadHistory, { newSince, isUnlisted }: Unknown): number {
  if (failures > 0) return endedAt + Math.max(backoff(failures, jitter), retryAfter);
  const refresh = endedAt + refreshInterval * (0.9 + 0.2 * jitter);
  if (newSince !== null) return Math.min(refresh, Math.max(newSince + debounce, endedAt + minInterval));
  // Another node may learn of a feed later, and a cache on the way may repeat an old answer: the page asks soon, then ever less often.
  return isUnlisted ? Math.min(refresh, endedAt + minInterval * 2 ** misses * (1 + jitter / 2)) : refresh;
}

/**
 * withFormer adds to the listed sources those that were listed before and still have pins or clusters: the service goes on answering a
 * deactivated feed's pins until they expire, and they need their attribution for so long (pure).
 */
export function withFormer(listed: readonly Source[], before: readonly Source[], used: ReadonlySet<string>): Source[] {
  const ids = new Set(listed.map(({ id }) => id));
  const former = before.filter(({ id }) => !ids.has(id));
  if (former.length === 0) return [...listed];
  return [...listed, ...former.filter((source) => [...keysOf([source])].some((key) => used.has(key)))];
}

const isSame = (a: readonly Source[], b: readonly Source[]): boolean => a.length === b.length && a.every((source, i) => source === b[i]);

/** SourceCatalog keeps state.sources. */
export class SourceCatalog {
  readonly #state: Pick<State, "sources" | "known" | "view">;
  readonly #budget: RequestBudget;
  readonly #now: () => number;
  readonly #random: () => number;
  #listed: readonly Source[] = [];
  #keys: ReadonlySet<string> = new Set();
  #history = neverRead;
  /** Keys that pins named when a successful read was started, and that it did not list. */
  #unlisted: ReadonlySet<string> = new Set();
  #newSince: number | null = null;
  #isReading = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** now returns the time of a monotonic clock in milliseconds, random a number within [0, 1). */
  constructor(state: Pick<State, "sources" | "known" | "view">, budget: RequestBudget, now: () => number, random: () => number = Math.random) {
    this.#state = state;
    this.#budget = budget;
    this.#now = now;
    this.#random = random;
  }

  /** start reads the catalogue now, and from then on when a read is due, until the page is closed. */
  start(): void {
    for (const observable of [this.#state.known, this.#state.view]) {
      (observable as Observable<unknown>).watch(() => {
        this.#update();
      });
    }
  }

  #unknownKeys(): string[] {
    return [...keysInUse(this.#state)].filter((key) => !this.#keys.has(key));
  }

  /** #update publishes the sources and sets the timer of the next read. */
  #update(): void {
    const before = this.#state.sources.get();
    const sources = withFormer(this.#listed, before, keysInUse(this.#state));
    if (!isSame(before, sources)) {
      this.#keys = keysOf(sources);
      this.#state.sources.set(sources);
    }
    if (this.#isReading) return;
    const unknown = this.#unknownKeys();
    const isNew = unknown.some((key) => !this.#unlisted.has(key));
    this.#newSince = isNew ? (this.#newSince ?? this.#now()) : null;
    this.#schedule(nextReadAt(this.#history, { newSince: this.#newSince, isUnlisted: unknown.length > 0 }));
  }

  #schedule(at: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#budget.tryTake(reservedRequests)) void this.#read();
      else this.#schedule(this.#now() + budgetRetryAfter);
    }, Math.max(0, at - this.#now()));
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    const unknown = new Set(this.#unknownKeys());
    const abort = new AbortController();
    const timeout = setTimeout(() => {
      abort.abort();
    }, answerTimeout);
    const options: RequestOptions = {
      signal: abort.signal,
      onResponse: (answer) => {
        this.#budget.observe(answer, false);
      },
    };
    const jitter = this.#random();
    try {
      const previous = new Map(this.#state.sources.get().map((source) => [JSON.stringify(source), source]));
      // An unchanged source keeps its object, so that nothing is drawn again.
      this.#listed = (await getSources(options)).map((source) => previous.get(JSON.stringify(source)) ?? source);
      const listed = keysOf(this.#listed);
      this.#unlisted = new Set([...unknown].filter((key) => !listed.has(key)));
      this.#history = { endedAt: this.#now(), failures: 0, retryAfter: 0, misses: this.#unlisted.size > 0 ? this.#history.misses + 1 : 0, jitter };
    } catch (error) {
      const retryAfter = error instanceof HTTPError ? (error.retryAfter ?? 0) * 1000 : 0;
      this.#history = { ...this.#history, endedAt: this.#now(), failures: this.#history.failures + 1, retryAfter, jitter };
    } finally {
      clearTimeout(timeout);
      this.#isReading = false;
    }
    this.#update();
  }
}
