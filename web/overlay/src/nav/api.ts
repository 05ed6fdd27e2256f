// Requests about routes, sessions and places. Unlike all other requests of the page they have exact positions: a route begins on the
// right side of the street only there. Routes have a budget of their own, as in the service (D15.23).

import { HTTPError, formatCoordinate, getJSON } from "../net/api.ts";
import { bearing, distance, type Place } from "../geo/geo.ts";
import { RequestBudget } from "../net/requestbudget.ts";
import { initialParser, parseChunk } from "../net/sseparser.ts";
import { retryAfterSeconds } from "../net/tokenbucket.ts";
import type { Entity, NearbyAnswer } from "../net/wire.ts";
import type { Found, Moved, Route, RouteOptions, RoutesAnswer, Session, SessionEvent } from "./types.ts";

const navigationPath = "/v2/navigation/";
const sessionsPath = `${navigationPath}sessions`;

/** RouteError is a refusal in OSRM's words, such as NoRoute. */
export class RouteError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** TooSoon is the error of a request that may not be sent yet, by the page's own budget or by the service's. */
export class TooSoon extends Error {
  /** Seconds. */
  readonly wait: number;

  constructor(wait: number) {
    super(`the request may be sent in ${String(wait)} s`);
    this.wait = wait;
  }
}

/** NavigationAPI sends all requests of navigation. reads is the budget that the page shares with its other reads. */
export class NavigationAPI {
  readonly #reads: RequestBudget;
  readonly #routes: RequestBudget;

  constructor(reads: RequestBudget, now: () => number) {
    this.#reads = reads;
    this.#routes = new RequestBudget(now);
  }

  /** search finds places by name, near ones first. */
  async search(text: string, near: Place | null, language: string, signal?: AbortSignal): Promise<{ found: Found[]; attribution: string }> {
    const query = new URLSearchParams({ q: text, limit: String(maxFound), lang: language });
    if (near !== null) {
      query.set("lat", exact(near.lat));
      query.set("lon", exact(near.lng));
    }
    return this.#places(`/v2/geocode/api?${query.toString()}`, near, signal);
  }

  /** near finds places of these tags around a place, the nearest first. */
  async near(place: Place, tags: readonly string[], { kilometres, limit }: { kilometres: number; limit: number }, language: string, signal?: AbortSignal): Promise<{ found: Found[]; attribution: string }> {
    const query = new URLSearchParams({ lat: exact(place.lat), lon: exact(place.lng), radius: String(kilometres), limit: String(limit), lang: language });
    for (const tag of tags) query.append("osm_tag", tag);
    return this.#places(`/v2/geocode/reverse?${query.toString()}`, place, signal);
  }

  /** chargers finds chargers of all sources around a place, the nearest first. */
  async chargers(place: Place, radius: number, limit: number, networks: readonly string[] | null, signal?: AbortSignal): Promise<Entity[]> {
    if (!this.#reads.tryTake()) throw new TooSoon(1);
    const query = new URLSearchParams({ lat: formatCoordinate(place.lat), lng: formatCoordinate(place.lng), radius: String(radius), kinds: "charger.supercharger,charger.destination", limit: String(limit) });
    if (networks !== null && networks.length > 0) query.set("networks", networks.join(","));
    const onResponse = (response: Response): void => {
      this.#reads.observe(response, false);
    };
    return (await getJSON<NearbyAnswer>(`/v2/entities/nearby?${query.toString()}`, { ...(signal && { signal }), onResponse })).entities;
  }

  /** table returns seconds and metres from each source to each destination, which are numbers of places; null where no road leads. */
  async table(places: readonly Place[], bearings: readonly (number | null)[], sources: readonly number[], destinations: readonly number[], signal?: AbortSignal): Promise<Table> {
    const body = {
      coordinates: places.map(({ lat, lng }) => [Number(exact(lng)), Number(exact(lat))]),
      bearings: bearings.map((degrees) => (degrees === null ? null : [Math.round(degrees) % 360, headingTolerance])),
      sources,
      destinations,
      annotations: ["duration", "distance"],
      generate_hints: false,
    };
    return (await (await this.#sendRoute(`${navigationPath}table/v1/driving`, body, signal)).json()) as Table;
  }

  /** routes finds up to three routes over all stops; the first stop is where the car is. silent are the numbers of those that the route leads over without stopping. */
  async routes(stops: readonly Place[], options: RouteOptions, signal?: AbortSignal, silent: readonly number[] = []): Promise<RoutesAnswer> {
    const waypoints = silent.length > 0 && { waypoints: stops.map((_, i) => i).filter((i) => !silent.includes(i)) };
    const response = await this.#sendRoute(`${navigationPath}route/v1/driving`, { ...bodyOf(stops, options), ...waypoints, alternatives: maxAlternatives }, signal);
    return (await response.json()) as RoutesAnswer;
  }

  /** openSession begins a session on one of the routes that `routes` found, by its number. via are places that the route leads over without stopping; resumes is the id of a session that was lost and goes on. */
  async openSession(stops: readonly Place[], options: RouteOptions, { chosen = 0, via = [], resumes = null }: { chosen?: number; via?: readonly Place[]; resumes?: string | null } = {}, signal?: AbortSignal): Promise<Session> {
    const [first, ...rest] = stops;
    if (first === undefined) throw new Error("a session begins somewhere");
    const silent = via.length > 0 && { waypoints: [0, ...rest.map((_, i) => i + 1 + via.length)] };
    const alternatives = chosen > 0 && { alternatives: maxAlternatives, route: chosen };
    const response = await this.#sendRoute(sessionsPath, { ...bodyOf([first, ...via, ...rest], options), ...silent, ...alternatives, ...(resumes !== null && { resumes }) }, signal);
    return (await response.json()) as Session;
  }

  /** position sends the car's position and returns the new route if the car has left the old one. HTTPError 404: the session has ended. */
  async position(id: string, { place, heading, speed }: { place: Place; heading: number | null; speed: number | null }, signal?: AbortSignal): Promise<Route | null> {
    const known = { ...(heading !== null && { heading: Math.round(heading) % 360 }), ...(speed !== null && { speed: Math.round(Math.min(speed, 100) * 10) / 10 }) };
    const response = await send("PUT", `${sessionsPath}/${encodeURIComponent(id)}/position`, { lat: Number(exact(place.lat)), lng: Number(exact(place.lng)), ...known }, signal);
    return response.status === 204 ? null : ((await response.json()) as { route: Route }).route;
  }

  /** events calls onEvent for each event until the stream ends, or fails. onWord is called with each piece of the stream, also a heartbeat. */
  async events(id: string, onEvent: (event: SessionEvent | Moved) => void, onWord: () => void, signal: AbortSignal): Promise<void> {
    const response = await fetch(`${sessionsPath}/${encodeURIComponent(id)}/events`, { headers: { Accept: "text/event-stream" }, signal });
    if (!response.ok) throw new HTTPError(response);
    if (response.body === null) throw new Error("the service sent no stream");
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let parser = initialParser;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onWord();
      const parsed = parseChunk(parser, decoder.decode(value, { stream: true }));
      parser = parsed.parser;
      for (const { type, data } of parsed.events) onEvent({ name: type, ...(JSON.parse(data) as object) } as SessionEvent | Moved);
    }
  }

  /** endSession also works while the page is being closed. */
  async endSession(id: string): Promise<void> {
    await fetch(`${sessionsPath}/${encodeURIComponent(id)}`, { method: "DELETE", keepalive: true });
  }

  async #places(path: string, near: Place | null, signal?: AbortSignal): Promise<{ found: Found[]; attribution: string }> {
    if (!this.#reads.tryTake()) throw new TooSoon(1);
    const onResponse = (response: Response): void => {
      this.#reads.observe(response, false);
    };
    const answer = await getJSON<Collection>(path, { ...(signal && { signal }), onResponse });
    return { found: answer.features.map((feature) => foundOf(feature, near)), attribution: answer.attribution ?? "" };
  }

  async #sendRoute(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
    if (!this.#routes.tryTake()) throw new TooSoon(1);
    return send("POST", path, body, signal, (response) => {
      this.#routes.observe(response, false);
    });
  }
}

/** Table has a row for each source. */
export interface Table {
  /** Seconds. */
  durations: readonly (readonly (number | null)[])[];
  /** Metres. */
  distances: readonly (readonly (number | null)[])[];
}

const maxFound = 8;

/** maxAlternatives limits the routes besides the best one. */
const maxAlternatives = 2;

/** exact formats degrees to about ten centimetres. */
const exact = (degrees: number): string => degrees.toFixed(6);

/** headingTolerance is how many degrees to both sides of the car's heading a route may begin. */
const headingTolerance = 60;

/** bodyOf returns the body of a request for routes. */
function bodyOf(stops: readonly Place[], { avoid, heading, language, units }: RouteOptions): Record<string, unknown> {
  return {
    coordinates: stops.map(({ lat, lng }) => [Number(exact(lng)), Number(exact(lat))]),
    steps: true,
    overview: "false",
    geometries: "polyline6",
    annotations: ["distance", "duration", "maxspeed", "congestion"],
    banner_instructions: true,
    voice_instructions: true,
    language,
    voice_units: units,
    generate_hints: false,
    skip_waypoints: true,
    ...(avoid.length > 0 && { exclude: avoid }),
    ...(heading !== null && { bearings: stops.map((_, i) => (i === 0 ? [Math.round(heading) % 360, headingTolerance] : null)) }),
  };
}

/** send fails with a TooSoon for 429 and 503 with Retry-After, with a RouteError where the answer has a code, otherwise with an HTTPError. */
async function send(method: string, path: string, body: unknown, signal?: AbortSignal, onResponse?: (response: Response) => void): Promise<Response> {
  const response = await fetch(path, { method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), ...(signal && { signal }) });
  onResponse?.(response);
  if (response.ok) return response;
  const wait = retryAfterSeconds(response.headers.get("Retry-After"));
  if (response.status === 429) throw new TooSoon(wait ?? 1);
  const { code, message } = await refusalOf(response);
  if (code !== "") throw new RouteError(code, message);
  if (wait !== null) throw new TooSoon(wait);
  throw new HTTPError(response);
}

async function refusalOf(response: Response): Promise<{ code: string; message: string }> {
  try {
    const { code, message } = (await response.json()) as { code?: unknown; message?: unknown };
    return typeof code === "string" ? { code, message: typeof message === "string" ? message : "" } : { code: "", message: "" };
  } catch {
    return { code: "", message: "" }; // a proxy's page
  }
}

/** Feature is a result in Photon's form. */
interface Feature {
  geometry: { coordinates: readonly [number, number] };
  properties: Partial<Record<"osm_type" | "osm_key" | "osm_value" | "name" | "street" | "housenumber" | "postcode" | "city" | "country", string>> & { osm_id?: number };
}

interface Collection {
  features: readonly Feature[];
  attribution?: string;
}

/** foundOf returns a result as the page shows it: its name, and below it the details that distinguish it (pure). */
export function foundOf({ geometry, properties: p }: Feature, near: Place | null): Found {
  const [lng, lat] = geometry.coordinates;
  const place = { lat, lng };
  const address = [p.street, p.housenumber].filter((part) => part !== undefined && part !== "").join(" ");
  const town = [p.postcode, p.city].filter((part) => part !== undefined && part !== "").join(" ");
  const name = p.name ?? address;
  return {
    id: `${p.osm_type ?? ""}${String(p.osm_id ?? "")}:${address}:${exact(lat)},${exact(lng)}`,
    key: p.osm_key ?? "",
    value: p.osm_value ?? "",
    place,
    name,
    detail: [name === address ? "" : address, town, p.country ?? ""].filter((part) => part !== "").join(", "),
    metres: near === null ? null : distance(near, place),
    bearing: near === null ? null : bearing(near, place),
  };
}
