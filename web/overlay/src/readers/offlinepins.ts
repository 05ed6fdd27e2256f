// The last pins, as the browser keeps them for a start without a connection (pure).

import { lifetimeOf } from "../pins/freshness.ts";
import type { Entity, SourceHealth } from "../net/wire.ts";

/** StoredPins are pins as the browser stores them. Times are milliseconds since 1970. */
export interface StoredPins {
  /** Of this form; a page of another release may have stored another one. */
  form: 1;
  /** When they were stored, by the car's clock, and by the service's. */
  wall: number;
  server: number;
  /** They were read with an account. */
  account: boolean;
  entities: readonly Entity[];
  health: readonly SourceHealth[];
  hidden: readonly string[];
}

/** RestoredPins are stored pins, shown until the service answers. */
export interface RestoredPins {
  entities: readonly Entity[];
  health: readonly SourceHealth[];
  hidden: readonly string[];
  /** Milliseconds since they were stored. */
  age: number;
  /** The service's time now. */
  server: number;
}

/** Milliseconds for which pins are kept: a day's drive. They tell roughly where the car was. */
export const keptFor = 24 * 3600_000;

/**
 * restorePins returns the stored pins that are still valid; null if they may not be shown: they are too old or of an account that is
 * signed out, or the car's clock was set back since, so that their age is unknown.
 */
export function restorePins(stored: unknown, wall: number, signedIn: boolean): RestoredPins | null {
  if (!isStored(stored) || (stored.account && !signedIn)) return null;
  const age = wall - stored.wall;
  if (!(age >= 0 && age <= keptFor)) return null;
  const server = stored.server + age;
  const entities = stored.entities.filter((entity) => (lifetimeOf(entity).expires ?? Infinity) > server);
  return { entities, health: stored.health, hidden: stored.hidden, age, server };
}

function isStored(value: unknown): value is StoredPins {
  if (typeof value !== "object" || value === null) return false;
  const { form, wall, server, entities, health, hidden } = value as Record<string, unknown>;
  return form === 1 && typeof wall === "number" && typeof server === "number" && [entities, health, hidden].every(Array.isArray);
}
