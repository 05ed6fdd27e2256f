// Looks out for what lies ahead: with each fix, and once a second. The page chooses what to announce by what the stream has told
// it, and asks the service, at that moment only, whether something speaks against it: the service knows the driver's standing
// votes, and what the law hides here. Whoever does not answer at once is not waited for.

import type { AlertQuery } from "./api.ts";
import { dismiss, quiet, seenKeys, step, type Announcer, type Outcome } from "./announce.ts";
import { mergedFrom } from "./sights.ts";
import { placeOf, zoneOf } from "./shapes.ts";
import type { Seen, State } from "./state.ts";
import type { Alert, Entity } from "./wire.ts";

const every = 1000; // ms
/** A warning that comes so much later is worth no less. */
const waitFor = 700;
const mostKeys = 100; // an address must not get too long
const nothing: ReadonlySet<string> = new Set();

const seen = new WeakMap<Entity, Seen>();

/** seenAs is an entity as the choice of what lies ahead takes it. */
export function seenAs(entity: Entity): Seen {
  let known = seen.get(entity);
  if (known === undefined) {
    known = { id: entity.id, kind: entity.kind_id, ...placeOf(entity), zone: zoneOf(entity), merged: mergedFrom(entity).map(({ id }) => id), entity };
    seen.set(entity, known);
  }
  return known;
}

/**
 * speaksAgainst says whether the service does not want a pin announced that the page would announce now. That it is a little
 * farther away than the page thinks, since it was told a rounded place, or that another one comes first, is no objection.
 */
export function speaksAgainst(id: string, alerts: readonly Alert[]): boolean {
  const alert = alerts.find(({ entity }) => entity.id === id);
  if (alert === undefined || alert.announce) return false;
  return alert.distance_m <= alert.lead_m && !alerts.some(({ announce }) => announce);
}

/** Ask asks the service; null: it is not to be asked now. */
export type Ask = (ahead: AlertQuery, signal: AbortSignal) => Promise<Alert[]> | null;

/** Lookout keeps state.alerts. */
export class Lookout {
  readonly #state: State;
  readonly #clock: () => number;
  readonly #ask: Ask;
  #announcer: Announcer = quiet;
  /** What the service is being asked about. */
  #asked: string | null = null;
  /** What may be announced, asked or not. */
  #cleared: string | null = null;
  readonly #silenced = new Set<string>();

  /** clock is the one by which the car moves, in milliseconds. */
  constructor(state: State, clock: () => number, ask: Ask) {
    this.#state = state;
    this.#clock = clock;
    this.#ask = ask;
  }

  /** start goes on until the page is closed. */
  start(): void {
    this.#state.motion.watch(() => {
      this.look();
    });
    setInterval(() => {
      this.look();
    }, every);
  }

  look(): void {
    let outcome = this.#step(this.#asked === null ? null : nothing);
    const due = outcome.announce;
    if (due !== null && this.#cleared !== due.pin.id && this.#inquire(due.pin.id)) outcome = this.#step(nothing);
    const { next, sights, announce, banner } = outcome;
    if (announce !== null) this.#cleared = null;
    this.#announcer = next;
    this.#state.alerts.set({ sights, announce, banner });
  }

  #step(chosen: ReadonlySet<string> | null): Outcome<Seen> {
    const { entities, voted, settings } = this.#state;
    return step(this.#announcer, {
      now: this.#clock(),
      car: this.#state.pose(),
      pins: entities.get().map(seenAs),
      voted: this.#silenced.size === 0 ? voted.get() : new Set([...voted.get(), ...this.#silenced]),
      chosen,
      lead: settings.get().lead,
    });
  }

  /** inquire says whether the service is asked. */
  #inquire(id: string): boolean {
    const pose = this.#state.pose();
    const { heading, speed } = pose ?? { heading: null, speed: null };
    if (pose === null || heading === null || speed === null) return false;
    const abort = new AbortController();
    const answer = this.#ask({ place: pose, heading, speed, seen: seenKeys(this.#announcer, mostKeys) }, abort.signal);
    if (answer === null) return false;
    this.#asked = id;
    const late = setTimeout(() => {
      abort.abort();
    }, waitFor);
    const decide = (against: boolean): void => {
      clearTimeout(late);
      this.#asked = null;
      if (against) this.#silenced.add(id);
      else this.#cleared = id;
      this.look();
    };
    answer.then(
      (alerts) => {
        decide(speaksAgainst(id, alerts));
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
    this.look();
  }
}
