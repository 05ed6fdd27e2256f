// Evaluates the alerts ahead with each fix and once a second. The page chooses what to announce from the pins that it has, and asks
// the service just before it announces, because only the service knows the driver's standing votes and the local restrictions. If the
// service does not answer within 700 ms, the page announces by itself.

import type { AlertQuery } from "../net/api.ts";
import { dismiss, initialAnnouncer, seenKeys, step, type Announcer, type AnnouncerResult } from "../alerts/announcer.ts";
import { mergedFrom } from "../pins/attribution.ts";
import { answerHolds, roadAnswerOf, withRoads, type RoadAnswer } from "../alerts/roadanswer.ts";
import { placeOf, zoneWidthOf } from "../pins/shapes.ts";
import type { AlertCandidate } from "../alerts/alerts.ts";
import type { State } from "../state/state.ts";
import type { AlertAnswer, Entity } from "../net/wire.ts";

const updateInterval = 1000; // ms
/** Milliseconds to wait for the service's answer: a warning that is this much later is still useful. */
const answerTimeout = 700;
const maxSeenKeys = 100; // keeps the URL short
/** Milliseconds after which the service is asked again about a pin that it did not announce: another heading or distance may change that. */
const objectionTimeout = 5000;
/** Likewise about one that is not on the route: only another route changes that. */
const offRouteTimeout = 20_000;
/** Milliseconds between two questions for the list alone: for as long an answer holds. */
const listInterval = answerHolds.ms;
/** Likewise where the service does not look along roads, or does not answer. */
const idleListInterval = 120_000;
const minListSpeed = 3; // metres per second: a slower car may turn anywhere
/** How much further than its lead a pin may be along the road, for the service gets a rounded position. */
const leadTolerance = 1.2;
const noIDs: ReadonlySet<string> = new Set();

const candidates = new WeakMap<Entity, AlertCandidate>();

/** candidateOf returns an entity in the form that the alert rules take. It is cached per entity. */
export function candidateOf(entity: Entity): AlertCandidate {
  let known = candidates.get(entity);
  if (known === undefined) {
    const { id, kind_id: kind, geom_line, properties } = entity;
    known = {
      id,
      kind,
      ...placeOf(entity),
      zone: zoneWidthOf(entity),
      merged: mergedFrom(entity).map((one) => one.id),
      line: geom_line === null ? null : geom_line.coordinates.map(([lng, lat]) => ({ lat, lng })),
      bearing: bearingOf(properties),
      maxSpeed: numberWithin(properties["maxspeed_kmh"], 1, 300),
      entity,
    };
    candidates.set(entity, known);
  }
  return known;
}

/** bearingOf returns the bearing of the only traffic that a pin concerns; null if it concerns all or does not tell. */
function bearingOf(properties: Entity["properties"]): number | null {
  if (properties["both_directions"] === true) return null;
  return numberWithin(properties["bearing"] ?? properties["heading_degrees"], 0, 360);
}

const numberWithin = (value: unknown, low: number, high: number): number | null => (typeof value === "number" && value >= low && value <= high ? value : null);

/**
 * serviceObjects returns for how many milliseconds the service does not want a pin announced that the page is about to announce; 0: it
 * may be. The page measures as the crow flies; a service that looked along the roads leaves out what is on another one. Where it looked
 * by direction too, it is no objection that it measures a slightly larger distance, or that it announces another pin first.
 */
export function serviceObjects(id: string, { alerts, along }: AlertAnswer): number {
  const onRoads = along === "route" || along === "probable";
  const alert = alerts.find(({ entity }) => entity.id === id);
  if (alert === undefined) return onRoads ? (along === "route" ? offRouteTimeout : objectionTimeout) : 0;
  if (alert.announce) return 0;
  if (alert.distance_m > alert.lead_m) return onRoads && alert.distance_m > alert.lead_m * leadTolerance ? objectionTimeout : 0;
  return alerts.some(({ announce }) => announce) ? 0 : objectionTimeout;
}

/** QueryAlerts asks the service; it returns null if no request may be sent now. */
export type QueryAlerts = (ahead: AlertQuery, signal: AbortSignal) => Promise<AlertAnswer> | null;

/** AlertMonitor sets state.alerts. */
export class AlertMonitor {
  readonly #state: State;
  readonly #clock: () => number;
  readonly #queryAlerts: QueryAlerts;
  #announcer: Announcer = initialAnnouncer;
  /** Id of the pin about which a request is in flight. */
  #queriedID: string | null = null;
  /** Id of the pin that may be announced, whether the service answered or not. */
  #clearedID: string | null = null;
  /** Pins that the service did not announce, and until when they are silent. */
  readonly #suppressed = new Map<string, number>();
  /** The token of the service's last answer. */
  #roads: string | null = null;
  /** The roads of the service's last answer. */
  #answered: RoadAnswer | null = null;
  /** When the service may be asked for the list alone. */
  #listAfter = -Infinity;

  /** clock returns the time by which the car moves, in milliseconds: the demo's drive may run faster than real time. */
  constructor(state: State, clock: () => number, queryAlerts: QueryAlerts) {
    this.#state = state;
    this.#clock = clock;
    this.#queryAlerts = queryAlerts;
  }

  /** start runs until the page is closed. */
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
    const { next, listed, announce, banner, passed } = outcome;
    if (announce !== null) this.#clearedID = null;
    this.#announcer = next;
    if (this.#queriedID === null && outcome.announce === null) this.#queryList(listed);
    const pins = this.#state.entities.get().map(candidateOf);
    this.#state.alerts.set({ listed: [...withRoads(listed, pins, this.#answered, this.#state.pose(), this.#clock())], announce, banner, passed });
  }

  #step(chosen: ReadonlySet<string> | null): AnnouncerResult<AlertCandidate> {
    const { entities, voted, settings } = this.#state;
    const now = this.#clock();
    for (const [id, until] of this.#suppressed) if (now >= until) this.#suppressed.delete(id);
    return step(this.#announcer, {
      now,
      car: this.#state.pose(),
      pins: entities.get().map(candidateOf),
      voted: voted.get(),
      suppressed: new Set(this.#suppressed.keys()),
      chosen,
      lead: settings.get().lead,
      along: (pin) => this.#state.guidance.get()?.along(pin),
    });
  }

  /**
   * #queryList asks the service on which roads the listed pins are: otherwise the list would know only after the first announcement. A car
   * that is led needs no question, since its route says it.
   */
  #queryList(listed: AnnouncerResult<AlertCandidate>["listed"]): void {
    const now = this.#clock();
    if (now < this.#listAfter || this.#state.guidance.get() !== null || (this.#state.pose()?.speed ?? 0) < minListSpeed) return;
    if (!listed.some(({ pin }) => !pin.kind.startsWith("charger."))) return;
    const asked = this.#ask((said) => {
      if (said === null || this.#answered === null) this.#listAfter = this.#clock() + idleListInterval;
      this.update();
    });
    if (asked) this.#listAfter = now + listInterval;
  }

  /** #queryService asks whether a pin is to be announced. It reports whether a request was sent. */
  #queryService(id: string): boolean {
    const asked = this.#ask((said) => {
      this.#queriedID = null;
      const silentFor = said === null ? 0 : serviceObjects(id, said); // without an answer the page decides alone
      if (silentFor > 0) this.#suppressed.set(id, this.#clock() + silentFor);
      else this.#clearedID = id;
      this.update();
    });
    if (asked) {
      this.#queriedID = id;
      this.#listAfter = this.#clock() + listInterval; // the answer serves the list, too
    }
    return asked;
  }

  /** #ask queries the service for alerts ahead and calls then with the answer; null: there is none. It reports whether a request was sent. */
  #ask(then: (said: AlertAnswer | null) => void): boolean {
    const pose = this.#state.pose();
    const { heading, speed } = pose ?? { heading: null, speed: null };
    if (pose === null || heading === null || speed === null) return false;
    const abort = new AbortController();
    const seen = seenKeys(this.#announcer, maxSeenKeys, this.#clock());
    const pins = this.#state.entities.get().map(candidateOf);
    const session = this.#state.guidance.get()?.session() ?? null;
    const answer = this.#queryAlerts({ place: pose, heading, speed, seen, session, state: this.#roads }, abort.signal);
    if (answer === null) return false;
    const timeout = setTimeout(() => {
      abort.abort();
    }, answerTimeout);
    answer.then(
      (said) => {
        clearTimeout(timeout);
        this.#roads = said.state ?? null;
        this.#answered = roadAnswerOf(said, pins, { ...pose, heading }, this.#clock());
        then(said);
      },
      () => {
        clearTimeout(timeout);
        then(null);
      },
    );
    return true;
  }

  /** dismiss hides the banner of a pin. */
  dismiss(id: string): void {
    this.#announcer = dismiss(this.#announcer, id);
    this.update();
  }
}
