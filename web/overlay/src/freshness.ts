// How a pin's appearance follows from its age and from an outage (pure).

/** Freshness is how much a pin may be trusted to be still there. */
export type Freshness = "fresh" | "ageing" | "stale" | "gone";

/** PinAppearance is what the map needs to draw a pin. */
export interface PinAppearance {
  freshness: Freshness;
  /** 0 to 1. */
  opacity: number;
  /** The connection is lost for so long that the pin is drawn without its colour. */
  grey: boolean;
}

const opacities: Record<Freshness, number> = { fresh: 1, ageing: 0.75, stale: 0.5, gone: 0 };

// Shares of a lifetime that are left.
const ageingBelow = 0.5;
const staleBelow = 0.2;

/** After so many milliseconds without the service, pins are grey; reads come every few seconds. */
export const greyAfter = 30_000;
/** After so many, what decays is stale. */
const staleAfter = 5 * 60_000;

/** Lifetime is what an entity says of itself, in milliseconds since 1970. */
export interface Lifetime {
  lastSeen: number;
  /** null: it persists. */
  expires: number | null;
}

/** lifetimeOf reads the times of an entity. One that cannot be read counts as one that persists: it goes with the next read. */
export function lifetimeOf(entity: { last_seen_at: string; expires_at: string | null }): Lifetime {
  const expires = entity.expires_at === null ? NaN : Date.parse(entity.expires_at);
  return { lastSeen: Date.parse(entity.last_seen_at), expires: Number.isNaN(expires) ? null : expires };
}

/** appearanceAt tells how to draw a pin at a time of the service's, when the service has been out of reach for lost milliseconds. */
export function appearanceAt({ lastSeen, expires }: Lifetime, serverNow: number, lost: number): PinAppearance {
  const grey = lost >= greyAfter;
  if (expires === null) return appearance(grey ? "ageing" : "fresh", grey);
  // A pin is gone at the very instant of its expiry, as on the service.
  if (serverNow >= expires) return appearance("gone", grey);
  const life = expires - lastSeen;
  const left = life > 0 ? (expires - serverNow) / life : 0; // also where last_seen_at cannot be read
  if (left <= staleBelow || lost >= staleAfter) return appearance("stale", grey);
  return appearance(left <= ageingBelow || grey ? "ageing" : "fresh", grey);
}

const appearance = (freshness: Freshness, grey: boolean): PinAppearance => ({ freshness, opacity: opacities[freshness], grey });
