// Judges destinations that come from outside of the page (pure).

import type { Destination } from "../state/state.ts";

/** maxText limits the characters of a name. */
export const maxText = 200; // characters

/** isDestination reports whether a stored value is a destination. */
export function isDestination(value: unknown): value is Destination {
  if (typeof value !== "object" || value === null) return false;
  const { place, name, detail } = value as Record<string, unknown>;
  if (typeof place !== "object" || place === null) return false;
  const { lat, lng } = place as Record<string, unknown>;
  return typeof lat === "number" && typeof lng === "number" && Math.abs(lat) <= 90 && Math.abs(lng) <= 180 && isText(name) && isText(detail);
}

const isText = (value: unknown): value is string => typeof value === "string" && value.length <= maxText;
