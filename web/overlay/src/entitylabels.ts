// What an entity is called and where it is said to be, for every panel alike (pure).

import { zoneWidthOf } from "./shapes.ts";
import type { Words } from "./i18n/words.ts";
import type { Entity, Kind } from "./wire.ts";

/** entityLabel is the kind's name; of what the law shows as a zone only, that it is one. */
export function entityLabel(entity: Pick<Entity, "kind_id" | "properties">, kinds: readonly Kind[], words: Words): string {
  if (zoneWidthOf(entity) > 0) return words.say("banner.zone");
  return kindLabel(entity.kind_id, kinds, words);
}

/** kindLabel is the name of the kind with an id. */
export const kindLabel = (kind: string, kinds: readonly Kind[], words: Words): string => words.kind(kind, kinds.find(({ id }) => id === kind)?.label ?? kind);

const longest = 80; // letters of what a provider wrote

/** textOf reads a text that a provider gave; empty: there is none. */
export function textOf({ properties }: Pick<Entity, "properties">, name: string): string {
  const text = properties[name];
  return typeof text === "string" ? text.trim().slice(0, longest) : "";
}

export const streetOf = (entity: Pick<Entity, "properties">): string => textOf(entity, "street");

/** iconOf is the address of the kind's drawing, on this host. */
export function iconOf({ kind_id }: Pick<Entity, "kind_id">, kinds: readonly Kind[]): string {
  return pathOf(kinds.find(({ id }) => id === kind_id)?.icon_url ?? `/v2/icons/${kind_id}.svg`);
}

/** pathOf leaves the host out: the page may have been opened under another name. */
export function pathOf(address: string): string {
  return address.replace(/^https?:\/\/[^/]+/, "");
}

/** networkName is an operator's id as people write it. */
export function networkName(id: string): string {
  return id.charAt(0).toUpperCase() + id.slice(1);
}
