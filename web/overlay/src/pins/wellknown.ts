// Well-known properties of entities, as far as they are drawn before a card is opened (pure). Values come from providers: whatever
// has another type or lies out of range counts as absent. The service's list is in internal/ground/mapdata; a test holds the ranges to it.

import type { Units } from "../settings/settings.ts";
import type { Entity } from "../net/wire.ts";

/** Lowest and highest values of numbers. */
export const ranges = {
  bearing: [0, 360],
  maxspeed_kmh: [5, 200],
  speed_limit_kmh: [5, 200],
  lanes_closed: [0, 20],
  level: [0, 5],
  speed_kmh: [0, 300],
  delay_seconds: [0, 86_400],
  length_metres: [0, 500_000],
  max_kw: [0, 5000],
  evses: [0, 10_000],
  available: [0, 10_000],
  out_of_order: [0, 10_000],
} as const satisfies Record<string, readonly [number, number]>;

type Properties = Pick<Entity, "properties">;

/** numberOf reads a number; null if there is none that fits. */
export function numberOf({ properties }: Properties, name: keyof typeof ranges): number | null {
  const value = properties[name];
  const [lowest, highest] = ranges[name];
  return typeof value === "number" && value >= lowest && value <= highest ? value : null;
}

const kmhPerMph = 1.609344;

/** limitOf returns the speed limit to show on a road sign, in the driver's units; null if there is none. */
export function limitOf(entity: Pick<Entity, "kind_id" | "properties">, units: Units): number | null {
  const kmh = numberOf(entity, entity.kind_id.startsWith("camera.") ? "maxspeed_kmh" : "speed_limit_kmh");
  return kmh === null ? null : Math.round(units === "metric" ? kmh : kmh / kmhPerMph);
}

const step = 5; // limits on pins are multiples of it, so that few images are painted, whatever providers send

/** pinLimitOf returns the limit to paint on a pin; null if there is none or it is unusual. */
export function pinLimitOf(entity: Pick<Entity, "kind_id" | "properties">, units: Units): number | null {
  const limit = entity.kind_id.startsWith("camera.") ? limitOf(entity, units) : null;
  return limit !== null && limit % step === 0 ? limit : null;
}
