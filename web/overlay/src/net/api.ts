// Requests to this service, the only host that the page talks to. Positions are rounded to four decimals, about ten metres.

import { retryAfterSeconds } from "./tokenbucket.ts";
import type { Place } from "../geo/geo.ts";
import type { Account, AlertAnswer, BegunPairing, DemoDrives, Entity, Kind, NearbyAnswer, OverlayConfig, Source } from "./wire.ts";

/** HTTPError is a response with an error status. */
export class HTTPError extends Error {
  readonly status: number;
  /** Seconds of Retry-After; null if there is no such header. */
  readonly retryAfter: number | null;
  /** Type of the problem document, where the page reads it. */
  readonly type: string;

  constructor(response: Response, type = "") {
    super(`the service answered ${String(response.status)}`);
    this.status = response.status;
    this.type = type;
    this.retryAfter = retryAfterSeconds(response.headers.get("Retry-After"));
  }
}

/** RequestOptions apply to one request. */
export interface RequestOptions {
  signal?: AbortSignal;
  /** onResponse receives each response, error responses included. */
  onResponse?: (response: Response) => void;
  cache?: RequestCache;
}

async function get(path: string, headers: Record<string, string>, { signal, onResponse, cache }: RequestOptions): Promise<Response> {
  const response = await fetch(path, { headers, ...(signal && { signal }), ...(cache && { cache }) });
  onResponse?.(response);
  if (!response.ok) throw new HTTPError(response);
  return response;
}

/**
 * getJSON does not validate: the service that wrote the answer is the same program that served this page. It names no type to accept:
 * older browsers then would not use the answers that index.html preloads.
 */
export async function getJSON<T>(path: string, options: RequestOptions = {}): Promise<T> {
  return (await (await get(path, {}, options)).json()) as T;
}

/** getConfig reads the configuration of the page. */
export const getConfig = (): Promise<OverlayConfig> => getJSON("/v2/overlay/config");

/** getKinds reads the kinds of entities. */
export const getKinds = async (): Promise<Kind[]> => (await getJSON<{ kinds: Kind[] }>("/v2/kinds")).kinds;

/** getSources bypasses the browser's cache: a listing may be cached for a minute, and a source may be newer than that. */
export const getSources = async (options: RequestOptions): Promise<Source[]> => (await getJSON<{ sources: Source[] }>("/v2/sources", { ...options, cache: "no-cache" })).sources;

/**
 * getDrive reads the demo's drives, which other services do not have. speedUp tells the demo that the one to a destination begins, so many
 * times as fast as a real one, for it closes a bridge on the way; null: the one around the town does, for which nothing is closed.
 */
export const getDrive = (speedUp: number | null): Promise<DemoDrives> => getJSON(speedUp === null ? "/demo/drive.json" : `/demo/drive.json?x=${String(speedUp)}`);

/** formatCoordinate rounds a coordinate before it leaves the page. */
export const formatCoordinate = (degrees: number): string => degrees.toFixed(4);

/** NearbyQuery selects the entities to read. */
export interface NearbyQuery {
  place: Place;
  /** Metres. */
  radius: number;
  /** Charger networks; null for those of the driver's tier. */
  networks: readonly string[] | null;
}

const maxPins = 500; // more pins would hide the map

/** queryOf returns equal text for requests that are equal to the service, since coordinates are rounded. */
export function queryOf({ place, radius, networks }: NearbyQuery): string {
  const query = new URLSearchParams({ lat: formatCoordinate(place.lat), lng: formatCoordinate(place.lng), radius: String(Math.round(radius)), limit: String(maxPins) });
  if (networks !== null && networks.length > 0) query.set("networks", networks.join(","));
  return query.toString();
}

/** getNearby reads the entities around a place. */
export const getNearby = (query: string, options: RequestOptions): Promise<NearbyAnswer> => getJSON(`/v2/entities/nearby?${query}`, options);

/** AlertQuery is the car's state by which the service chooses alerts. */
export interface AlertQuery {
  place: Place;
  /** Degrees clockwise from north. */
  heading: number;
  /** Metres per second. */
  speed: number;
  /** Keys of the announcements that were made. */
  seen: readonly string[];
  /** Id of the session that leads the car; null: none does. */
  session: string | null;
  /** The roads of the answer before; null: there was none. */
  state: string | null;
}

/** getAlerts returns the alerts ahead and which of them the service would announce. */
export async function getAlerts({ place, heading, speed, seen, session, state }: AlertQuery, options: RequestOptions): Promise<AlertAnswer> {
  const query = new URLSearchParams({ lat: formatCoordinate(place.lat), lng: formatCoordinate(place.lng), heading: heading.toFixed(0), speed: Math.min(speed, 100).toFixed(1) });
  if (seen.length > 0) query.set("seen", seen.join(","));
  if (session !== null) query.set("session", session);
  if (state !== null) query.set("state", state);
  return getJSON<AlertAnswer>(`/v2/alerts?${query.toString()}`, options);
}

/**
 * openStream opens a stream of server-sent events. It does not use EventSource, which reports neither the status of a refusal nor
 * the heartbeats: a car's connection often dies without an error.
 */
export async function openStream(query: string, lastID: string, options: RequestOptions): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const headers = { Accept: "text/event-stream", ...(lastID !== "" && { "Last-Event-ID": lastID }) };
  const { body } = await get(`/v2/stream?${query}`, headers, options);
  if (body === null) throw new Error("the service sent no stream");
  return body.getReader();
}

/** problemType reads the type of a problem document (RFC 9457); empty if there is none. */
async function problemType(response: Response): Promise<string> {
  try {
    const { type } = (await response.json()) as { type?: unknown };
    return typeof type === "string" ? type : "";
  } catch {
    return ""; // a proxy's page
  }
}

/** send makes a request that changes something; body is sent as JSON. The browser adds the cookie and the origin. */
export async function send(method: string, path: string, body?: unknown): Promise<Response> {
  const content = body !== undefined && { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, { method, ...content });
  if (!response.ok) throw new HTTPError(response, await problemType(response));
  return response;
}

/** Vote is a driver's standing vote on an entity. */
export type Vote = "confirm" | "dispute";

/** castVote casts or changes the driver's standing vote; null withdraws it. A vote counts fully from drivers who are near, hence the place. */
export async function castVote(id: string, vote: Vote | null, at: Place | null = null): Promise<Entity> {
  const path = `/v2/entities/${encodeURIComponent(id)}`;
  const response = await (vote === null ? send("DELETE", `${path}/vote`) : send("POST", `${path}/${vote}`, at === null ? undefined : { lat: at.lat, lng: at.lng }));
  return ((await response.json()) as { entity: Entity }).entity;
}

/** getOwnVote reads the driver's standing vote on an entity. */
export async function getOwnVote(id: string): Promise<Vote | null> {
  const path = `/v2/entities/${encodeURIComponent(id)}`;
  return (await getJSON<{ explain: { votes: { yours: Vote | null } } }>(path)).explain.votes.yours;
}

/** complain reports the source of an entity to the curators as wrong. */
export async function complain(id: string): Promise<void> {
  await send("POST", `/v2/entities/${encodeURIComponent(id)}/complaint`, {});
}

/** getAccount reads the signed-in account; HTTPError 401 for a guest. */
export const getAccount = async (): Promise<Account> => (await getJSON<{ account: Account }>("/v2/account")).account;

/** signOut ends the session. */
export async function signOut(): Promise<void> {
  await send("POST", "/v2/auth/sign-out");
}

/** getPreferences reads the account's stored choices, unvalidated. */
export const getPreferences = async (): Promise<unknown> => (await getJSON<{ preferences: unknown }>("/v2/account/preferences")).preferences;

/** putPreferences stores the driver's choices in the account. */
export async function putPreferences(choices: unknown): Promise<void> {
  await send("PUT", "/v2/account/preferences", choices);
}

/** startPairing requests a code and returns its lifetime in milliseconds, by the service's clock, since the car's may be wrong. */
export async function startPairing(): Promise<{ started: BegunPairing; lifetime: number }> {
  const response = await send("POST", "/v2/auth/pair", {});
  const started = (await response.json()) as BegunPairing;
  const written = Date.parse(response.headers.get("Date") ?? "");
  return { started, lifetime: Date.parse(started.expires_at) - (Number.isNaN(written) ? Date.now() : written) };
}

/** pollPairing returns the account once the phone has approved, and null before. */
export async function pollPairing(deviceCode: string): Promise<Account | null> {
  const response = await send("POST", "/v2/auth/pair/token", { device_code: deviceCode });
  return response.status === 202 ? null : ((await response.json()) as { account: Account }).account;
}

/** qrAddress returns the URL of a pairing's QR code. */
export const qrAddress = (userCode: string): string => `/v2/auth/pair/qr?code=${encodeURIComponent(userCode)}`;
