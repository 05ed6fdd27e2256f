// Which of the known entities are visible (pure).

import { appearanceAt, lifetimeOf, type Lifetime, type PinAppearance } from "./freshness.ts";
import { isKindHidden, type Settings } from "../settings/settings.ts";
import type { Entity, Source } from "../net/wire.ts";

/** VisibleEntity is an entity that is on the map, and its appearance. */
export interface VisibleEntity {
  entity: Entity;
  appearance: PinAppearance;
  /** Milliseconds since it was first seen; NaN if that is unknown. */
  age: number;
}

/** Filter lists the kinds and sources that the driver hides. */
export type Filter = Pick<Settings, "sources_off" | "kinds_off">;

const lifetimes = new WeakMap<Entity, Lifetime>();

function cachedLifetime(entity: Entity): Lifetime {
  let known = lifetimes.get(entity);
  if (known === undefined) {
    known = lifetimeOf(entity);
    lifetimes.set(entity, known);
  }
  return known;
}

/** visibleEntities drops expired entities and those that the driver hides. serverNow and lost are as in appearanceAt. */
export function visibleEntities(known: readonly Entity[], byLayer: ReadonlyMap<string, Source>, choice: Filter, serverNow: number, lost: number): VisibleEntity[] {
  const shown: VisibleEntity[] = [];
  for (const entity of known) {
    if (isKindHidden(entity.kind_id, choice.kinds_off)) continue;
    const source = byLayer.get(entity.layer_slug);
    if (source !== undefined && choice.sources_off.includes(source.id)) continue;
    const lifetime = cachedLifetime(entity);
    const appearance = appearanceAt(lifetime, serverNow, lost);
    if (appearance.freshness !== "gone") shown.push({ entity, appearance, age: serverNow - lifetime.firstSeen });
  }
  return shown;
}
