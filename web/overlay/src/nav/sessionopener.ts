// Opens the sessions of a drive, one after the other, and reads their events. opening.ts decides when, and with which wish.

import type { Place } from "../geo/geo.ts";
import { TooSoon, type NavigationAPI } from "./api.ts";
import { noOpening, step, type Opening, type OpeningEvent, type Wish } from "./opening.ts";
import { SessionLink } from "./sessionlink.ts";
import type { Route, RouteOptions, SessionEvent } from "./types.ts";

/** Asked is the content of a request for a session, besides the wish. */
export interface Asked {
  /** The first one is where the car is. */
  stops: readonly Place[];
  options: RouteOptions;
  /** Places that the route leads over without stopping. */
  via: readonly Place[];
}

/** DriveOfSessions is the drive for which sessions are opened. */
export interface DriveOfSessions {
  /** asks returns the content of a request at this moment; null: the car's place is unknown. */
  asks(wish: Wish): Asked | null;
  /** onOpened receives the route of a new session. */
  onOpened(route: Route, wish: Wish): void;
  /** onFailed receives the error when a session could not be opened; another attempt follows. */
  onFailed(error: unknown, wish: Wish): void;
  onEvent(event: SessionEvent): void;
}

/** SessionOpener opens the sessions of a drive. */
export class SessionOpener {
  readonly #api: NavigationAPI;
  readonly #drive: DriveOfSessions;
  #opening: Opening = noOpening;
  #link: SessionLink | null = null;
  /** The request of a session that is being opened. */
  #request: AbortController | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(api: NavigationAPI, drive: DriveOfSessions) {
    this.#api = api;
    this.#drive = drive;
  }

  /** link is the open session; null: none. */
  get link(): SessionLink | null {
    return this.#link;
  }

  /** ask opens a session immediately. */
  ask(wish: Partial<Wish>): void {
    this.#step({ name: "ask", wish });
  }

  /** want opens a session, or adds to the request that is under way. */
  want(wish: Partial<Wish>): void {
    this.#step({ name: "want", wish });
  }

  /** placeKnown sends a request that waited for the car's place. */
  placeKnown(): void {
    this.#step({ name: "place" });
  }

  /** online retries immediately, when the network has returned. */
  online(): void {
    this.#link?.reconnect();
    this.#step({ name: "online" });
  }

  /** lose opens another session in place of one that the service no longer knows. */
  lose(id: string, isMoved: boolean): void {
    this.#closeLink();
    this.#step({ name: "lost", id, isMoved, now: performance.now(), random: Math.random() });
  }

  /** end ends the session and withdraws a request. */
  end(): void {
    this.#step({ name: "ended" });
    this.#closeLink();
  }

  /** #step reduces an event and executes its effects. */
  #step(event: OpeningEvent): void {
    const [next, effects] = step(this.#opening, event);
    this.#opening = next;
    for (const effect of effects) {
      switch (effect.do) {
        case "cancel":
          clearTimeout(this.#retry);
          this.#request?.abort();
          break;
        case "wait":
          clearTimeout(this.#retry);
          this.#retry = setTimeout(() => {
            this.#step({ name: "due" });
          }, effect.milliseconds);
          break;
        case "open":
          void this.#open(effect.wish);
      }
    }
  }

  async #open(wish: Wish): Promise<void> {
    const asked = this.#drive.asks(wish);
    if (asked === null) {
      this.#step({ name: "placeless" });
      return;
    }
    const request = (this.#request = new AbortController());
    this.#closeLink();
    try {
      const { chosen, resumes } = wish;
      const session = await this.#api.openSession(asked.stops, asked.options, { chosen, via: asked.via, resumes }, request.signal);
      if (request.signal.aborted) {
        this.#api.endSession(session.id).catch(() => undefined);
        return;
      }
      const taken = this.#opening.wish ?? wish; // with what was added meanwhile
      this.#step({ name: "opened", now: performance.now() });
      this.#link = this.#connect(session.id);
      this.#drive.onOpened(session.route, taken);
    } catch (error) {
      if (request.signal.aborted) return;
      this.#drive.onFailed(error, this.#opening.wish ?? wish);
      this.#step({ name: "failed", random: Math.random(), wait: error instanceof TooSoon ? error.wait * 1000 : null });
    }
  }

  /** #connect reads the events of a session. */
  #connect(id: string): SessionLink {
    return new SessionLink(this.#api, id, {
      onEvent: (event) => {
        this.#drive.onEvent(event);
      },
      onLost: (isMoved) => {
        this.lose(id, isMoved);
      },
    });
  }

  #closeLink(): void {
    this.#link?.close();
    this.#link = null;
  }
}
