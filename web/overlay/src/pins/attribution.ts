// Which sources entities come from, and which attributions must be shown with them (pure).

import type { Entity, Source } from "../net/wire.ts";

/** sourcesByLayer maps a layer to its source: a layer belongs to exactly one. */
export function sourcesByLayer(sources: readonly Source[]): ReadonlyMap<string, Source> {
  return new Map(sources.flatMap((source) => source.layer_slugs.map((slug): [string, Source] => [slug, source])));
}

/** mergedFrom returns the entities that were merged into this one, and their sources. */
export function mergedFrom({ properties }: Pick<Entity, "properties">): { source: string; id: string }[] {
  const list = properties["merged_from"];
  if (!Array.isArray(list)) return [];
  return list.filter((one: unknown): one is { source: string; id: string } => {
    if (typeof one !== "object" || one === null) return false;
    const { source, id } = one as Record<string, unknown>;
    return typeof source === "string" && typeof id === "string";
  });
}

/** EntitySources are the sources of an entity. */
export interface EntitySources {
  /** null if the catalogue does not list it. */
  own: Source | null;
  others: readonly Source[];
}

/** sourcesOf returns the entity's own source and those of the entities merged into it, each once (pure). */
export function sourcesOf(entity: Entity, sources: readonly Source[]): EntitySources {
  const own = sourcesByLayer(sources).get(entity.layer_slug) ?? null;
  const ids = new Set(mergedFrom(entity).map(({ source }) => source));
  return { own, others: sources.filter((source) => source !== own && ids.has(source.id)) };
}

/** attributionOf returns the text that must be shown with a source's data, with the licence if there is one. */
export const attributionOf = ({ attribution, licence = "" }: Source): string => (attribution === "" || licence === "" ? attribution : `${attribution} (${licence})`);

const openStreetMap = "OpenStreetMap";
const openStreetMapNotice = "https://www.openstreetmap.org/copyright"; // where its licence asks to link to

/** AttributionPart is text of an attribution, with its link. */
export interface AttributionPart {
  text: string;
  href?: string;
}

/** attributionParts links OpenStreetMap to its copyright notice wherever an attribution names it. */
export function attributionParts(text: string): AttributionPart[] {
  const parts = text.split(/((?:© ?)?OpenStreetMap(?: contributors)?)/);
  return parts.filter((part) => part !== "").map((part) => (part.includes(openStreetMap) ? { text: part, href: openStreetMapNotice } : { text: part }));
}

/** attributionsOf returns the attributions of the entities in view and of sources by their ids, each once, those of the base maps first. */
export function attributionsOf(inView: Iterable<Entity>, sources: readonly Source[], baseMaps: readonly (string | null)[], ids: readonly string[] = []): string[] {
  const byLayer = sourcesByLayer(sources);
  const byID = new Map(sources.map((source) => [source.id, source]));
  const seen = new Set<Source>(sources.filter(({ id }) => ids.includes(id)));
  for (const entity of inView) {
    const own = byLayer.get(entity.layer_slug);
    for (const source of [own, ...mergedFrom(entity).map((one) => byID.get(one.source))]) if (source !== undefined) seen.add(source);
  }
  // The order of the catalogue keeps the text stable.
  const shown = sources.filter((source) => seen.has(source));
  const withLicence = new Set(shown.filter(({ licence = "" }) => licence !== "").map(({ attribution }) => attribution));
  // A base map of the same data as a source is named with the source's licence.
  const maps = baseMaps.filter((text) => text !== null && !withLicence.has(text));
  return [...new Set([...maps, ...shown.map(attributionOf)])].filter((text): text is string => text !== null && text !== "");
}
