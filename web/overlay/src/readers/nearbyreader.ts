// Reads the entities around the car: by a stream of events, and by polling while there is no stream. reconnect.ts decides when to
// reconnect, requestbudget.ts how often requests may be sent.

import { getNearby, openStream, queryOf, HTTPError, type NearbyQuery, type RequestOptions } from "../net/api.ts";
import { linkFailed, hasSlept, linkSucceeded, mayConnect, initialLink, linkWoken, type LinkState, type ClockSample } from "../net/reconnect.ts";
import { adjustClock } from "../net/serverclock.ts";
import { distance, type Place } from "../geo/geo.ts";
import { fromAnswer, noData, applyEvents, type NearbyData } from "./nearbydata.ts";
import type { RestoredPins } from "./offlinepins.ts";
import type { RequestBudget } from "../net/requestbudget.ts";
import { parseChunk, initialParser } from "../net/sseparser.ts";
import type { Connection, State } from "../state/state.ts";
import type { AppsChange } from "../net/wire.ts";

/** Metres around the driver that are read. */
export const radius = 10_000;
/** Metres from the centre of the last read after which the surroundings are read again. */
const refetchDistance = radius / 3;

const tickInterval = 500; // ms
/** The service sends a heartbeat every 25 seconds. */
const silenceTimeout = 40_000;
const connectTimeout = 15_000;
const pollTimeout = 10_000;
const pollInterval = 10_000;
const minPollInterval = 3000;
const pollDistance = 500; // metres
const reservedRequests = 4; // requests

/** pollDue reports whether to poll; last is when and where the page last polled, null if never. */
export function pollDue(now: number, here: Place, last: { at: number; place: Place } | null): boolean {
  if (last === null) return true;
  const passed = now - last.at;
  return passed >= pollInterval || (passed >= minPollInterval && distance(here, last.place) >= pollDistance);
}

/** Clocks are the sources of time. */
export interface Clocks {
  /** Monotonic milliseconds: performance.now. */
  mono: () => number;
  /** Milliseconds since 1970 by the car's clock: Date.now. */
  wall: () => number;
}

/** StreamConnection is one stream that is open or being opened. */
interface StreamConnection {
  query: string;
  middle: Place;
  networks: readonly string[] | null;
  abort: AbortController;
  /** When data last arrived, or when the stream was requested. */
  heardAt: number;
  /** Data has arrived. */
  begun: boolean;
}

/** NearbyReader sets state.known, truncated, hidden, health, connection, clock and appsChange. */
export class NearbyReader {
  readonly #state: State;
  readonly #budget: RequestBudget;
  readonly #clocks: Clocks;
  #link: LinkState = initialLink;
  #stream: StreamConnection | null = null;
  /** Query and last event id of the previous stream, to resume it. */
  #resume = { query: "", id: "" };
  #data: NearbyData = noData;
  #polled: { at: number; place: Place } | null = null;
  #polling: AbortController | null = null;
  #tick: ClockSample;
  /** When the service last answered. */
  #reachedAt: number;

  constructor(state: State, budget: RequestBudget, clocks: Clocks) {
    this.#state = state;
    this.#budget = budget;
    this.#clocks = clocks;
    this.#tick = { mono: clocks.mono(), wall: clocks.wall() };
    this.#reachedAt = clocks.mono();
  }

  /** start runs until the page is closed. */
  start(): void {
    setInterval(() => {
      this.update();
    }, tickInterval);
    for (const event of ["online", "pageshow"]) {
      window.addEventListener(event, (what) => {
        if (what instanceof PageTransitionEvent && !what.persisted) return; // the initial load
        this.#reconnect();
        this.update();
      });
    }
    document.addEventListener("visibilitychange", () => {
      this.update();
    });
    this.#state.fix.watch(() => {
      if (this.#stream === null && this.#polled === null) this.update(); // the first fix
    });
  }

  /** refresh polls immediately, after the driver has changed something. */
  refresh(): void {
    const place = this.#state.fix.get();
    if (place !== null && this.#stream?.begun !== true && this.#polling === null && this.#budget.tryTake()) void this.#poll(place);
  }

  /** restore shows stored pins as those of a lost connection, until the service answers. */
  restore({ entities, health, hidden, age, server }: RestoredPins): void {
    const now = this.#clocks.mono();
    this.#reachedAt = now - age;
    this.#state.clock.set(server - now);
    this.#setConnection({ how: "lost", since: this.#reachedAt });
    this.#apply({ ...noData, entities: new Map(entities.map((entity) => [entity.id, entity])), health, hidden });
  }

  /** update starts all requests that are due. */
  update(): void {
    const tick = { mono: this.#clocks.mono(), wall: this.#clocks.wall() };
    if (hasSlept(this.#tick, tick)) this.#reconnect();
    this.#tick = tick;
    const place = this.#state.fix.get();
    if (place === null) return;
    this.#check(tick.mono, place);
    if (this.#stream === null && mayConnect(this.#link, tick.mono) && this.#budget.tryTake()) void this.#stayConnected(place);
    const tried = this.#link.failures > 0 || this.#link.lostSince !== null;
    if (this.#stream?.begun !== true && tried && this.#polling === null && pollDue(tick.mono, place, this.#polled) && this.#budget.tryTake(reservedRequests)) {
      void this.#poll(place);
    }
  }

  /** #check closes a stream that is silent or whose query is outdated. */
  #check(now: number, place: Place): void {
    const stream = this.#stream;
    if (stream === null) return;
    if (now - stream.heardAt > (stream.begun ? silenceTimeout : connectTimeout)) {
      this.#closeStream();
      this.#link = linkFailed(this.#link, now, Math.random(), null);
    } else if (distance(place, stream.middle) > refetchDistance || stream.networks !== this.#state.settings.get().networks) {
      this.#closeStream();
      this.#link = { ...this.#link, connectedSince: null, retryAt: now };
    }
  }

  #reconnect(): void {
    this.#closeStream();
    this.#polling?.abort();
    this.#polling = null;
    this.#polled = null;
    this.#link = linkWoken(this.#link);
  }

  #closeStream(): void {
    this.#stream?.abort.abort();
    this.#stream = null;
  }

  async #stayConnected(place: Place): Promise<void> {
    const nearby = this.#query(place);
    const query = queryOf(nearby);
    const asked = this.#clocks.mono();
    const own: StreamConnection = { query, middle: place, networks: nearby.networks, abort: new AbortController(), heardAt: asked, begun: false };
    this.#stream = own;
    let retryAfter: number | null = null;
    try {
      await this.#readStream(own, asked);
    } catch (error) {
      if (error instanceof HTTPError) retryAfter = error.retryAfter;
    }
    if (this.#stream !== own) return; // another stream has replaced it
    this.#stream = null;
    this.#link = linkFailed(this.#link, this.#clocks.mono(), Math.random(), retryAfter);
    this.#polled = null; // polls immediately, to learn whether the service is reachable
    this.update();
  }

  /** #readStream returns when the service ends the stream. */
  async #readStream(own: StreamConnection, asked: number): Promise<void> {
    const resumed = this.#resume.query === own.query;
    const reader = await openStream(own.query, resumed ? this.#resume.id : "", this.#requestOptions(own.abort.signal, true));
    const text = new TextDecoder();
    let parser = initialParser;
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#stream !== own) return;
      const parsed = parseChunk(parser, text.decode(value, { stream: true }));
      parser = parsed.parser;
      own.heardAt = this.#clocks.mono();
      if (!own.begun) {
        if (parsed.events.length === 0) continue; // a snapshot arrives in several chunks
        own.begun = true;
        this.#link = linkSucceeded(this.#link, own.heardAt);
      }
      // The first pins come before the connection, so that nothing takes the page for one without data; after an outage they look
      // as the connection tells.
      const isFirst = this.#state.connection.get() === null;
      if (!isFirst) this.#setReachable("live", own.heardAt);
      const before = this.#data.fetched;
      if (parsed.events.length > 0) this.#apply(applyEvents(this.#data, parsed.events));
      for (const { type, data } of parsed.events) if (type === "apps") this.#state.appsChange.set(JSON.parse(data) as AppsChange);
      if (isFirst) this.#setReachable("live", own.heardAt);
      if (this.#data.fetched !== null && this.#data.fetched !== before) this.#setClock(this.#data.fetched, asked, own.heardAt);
      if (parser.id !== "") this.#resume = { query: own.query, id: parser.id };
    }
  }

  async #poll(place: Place): Promise<void> {
    const asked = this.#clocks.mono();
    const abort = new AbortController();
    const late = setTimeout(() => {
      abort.abort();
    }, pollTimeout);
    this.#polling = abort;
    this.#polled = { at: asked, place };
    try {
      const answer = await getNearby(queryOf(this.#query(place)), this.#requestOptions(abort.signal, false));
      if (this.#polling !== abort || this.#stream?.begun === true) return;
      const received = this.#clocks.mono();
      this.#resume = { query: "", id: "" }; // the stream's last event id does not match this data
      this.#apply(fromAnswer(answer));
      this.#setClock(answer.fetched_at_utc, asked, received);
      this.#setReachable("polling", received);
    } catch (error) {
      // A service that answers 429 is reachable.
      if (this.#polling === abort && this.#stream?.begun !== true && !(error instanceof HTTPError && error.status === 429)) this.#setUnreachable();
    } finally {
      clearTimeout(late);
      if (this.#polling === abort) this.#polling = null;
    }
  }

  #query(place: Place): NearbyQuery {
    return { place, radius, networks: this.#state.settings.get().networks };
  }

  #requestOptions(signal: AbortSignal, isStream: boolean): RequestOptions {
    return {
      signal,
      onResponse: (answer) => {
        this.#budget.observe(answer, isStream);
      },
    };
  }

  #apply(data: NearbyData): void {
    const before = this.#data;
    this.#data = data;
    this.#state.truncated.set(data.truncated);
    this.#state.hidden.set(data.hidden);
    if (data.entities !== before.entities) this.#state.known.set([...data.entities.values()]);
    if (data.health !== before.health) this.#state.health.set(data.health);
  }

  #setClock(fetched: string, asked: number, received: number): void {
    this.#state.clock.set(adjustClock(this.#state.clock.get(), fetched, asked, received));
  }

  #setReachable(how: "live" | "polling", now: number): void {
    this.#reachedAt = now;
    if (this.#state.connection.get()?.how !== how) this.#setConnection({ how, since: now });
  }

  #setUnreachable(): void {
    if (this.#state.connection.get()?.how !== "lost") this.#setConnection({ how: "lost", since: this.#reachedAt });
  }

  #setConnection(connection: Connection): void {
    this.#state.connection.set(connection);
  }
}
