// The one way out of the page: reads of this service. Positions leave rounded to four decimals, some ten metres.

import { retryAfterSeconds } from "./budget.ts";
import type { Place } from "./geo.ts";
import type { Account, Alert, BegunPairing, Drive, Entity, Kind, NearbyAnswer, OverlayConfig, Source } from "./wire.ts";

/** Refused is an answer that is no success. */
export class Refused extends Error {
  readonly status: number;
  /** Seconds to wait before asking again, where the service says so. */
  readonly retryAfter: number | null;
  /** What the service calls the problem, where the page reads it. */
  readonly type: string;

  constructor(answer: Response, type = "") {
    super(`the service answered ${String(answer.status)}`);
    this.status = answer.status;
    this.type = type;
    this.retryAfter = retryAfterSeconds(answer.headers.get("Retry-After"));
  }
}

/** Asking is what a request may be told besides. */
export interface Asking {
  signal?: AbortSignal;
  /** heed sees each answer before it is judged. */
  heed?: (answer: Response) => void;
  cache?: RequestCache;
}

async function get(path: string, headers: Record<string, string>, { signal, heed, cache }: Asking): Promise<Response> {
  const answer = await fetch(path, { headers, ...(signal && { signal }), ...(cache && { cache }) });
  heed?.(answer);
  if (!answer.ok) throw new Refused(answer);
  return answer;
}

/** getJSON trusts the service to answer as openapi.json says: it is the same program that served this page. */
async function getJSON<T>(path: string, asking: Asking = {}): Promise<T> {
  return (await (await get(path, { Accept: "application/json" }, asking)).json()) as T;
}

export const getConfig = (): Promise<OverlayConfig> => getJSON("/v2/overlay/config");

export const getKinds = async (): Promise<Kind[]> => (await getJSON<{ kinds: Kind[] }>("/v2/kinds")).kinds;

/** getSources asks past the browser's cache: a listing may be kept for a minute, and a source may be newer than that. */
export const getSources = async (asking: Asking): Promise<Source[]> => (await getJSON<{ sources: Source[] }>("/v2/sources", { ...asking, cache: "no-cache" })).sources;

/** getDrive reads the demo's drive; elsewhere there is none. */
export const getDrive = (): Promise<Drive> => getJSON("/demo/drive.json");

/** rounded is a coordinate as it may leave the page. */
export const rounded = (degrees: number): string => degrees.toFixed(4);

/** Around is what to read. */
export interface Around {
  place: Place;
  /** Metres. */
  radius: number;
  /** Charger networks; null: those of the tier. */
  networks: readonly string[] | null;
}

const most = 500; // pins at once: more would hide the map

/** queryOf is the same text for what is the same to the service. */
export function queryOf({ place, radius, networks }: Around): string {
  const query = new URLSearchParams({ lat: rounded(place.lat), lng: rounded(place.lng), radius: String(Math.round(radius)), limit: String(most) });
  if (networks !== null && networks.length > 0) query.set("networks", networks.join(","));
  return query.toString();
}

/** getNearby reads what there is. */
export const getNearby = (query: string, asking: Asking): Promise<NearbyAnswer> => getJSON(`/v2/entities/nearby?${query}`, asking);

/** Ahead is what a choice of alerts is asked with. */
export interface Ahead {
  place: Place;
  /** Degrees clockwise from north. */
  heading: number;
  /** Metres a second. */
  speed: number;
  /** Keys of what was announced. */
  seen: readonly string[];
}

/** getAlerts lets the service choose what is announced. */
export async function getAlerts({ place, heading, speed, seen }: Ahead, asking: Asking): Promise<Alert[]> {
  const query = new URLSearchParams({ lat: rounded(place.lat), lng: rounded(place.lng), heading: heading.toFixed(0), speed: Math.min(speed, 100).toFixed(1) });
  if (seen.length > 0) query.set("seen", seen.join(","));
  return (await getJSON<{ alerts: Alert[] }>(`/v2/alerts?${query.toString()}`, asking)).alerts;
}

/**
 * openStream begins a read that goes on. It is not an EventSource, since that tells a page neither why it was refused nor
 * that the service is still there: a car's connection often dies without a word.
 */
export async function openStream(query: string, lastID: string, asking: Asking): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const headers = { Accept: "text/event-stream", ...(lastID !== "" && { "Last-Event-ID": lastID }) };
  const { body } = await get(`/v2/stream?${query}`, headers, asking);
  if (body === null) throw new Error("the service sent no stream");
  return body.getReader();
}

/** typeOf is what a problem is called (RFC 9457); empty: nobody says. */
async function typeOf(answer: Response): Promise<string> {
  try {
    const { type } = (await answer.json()) as { type?: unknown };
    return typeof type === "string" ? type : "";
  } catch {
    return ""; // a proxy's page
  }
}

/** send asks the service to change something; body is sent as JSON. The cookie and the page's origin go with it by themselves. */
async function send(method: string, path: string, body?: unknown): Promise<Response> {
  const content = body !== undefined && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, { method, ...content });
  if (!answer.ok) throw new Refused(answer, await typeOf(answer));
  return answer;
}

export type Vote = "confirm" | "dispute";

/** castVote makes or changes the driver's standing vote; null takes it back. */
export async function castVote(id: string, vote: Vote | null): Promise<Entity> {
  const path = `/v2/entities/${encodeURIComponent(id)}`;
  const answer = await (vote === null ? send("DELETE", `${path}/vote`) : send("POST", `${path}/${vote}`));
  return ((await answer.json()) as { entity: Entity }).entity;
}

/** getOwnVote reads what the driver said of an entity. */
export async function getOwnVote(id: string): Promise<Vote | null> {
  const path = `/v2/entities/${encodeURIComponent(id)}`;
  return (await getJSON<{ explain: { votes: { yours: Vote | null } } }>(path)).explain.votes.yours;
}

export const getAccount = async (): Promise<Account> => (await getJSON<{ account: Account }>("/v2/account")).account;

export async function signOut(): Promise<void> {
  await send("POST", "/v2/auth/sign-out");
}

/** getPreferences reads what the account has kept, as nobody has checked it. */
export const getPreferences = async (): Promise<unknown> => (await getJSON<{ preferences: unknown }>("/v2/account/preferences")).preferences;

export async function putPreferences(choices: unknown): Promise<void> {
  await send("PUT", "/v2/account/preferences", choices);
}

/** beginPairing asks for a code, and says how many milliseconds it holds: by the service's clock, since the car's may be wrong. */
export async function beginPairing(): Promise<{ begun: BegunPairing; lasts: number }> {
  const answer = await send("POST", "/v2/auth/pair", {});
  const begun = (await answer.json()) as BegunPairing;
  const written = Date.parse(answer.headers.get("Date") ?? "");
  return { begun, lasts: Date.parse(begun.expires_at) - (Number.isNaN(written) ? Date.now() : written) };
}

/** pollPairing asks whether the phone has answered; null: not yet. */
export async function pollPairing(deviceCode: string): Promise<Account | null> {
  const answer = await send("POST", "/v2/auth/pair/token", { device_code: deviceCode });
  return answer.status === 202 ? null : ((await answer.json()) as { account: Account }).account;
}

export const qrAddress = (userCode: string): string => `/v2/auth/pair/qr?code=${encodeURIComponent(userCode)}`;
