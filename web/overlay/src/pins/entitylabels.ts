// Names, streets and icons of entities, for all panels (pure).

import { zoneWidthOf } from "./shapes.ts";
import type { Words } from "../i18n/words.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Units } from "../settings/settings.ts";
import type { Entity, Kind, Source } from "../net/wire.ts";

/** entityLabel returns the kind's name, or that of a zone for an entity that a restriction turns into a zone. */
export function entityLabel(entity: Pick<Entity, "kind_id" | "properties">, kinds: readonly Kind[], words: Words): string {
  if (zoneWidthOf(entity) > 0) return words.say("banner.zone");
  return kindLabel(entity.kind_id, kinds, words);
}

/** kindLabel returns the name of a kind. */
export const kindLabel = (kind: string, kinds: readonly Kind[], words: Words): string => words.kind(kind, kinds.find(({ id }) => id === kind)?.label ?? kind);

const longest = 80; // characters of a provider's text

/** textOf reads a text property that a provider set; empty if there is none. */
export function textOf({ properties }: Pick<Entity, "properties">, name: string): string {
  return cleanText(properties[name], longest);
}

/**
 * cleanText returns a provider's text in one line, at most so many characters long: without control characters and without those that
 * change the direction of what follows. Empty if the value is no text.
 */
export function cleanText(value: unknown, most: number): string {
  if (typeof value !== "string") return "";
  const clean = value
    .slice(0, 4 * most) // a text may have 16 KiB
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ")
    .replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "")
    .trim();
  return clean.length > most ? `${clean.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "").trimEnd()}…` : clean;
}

/** streetOf returns the street of an entity; "" if it has none. */
export const streetOf = (entity: Pick<Entity, "properties">): string => textOf(entity, "street");

/** limitText returns a limit in the driver's units for screen readers: "Speed limit 80 km/h". */
export const limitText = (limit: number, units: Units, { say, format }: Locale): string =>
  say("detail.limit", { speed: format.speed((limit * (units === "metric" ? 1000 : 1609.344)) / 3600).text });

/** iconOf returns the path of the kind's icon on this host. */
export function iconOf({ kind_id }: Pick<Entity, "kind_id">, kinds: readonly Kind[]): string {
  return pathOf(kinds.find(({ id }) => id === kind_id)?.icon_url ?? `/v2/icons/${kind_id}.svg`);
}

/** pathOf removes the host: the page may have been opened under another host name. */
export function pathOf(address: string): string {
  return address.replace(/^https?:\/\/[^/]+/, "");
}

/** sourceLabel returns a source's name. Live incidents are the service's own source, so the page has its name in each language. */
export const sourceLabel = ({ id, label }: Pick<Source, "id" | "label">, words: Words): string => (id === "incidents" ? words.say("source.incidents") : label);

/** networkName capitalises an operator's id. */
export function networkName(id: string): string {
  return id.charAt(0).toUpperCase() + id.slice(1);
}
