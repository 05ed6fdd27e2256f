// Looks out for what lies ahead: with each fix, and once a second. The page chooses what to announce by what the stream has told
// it, and asks the service, at that moment only, whether something speaks against it: the service knows the driver's standing
// votes, and what the law hides here. Whoever does not answer at once is not waited for.

import type { AlertQuery } from "./api.ts";
import { dismiss, initialAnnouncer, seenKeys, step, type Announcer, type AnnouncerResult } from "./announcer.ts";
import { mergedFrom } from "./attribution.ts";
import { placeOf, zoneWidthOf } from "./shapes.ts";
import type { AlertCandidate, State } from "./state.ts";
import type { Alert, Entity } from "./wire.ts";

const updateInterval = 1000; // ms
/** A warning that comes so much later is worth no less. */
const answerTimeout = 700;
const maxSeenKeys = 100; // an address must not get too long
const noIDs: ReadonlySet<string> = new Set();

const candidates = new WeakMap<Entity, AlertCandidate>();

/** candidateOf is an entity as the choice of what lies ahead takes it. */
export function candidateOf(entity: Entity): AlertCandidate {
  let known = candidates.get(entity);
  if (known === undefined) {
    known = { id: entity.id, kind: entity.kind_id, ...placeOf(entity), zone: zoneWidthOf(entity), merged: mergedFrom(entity).map(({ id }) => id), entity };
    candidates.set(entity, known);
  }
  return known;
}

/**
 * speaksAgainst says whether the service does not want a pin announced that the page would announce now. That it is a little
 * farther away than the page thinks, since it was told a rounded place, or that another one comes first, is no objection.
 */
export function serviceObjects(id: string, alerts: readonly Alert[]): boolean {
  const alert = alerts.find(({ entity }) => entity.id === id);
  if (alert === undefined || alert.announce) return false;
  return alert.distance_m <= alert.lead_m && !alerts.some(({ announce }) => announce);
}

/** QueryAlerts asks the service; null: it is not to be asked now. */
export type QueryAlerts = (ahead: AlertQuery, signal: AbortSignal) => Promise<Alert[]> | null;

/** AlertMonitor keeps state.alerts. */
export class AlertMonitor {
  readonly #state: State;
  readonly #clock: () => number;
  readonly #queryAlerts: QueryAlerts;
  #announcer: Announcer = initialAnnouncer;
  /** What the service is being asked about. */
  #queriedID: string | null = null;
  /** What may be announced, asked or not. */
  #clearedID: string | null = null;
  readonly #suppressed = new Set<string>();

  /** clock is the one by which the car moves, in milliseconds. */
  constructor(state: State, clock: () => number, queryAlerts: QueryAlerts) {
    this.#state = state;
    this.#clock = clock;
    this.#queryAlerts = queryAlerts;
  }

  /** start goes on until the page is closed. */
  start(): void {
    this.#state.motion.watch(() => {
      this.update();
    });
    setInterval(() => {
      this.update();
    }, updateInterval);
  }

  update(): void {
    let outcome = this.#step(this.#queriedID === null ? null : noIDs);
    const due = outcome.announce;
    if (due !== null && this.#clearedID !== due.pin.id && this.#queryService(due.pin.id)) outcome = this.#step(noIDs);
    const { next, listed, announce, banner } = outcome;
    if (announce !== null) this.#clearedID = null;
    this.#announcer = next;
    this.#state.alerts.set({ listed, announce, banner });
  }

  #step(chosen: ReadonlySet<string> | null): AnnouncerResult<AlertCandidate> {
    const { entities, voted, settings } = this.#state;
    return step(this.#announcer, {
      now: this.#clock(),
      car: this.#state.pose(),
      pins: entities.get().map(candidateOf),
      voted: this.#suppressed.size === 0 ? voted.get() : new Set([...voted.get(), ...this.#suppressed]),
      chosen,
      lead: settings.get().lead,
    });
  }

  /** inquire says whether the service is asked. */
  #queryService(id: string): boolean {
    const pose = this.#state.pose();
    const { heading, speed } = pose ?? { heading: null, speed: null };
    if (pose === null || heading === null || speed === null) return false;
    const abort = new AbortController();
    const answer = this.#queryAlerts({ place: pose, heading, speed, seen: seenKeys(this.#announcer, maxSeenKeys) }, abort.signal);
    if (answer === null) return false;
    this.#queriedID = id;
    const timeout = setTimeout(() => {
      abort.abort();
    }, answerTimeout);
    const decide = (objects: boolean): void => {
      clearTimeout(timeout);
      this.#queriedID = null;
      if (objects) this.#suppressed.add(id);
      else this.#clearedID = id;
      this.update();
    };
    answer.then(
      (alerts) => {
        decide(serviceObjects(id, alerts));
      },
      () => {
        decide(false); // the page chooses for itself
      },
    );
    return true;
  }

  /** dismiss takes a banner away. */
  dismiss(id: string): void {
    this.#announcer = dismiss(this.#announcer, id);
    this.update();
  }
}
