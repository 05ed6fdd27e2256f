// The driver's places in the account, for all the driver's browsers: requests, and their form in JSON.

import { getJSON, HTTPError } from "../net/api.ts";
import { isSame, maxRecent, parsePlaces, type KeptPlaces } from "./keptplaces.ts";
import type { Destination } from "../state/state.ts";

const path = "/v2/account/places";

interface Sent {
  lat: number;
  lng: number;
  name: string;
  detail: string;
}

const sent = ({ place: { lat, lng }, name, detail }: Destination): Sent => ({ lat, lng, name, detail });

/** bodyOf returns the places in the form that the service stores (pure). */
export const bodyOf = ({ home, work, recent }: KeptPlaces): object => ({ ...(home && { home: sent(home) }), ...(work && { work: sent(work) }), recent: recent.map(sent) });

/** placesOf parses the service's answer (pure). It never throws. */
export function placesOf(value: unknown): KeptPlaces {
  const { home, work, recent } = (typeof value === "object" && value !== null ? value : {}) as Record<string, unknown>;
  const own = (one: unknown): unknown => (typeof one === "object" && one !== null ? { ...one, place: one } : null);
  return parsePlaces({ home: own(home), work: own(work), recent: Array.isArray(recent) ? recent.map(own) : [] });
}

/** merged adds the browser's places to those of the account, which come first (pure). */
export function merged(account: KeptPlaces, own: KeptPlaces): KeptPlaces {
  const others = own.recent.filter((one) => !account.recent.some((other) => isSame(one, other)));
  return { home: account.home ?? own.home, work: account.work ?? own.work, recent: [...account.recent, ...others].slice(0, maxRecent) };
}

const all = ({ home, work, recent }: KeptPlaces): Destination[] => [home, work, ...recent].filter((one): one is Destination => one !== null);

const lies = (at: Destination) => (other: Destination): boolean => at.place.lat === other.place.lat && at.place.lng === other.place.lng;

/** without removes the places at the position of another one. */
const without = ({ home, work, recent }: KeptPlaces, gone: Destination): KeptPlaces => {
  const kept = (one: Destination | null): Destination | null => (one !== null && lies(gone)(one) ? null : one);
  return { home: kept(home), work: kept(work), recent: recent.filter((one) => !lies(gone)(one)) };
};

/**
 * stepsBetween returns what a paired screen stores one after the other, the last being what it wants: each step removes one place at most,
 * as the service refuses several at once from a screen (pure).
 */
export function stepsBetween(before: KeptPlaces, after: KeptPlaces): KeptPlaces[] {
  const gone = all(before).filter((one) => !all(after).some(lies(one)));
  const steps: KeptPlaces[] = [];
  let places = before;
  for (const one of gone.slice(0, -1)) {
    places = without(places, one);
    steps.push(places);
  }
  return [...steps, after];
}

/** readPlaces returns the account's places; null: it keeps none. */
export async function readPlaces(): Promise<KeptPlaces | null> {
  const { places } = await getJSON<{ places: unknown }>(path);
  return places === null ? null : placesOf(places);
}

/** writePlaces stores them in the account; null deletes them. */
export async function writePlaces(places: KeptPlaces | null): Promise<void> {
  const body = places === null ? { method: "DELETE" } : { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify(bodyOf(places)) };
  const response = await fetch(path, body);
  if (!response.ok) throw new HTTPError(response);
}
