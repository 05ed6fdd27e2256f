// The one way out of the page: reads of this service. Positions leave rounded to four decimals, some ten metres.

import { retryAfterSeconds } from "./tokenbucket.ts";
import type { Place } from "./geo.ts";
import type { Account, Alert, BegunPairing, Drive, Entity, Kind, NearbyAnswer, OverlayConfig, Source } from "./wire.ts";

/** HTTPError is an answer that is no success. */
export class HTTPError extends Error {
  readonly status: number;
  /** Seconds to wait before asking again, where the service says so. */
  readonly retryAfter: number | null;
  /** What the service calls the problem, where the page reads it. */
  readonly type: string;

  constructor(response: Response, type = "") {
    super(`the service answered ${String(response.status)}`);
    this.status = response.status;
    this.type = type;
    this.retryAfter = retryAfterSeconds(response.headers.get("Retry-After"));
  }
}

/** RequestOptions is what a request may be told besides. */
export interface RequestOptions {
  signal?: AbortSignal;
  /** onResponse sees each answer before it is judged. */
  onResponse?: (response: Response) => void;
  cache?: RequestCache;
}

async function get(path: string, headers: Record<string, string>, { signal, onResponse, cache }: RequestOptions): Promise<Response> {
  const response = await fetch(path, { headers, ...(signal && { signal }), ...(cache && { cache }) });
  onResponse?.(response);
  if (!response.ok) throw new HTTPError(response);
  return response;
}

/** getJSON trusts the service to answer as openapi.json says: it is the same program that served this page. */
async function getJSON<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return (await (await get(path, { Accept: "application/json" }, options)).json()) as T;
}

export const getConfig = (): Promise<OverlayConfig> => getJSON("/v2/overlay/config");

export const getKinds = async (): Promise<Kind[]> => (await getJSON<{ kinds: Kind[] }>("/v2/kinds")).kinds;

/** getSources asks past the browser's cache: a listing may be kept for a minute, and a source may be newer than that. */
export const getSources = async (options: RequestOptions): Promise<Source[]> => (await getJSON<{ sources: Source[] }>("/v2/sources", { ...options, cache: "no-cache" })).sources;

/** getDrive reads the demo's drive; elsewhere there is none. */
export const getDrive = (): Promise<Drive> => getJSON("/demo/drive.json");

/** formatCoordinate is a coordinate as it may leave the page. */
export const formatCoordinate = (degrees: number): string => degrees.toFixed(4);

/** NearbyQuery is what to read. */
export interface NearbyQuery {
  place: Place;
  /** Metres. */
  radius: number;
  /** Charger networks; null: those of the tier. */
  networks: readonly string[] | null;
}

const maxPins = 500; // pins at once: more would hide the map

/** queryOf is the same text for what is the same to the service. */
export function queryOf({ place, radius, networks }: NearbyQuery): string {
  const query = new URLSearchParams({ lat: formatCoordinate(place.lat), lng: formatCoordinate(place.lng), radius: String(Math.round(radius)), limit: String(maxPins) });
  if (networks !== null && networks.length > 0) query.set("networks", networks.join(","));
  return query.toString();
}

/** getNearby reads what there is. */
export const getNearby = (query: string, options: RequestOptions): Promise<NearbyAnswer> => getJSON(`/v2/entities/nearby?${query}`, options);

/** AlertQuery is what a choice of alerts is asked with. */
export interface AlertQuery {
  place: Place;
  /** Degrees clockwise from north. */
  heading: number;
  /** Metres a second. */
  speed: number;
  /** Keys of what was announced. */
  seen: readonly string[];
}

/** getAlerts lets the service choose what is announced. */
export async function getAlerts({ place, heading, speed, seen }: AlertQuery, options: RequestOptions): Promise<Alert[]> {
  const query = new URLSearchParams({ lat: formatCoordinate(place.lat), lng: formatCoordinate(place.lng), heading: heading.toFixed(0), speed: Math.min(speed, 100).toFixed(1) });
  if (seen.length > 0) query.set("seen", seen.join(","));
  return (await getJSON<{ alerts: Alert[] }>(`/v2/alerts?${query.toString()}`, options)).alerts;
}

/**
 * openStream begins a read that goes on. It is not an EventSource, since that tells a page neither why it was refused nor
 * that the service is still there: a car's connection often dies without a word.
 */
export async function openStream(query: string, lastID: string, options: RequestOptions): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const headers = { Accept: "text/event-stream", ...(lastID !== "" && { "Last-Event-ID": lastID }) };
  const { body } = await get(`/v2/stream?${query}`, headers, options);
  if (body === null) throw new Error("the service sent no stream");
  return body.getReader();
}

/** problemType is what a problem is called (RFC 9457); empty: nobody says. */
async function problemType(response: Response): Promise<string> {
  try {
    const { type } = (await response.json()) as { type?: unknown };
    return typeof type === "string" ? type : "";
  } catch {
    return ""; // a proxy's page
  }
}

/** send asks the service to change something; body is sent as JSON. The cookie and the page's origin go with it by themselves. */
async function send(method: string, path: string, body?: unknown): Promise<Response> {
  const content = body !== undefined && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, { method, ...content });
  if (!response.ok) throw new HTTPError(response, await problemType(response));
  return response;
}

export type Vote = "confirm" | "dispute";

/** castVote makes or changes the driver's standing vote; null takes it back. */
export async function castVote(id: string, vote: Vote | null): Promise<Entity> {
  const path = `/v2/entities/${encodeURIComponent(id)}`;
  const response = await (vote === null ? send("DELETE", `${path}/vote`) : send("POST", `${path}/${vote}`));
  return ((await response.json()) as { entity: Entity }).entity;
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

/** startPairing asks for a code, and says how many milliseconds it holds: by the service's clock, since the car's may be wrong. */
export async function startPairing(): Promise<{ started: BegunPairing; lifetime: number }> {
  const response = await send("POST", "/v2/auth/pair", {});
  const started = (await response.json()) as BegunPairing;
  const written = Date.parse(response.headers.get("Date") ?? "");
  return { started, lifetime: Date.parse(started.expires_at) - (Number.isNaN(written) ? Date.now() : written) };
}

/** pollPairing asks whether the phone has answered; null: not yet. */
export async function pollPairing(deviceCode: string): Promise<Account | null> {
  const response = await send("POST", "/v2/auth/pair/token", { device_code: deviceCode });
  return response.status === 202 ? null : ((await response.json()) as { account: Account }).account;
}

export const qrAddress = (userCode: string): string => `/v2/auth/pair/qr?code=${encodeURIComponent(userCode)}`;
