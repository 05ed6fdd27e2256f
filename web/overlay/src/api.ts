// The one way out of the page: reads of this service. Positions leave rounded to four decimals, some ten metres.

import type { Kind, NearbyAnswer, OverlayConfig } from "./wire.ts";

/** Refused is an answer that is no success. */
export class Refused extends Error {
  readonly status: number;
  /** Seconds to wait before asking again, where the service says so. */
  readonly retryAfter: number | null;

  constructor(status: number, retryAfter: number | null) {
    super(`the service answered ${String(status)}`);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** getJSON trusts the service to answer as openapi.json says: it is the same program that served this page. */
async function getJSON<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await fetch(path, { headers: { Accept: "application/json" }, ...(signal && { signal }) });
  if (!answer.ok) {
    const wait = answer.headers.get("Retry-After");
    throw new Refused(answer.status, wait === null ? null : Number(wait));
  }
  return (await answer.json()) as T;
}

export const getConfig = (): Promise<OverlayConfig> => getJSON("/v2/overlay/config");

export const getKinds = async (): Promise<Kind[]> => (await getJSON<{ kinds: Kind[] }>("/v2/kinds")).kinds;

/** rounded is a coordinate as it may leave the page. */
export const rounded = (degrees: number): string => degrees.toFixed(4);

/** getNearby reads what lies within radius metres. */
export function getNearby(at: { lat: number; lng: number }, radius: number, signal?: AbortSignal): Promise<NearbyAnswer> {
  const query = new URLSearchParams({ lat: rounded(at.lat), lng: rounded(at.lng), radius: String(Math.round(radius)), limit: "500" });
  return getJSON(`/v2/entities/nearby?${query.toString()}`, signal);
}
