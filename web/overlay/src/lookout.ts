// Looks out for what lies ahead: with each fix, and once a second.

import { dismiss, quiet, step, type Announcer } from "./announce.ts";
import { mergedFrom } from "./sights.ts";
import { placeOf, zoneOf } from "./shapes.ts";
import type { Seen, State } from "./state.ts";
import type { Entity } from "./wire.ts";

const every = 1000; // ms

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

/** Lookout keeps state.alerts. */
export class Lookout {
  readonly #state: State;
  readonly #clock: () => number;
  #announcer: Announcer = quiet;

  /** clock is the one by which the car moves, in milliseconds. */
  constructor(state: State, clock: () => number) {
    this.#state = state;
    this.#clock = clock;
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
    const { entities, voted, settings, alerts } = this.#state;
    const { next, sights, announce, banner } = step(this.#announcer, {
      now: this.#clock(),
      car: this.#state.pose(),
      pins: entities.get().map(seenAs),
      voted: voted.get(),
      chosen: null,
      lead: settings.get().lead,
    });
    this.#announcer = next;
    alerts.set({ sights, announce, banner });
  }

  /** dismiss takes a banner away. */
  dismiss(id: string): void {
    this.#announcer = dismiss(this.#announcer, id);
    this.look();
  }
}
