// Keeps what is near up to date: by a stream of the service's news, and by asking where there is none. When to do what is
// decided in decay.ts (tries, sleep) and tokenbucket.ts (requests), and below.

import { getNearby, openStream, queryOf, HTTPError, type NearbyQuery, type RequestOptions } from "./api.ts";
import { broken, hasSlept, heard, linked, mayTry, unlinked, woken, type Link, type Tick } from "./decay.ts";
import { distance, type Place } from "./geo.ts";
import { answered, noNews, told, type News } from "./news.ts";
import type { RequestBudget } from "./requestbudget.ts";
import { feed, nothingRead } from "./sse.ts";
import type { Connection, State } from "./state.ts";

/** Metres around the driver that are read. */
const radius = 10_000;
/** A new circle is read when the driver has left the middle of the old one by so many metres. */
const leftAfter = radius / 3;

const tickEvery = 500; // ms
/** The service gives a sign of life within 25 seconds. */
const silentAfter = 40_000;
const connectWithin = 15_000;
const answerWithin = 10_000;
const pollEvery = 10_000;
const pollAtMost = 3000;
const pollMoved = 500; // metres
const reservedRequests = 4; // requests

/** pollDue says whether to ask where no news come; last is when and where it was asked, null: never. */
export function pollDue(now: number, here: Place, last: { at: number; place: Place } | null): boolean {
  if (last === null) return true;
  const passed = now - last.at;
  return passed >= pollEvery || (passed >= pollAtMost && distance(here, last.place) >= pollMoved);
}

/** Clocks is where the time comes from. */
export interface Clocks {
  /** Milliseconds, never jumps: performance.now. */
  mono: () => number;
  /** Milliseconds since 1970, as the car believes: Date.now. */
  wall: () => number;
}

/** Following is one stream that is open, or being opened. */
interface Following {
  query: string;
  middle: Place;
  networks: readonly string[] | null;
  abort: AbortController;
  /** When something came last, or when it was asked for. */
  heardAt: number;
  /** Something came. */
  begun: boolean;
}

/** Upkeep keeps state.known, health, connection and clock. */
export class Upkeep {
  readonly #state: State;
  readonly #budget: RequestBudget;
  readonly #clocks: Clocks;
  #link: Link = unlinked;
  #stream: Following | null = null;
  /** How to go on with the stream that was there before. */
  #resume = { query: "", id: "" };
  #news: News = noNews;
  #polled: { at: number; place: Place } | null = null;
  #polling: AbortController | null = null;
  #tick: Tick;
  /** When the service was last heard of. */
  #heardAt: number;

  constructor(state: State, budget: RequestBudget, clocks: Clocks) {
    this.#state = state;
    this.#budget = budget;
    this.#clocks = clocks;
    this.#tick = { mono: clocks.mono(), wall: clocks.wall() };
    this.#heardAt = clocks.mono();
  }

  /** start goes on until the page is closed. */
  start(): void {
    setInterval(() => {
      this.look();
    }, tickEvery);
    for (const event of ["online", "pageshow"]) {
      window.addEventListener(event, (what) => {
        if (what instanceof PageTransitionEvent && !what.persisted) return; // the page has only just begun
        this.#wake();
        this.look();
      });
    }
    document.addEventListener("visibilitychange", () => {
      this.look();
    });
    this.#state.fix.watch(() => {
      if (this.#stream === null && this.#polled === null) this.look(); // the first fix
    });
  }

  /** reread asks at once, for what the driver has just changed. */
  reread(): void {
    const place = this.#state.fix.get();
    if (place !== null && this.#stream?.begun !== true && this.#polling === null && this.#budget.tryTake()) void this.#poll(place);
  }

  /** look does what is due. */
  look(): void {
    const tick = { mono: this.#clocks.mono(), wall: this.#clocks.wall() };
    if (hasSlept(this.#tick, tick)) this.#wake();
    this.#tick = tick;
    const place = this.#state.fix.get();
    if (place === null) return;
    this.#check(tick.mono, place);
    if (this.#stream === null && mayTry(this.#link, tick.mono) && this.#budget.tryTake()) void this.#follow(place);
    const tried = this.#link.failures > 0 || this.#link.lostSince !== null;
    if (this.#stream?.begun !== true && tried && this.#polling === null && pollDue(tick.mono, place, this.#polled) && this.#budget.tryTake(reservedRequests)) {
      void this.#poll(place);
    }
  }

  /** check gives up a stream that is silent or about another place. */
  #check(now: number, place: Place): void {
    const stream = this.#stream;
    if (stream === null) return;
    if (now - stream.heardAt > (stream.begun ? silentAfter : connectWithin)) {
      this.#drop();
      this.#link = broken(this.#link, now, Math.random(), null);
    } else if (distance(place, stream.middle) > leftAfter || stream.networks !== this.#state.settings.get().networks) {
      this.#drop();
      this.#link = { ...this.#link, upSince: null, tryAt: now };
    }
  }

  #wake(): void {
    this.#drop();
    this.#polling?.abort();
    this.#polling = null;
    this.#polled = null;
    this.#link = woken(this.#link);
  }

  #drop(): void {
    this.#stream?.abort.abort();
    this.#stream = null;
  }

  async #follow(place: Place): Promise<void> {
    const nearby = this.#query(place);
    const query = queryOf(nearby);
    const asked = this.#clocks.mono();
    const mine: Following = { query, middle: place, networks: nearby.networks, abort: new AbortController(), heardAt: asked, begun: false };
    this.#stream = mine;
    let retryAfter: number | null = null;
    try {
      await this.#listen(mine, asked);
    } catch (error) {
      if (error instanceof HTTPError) retryAfter = error.retryAfter;
    }
    if (this.#stream !== mine) return; // it was given up for another one
    this.#stream = null;
    this.#link = broken(this.#link, this.#clocks.mono(), Math.random(), retryAfter);
    this.#polled = null; // to know at once whether the service is there
    this.look();
  }

  /** listen returns when the service ends the stream. */
  async #listen(mine: Following, asked: number): Promise<void> {
    const resumed = this.#resume.query === mine.query;
    const reader = await openStream(mine.query, resumed ? this.#resume.id : "", this.#requestOptions(mine.abort.signal, true));
    const text = new TextDecoder();
    let reading = nothingRead;
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.#stream !== mine) return;
      const fed = feed(reading, text.decode(value, { stream: true }));
      reading = fed.reading;
      mine.heardAt = this.#clocks.mono();
      if (!mine.begun) {
        if (fed.events.length === 0) continue; // a snapshot comes in pieces
        mine.begun = true;
        this.#link = linked(this.#link, mine.heardAt);
      }
      this.#heard("live", mine.heardAt);
      const before = this.#news.fetched;
      if (fed.events.length > 0) this.#take(told(this.#news, fed.events));
      if (this.#news.fetched !== null && this.#news.fetched !== before) this.#setClock(this.#news.fetched, asked, mine.heardAt);
      if (reading.id !== "") this.#resume = { query: mine.query, id: reading.id };
    }
  }

  async #poll(place: Place): Promise<void> {
    const asked = this.#clocks.mono();
    const abort = new AbortController();
    const late = setTimeout(() => {
      abort.abort();
    }, answerWithin);
    this.#polling = abort;
    this.#polled = { at: asked, place };
    try {
      const answer = await getNearby(queryOf(this.#query(place)), this.#requestOptions(abort.signal, false));
      if (this.#polling !== abort || this.#stream?.begun === true) return;
      const received = this.#clocks.mono();
      this.#resume = { query: "", id: "" }; // what the stream sent before is not what is known now
      this.#take(answered(answer));
      this.#setClock(answer.fetched_at_utc, asked, received);
      this.#heard("polling", received);
    } catch (error) {
      // A service that says no is there.
      if (this.#polling === abort && this.#stream?.begun !== true && !(error instanceof HTTPError && error.status === 429)) this.#lose();
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

  #take(news: News): void {
    const before = this.#news;
    this.#news = news;
    this.#state.truncated.set(news.truncated);
    this.#state.hidden.set(news.hidden);
    if (news.entities !== before.entities) this.#state.known.set([...news.entities.values()]);
    if (news.health !== before.health) this.#state.health.set(news.health);
  }

  #setClock(fetched: string, asked: number, received: number): void {
    this.#state.clock.set(heard(this.#state.clock.get(), fetched, asked, received));
  }

  #heard(how: "live" | "polling", now: number): void {
    this.#heardAt = now;
    if (this.#state.connection.get()?.how !== how) this.#connect({ how, since: now });
  }

  #lose(): void {
    if (this.#state.connection.get()?.how !== "lost") this.#connect({ how: "lost", since: this.#heardAt });
  }

  #connect(connection: Connection): void {
    this.#state.connection.set(connection);
  }
}
