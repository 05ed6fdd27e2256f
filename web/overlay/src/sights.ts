// Which of the entities that are known are shown (pure).

import { appearanceAt, lifetimeOf, type PinAppearance, type Lifetime } from "./freshness.ts";
import { isOff, type Settings } from "./settings.ts";
import type { Entity, Source } from "./wire.ts";

/** Shown is an entity that is on the map, and how old it looks. */
export interface Shown {
  entity: Entity;
  appearance: PinAppearance;
}

/** Choice is what a driver does not want to see. */
export type Choice = Pick<Settings, "sources_off" | "kinds_off">;

const lifetimes = new WeakMap<Entity, Lifetime>();

function lifetime(entity: Entity): Lifetime {
  let known = lifetimes.get(entity);
  if (known === undefined) {
    known = lifetimeOf(entity);
    lifetimes.set(entity, known);
  }
  return known;
}

/** sourcesByLayer leads from a layer to its source: a layer belongs to one. */
export function sourcesByLayer(sources: readonly Source[]): ReadonlyMap<string, Source> {
  return new Map(sources.flatMap((source) => source.layer_slugs.map((slug): [string, Source] => [slug, source])));
}

/** show leaves out what is gone and what the driver turned off. serverNow and lost are in milliseconds, as age takes them. */
export function show(known: readonly Entity[], byLayer: ReadonlyMap<string, Source>, choice: Choice, serverNow: number, lost: number): Shown[] {
  const shown: Shown[] = [];
  for (const entity of known) {
    if (isOff(entity.kind_id, choice.kinds_off)) continue;
    const source = byLayer.get(entity.layer_slug);
    if (source !== undefined && choice.sources_off.includes(source.id)) continue;
    const appearance = appearanceAt(lifetime(entity), serverNow, lost);
    if (appearance.freshness !== "gone") shown.push({ entity, appearance });
  }
  return shown;
}

/** mergedFrom are the entities that are shown as this one, and their sources. */
export function mergedFrom({ properties }: Pick<Entity, "properties">): { source: string; id: string }[] {
  const list = properties["merged_from"];
  if (!Array.isArray(list)) return [];
  return list.filter((one: unknown): one is { source: string; id: string } => {
    if (typeof one !== "object" || one === null) return false;
    const { source, id } = one as Record<string, unknown>;
    return typeof source === "string" && typeof id === "string";
  });
}

/** attributionOf is what must be shown with a source's data, with the licence if it states one. */
export const attributionOf = ({ attribution, licence = "" }: Source): string => (attribution === "" || licence === "" ? attribution : `${attribution} (${licence})`);

/** creditsOf are the attributions of exactly what is in view, the map's first, each once. */
export function creditsOf(inView: Iterable<Entity>, sources: readonly Source[], baseMap: string | null): string[] {
  const byLayer = sourcesByLayer(sources);
  const byID = new Map(sources.map((source) => [source.id, source]));
  const seen = new Set<Source>();
  for (const entity of inView) {
    const own = byLayer.get(entity.layer_slug);
    for (const source of [own, ...mergedFrom(entity).map((one) => byID.get(one.source))]) if (source !== undefined) seen.add(source);
  }
  // In the catalogue's order, so that the line does not change while nothing does.
  const texts = sources.filter((source) => seen.has(source)).map(attributionOf);
  return [...new Set([baseMap ?? "", ...texts])].filter((text) => text !== "");
}
