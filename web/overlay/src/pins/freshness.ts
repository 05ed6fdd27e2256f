// How a pin's appearance follows from its age and from an outage (pure).

/** Freshness rates how likely it is that a pin is still there. */
export type Freshness = "fresh" | "ageing" | "stale" | "gone";

/** PinAppearance is the state of a pin that its drawing depends on. */
export interface PinAppearance {
  freshness: Freshness;
  /** 0 to 1. */
  opacity: number;
  /** The connection has been lost for so long that the pin is drawn without colour. */
  grey: boolean;
}

const opacities: Record<Freshness, number> = { fresh: 1, ageing: 0.75, stale: 0.5, gone: 0 };

// Remaining shares of a lifetime.
const ageingBelow = 0.5;
const staleBelow = 0.2;

/** Milliseconds without the service after which pins are grey; reads normally come every few seconds. */
export const greyAfter = 30_000;
/** isGrey reports whether pins are drawn without colour, by the connection and the time since it changed. */
export const isGrey = (connection: { how: string; since: number } | null, now: number): boolean => connection?.how === "lost" && now - connection.since >= greyAfter;

/** Milliseconds without the service after which pins that expire are stale. */
const staleAfter = 5 * 60_000;

/** Lifetime is an entity's times, in milliseconds since 1970. */
export interface Lifetime {
  firstSeen: number;
  lastSeen: number;
  /** null if it does not expire. */
  expires: number | null;
  /** It expires at the end that its source states: until then it is not less likely to be there. */
  isEnd?: boolean;
}

interface Times {
  first_seen_at: string;
  last_seen_at: string;
  expires_at: string | null;
  properties?: Readonly<Record<string, unknown>>;
}

/** lifetimeOf parses an entity's times. With an invalid expiry the entity persists until a later read removes it. */
export function lifetimeOf({ first_seen_at, last_seen_at, expires_at, properties }: Times): Lifetime {
  const expires = expires_at === null ? NaN : Date.parse(expires_at);
  const end = properties?.["ends_at"];
  return {
    firstSeen: Date.parse(first_seen_at),
    lastSeen: Date.parse(last_seen_at),
    expires: Number.isNaN(expires) ? null : expires,
    ...(typeof end === "string" && Date.parse(end) === expires && { isEnd: true }),
  };
}

/** appearanceAt returns how to draw a pin at a time of the service's clock, after lost milliseconds without the service. */
export function appearanceAt({ lastSeen, expires, isEnd = false }: Omit<Lifetime, "firstSeen">, serverNow: number, lost: number): PinAppearance {
  const grey = lost >= greyAfter;
  if (expires === null) return appearance(grey ? "ageing" : "fresh", grey);
  // A pin is gone at the exact time of its expiry, as on the service.
  if (serverNow >= expires) return appearance("gone", grey);
  const life = expires - lastSeen;
  const left = life > 0 ? (expires - serverNow) / life : 0; // also if last_seen_at is invalid
  if ((left <= staleBelow && !isEnd) || lost >= staleAfter) return appearance("stale", grey);
  return appearance((left <= ageingBelow && !isEnd) || grey ? "ageing" : "fresh", grey);
}

const appearance = (freshness: Freshness, grey: boolean): PinAppearance => ({ freshness, opacity: opacities[freshness], grey });
