// Opens the sessions of a drive, one after the other, and reads their events. opening.ts decides when, and with what.

import type { Place } from "../geo/geo.ts";
import { TooSoon, type NavigationAPI } from "./api.ts";
import { noOpening, step, type Opening, type OpeningEvent, type Wish } from "./opening.ts";
import { SessionLink } from "./sessionlink.ts";
import type { Route, RouteOptions, SessionEvent } from "./types.ts";

/** Asked is what a session is asked for, beside the wish. */
export interface Asked {
  /** The first one is where the car is. */
  stops: readonly Place[];
  options: RouteOptions;
  /** Places that the route leads over without stopping. */
  via: readonly Place[];
}

/** DriveOfSessions is the drive that sessions are opened for. */
export interface DriveOfSessions {
  /** asks returns what is asked for at this moment; null: the car's place is unknown. */
  asks(wish: Wish): Asked | null;
  /** onOpened is told the route of a session. */
  onOpened(route: Route, wish: Wish): void;
  /** onFailed is told why a session could not be opened; it is tried again. */
  onFailed(error: unknown, wish: Wish): void;
  onEvent(event: SessionEvent): void;
}

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

  /** link is the session that there is; null: none. */
  get link(): SessionLink | null {
    return this.#link;
  }

  /** ask has a session opened immediately. */
  ask(wish: Partial<Wish>): void {
    this.#step({ name: "ask", wish });
  }

  /** want has a session opened, or adds to what is asked for already. */
  want(wish: Partial<Wish>): void {
    this.#step({ name: "want", wish });
  }

  /** placeKnown says that the car's place is known. */
  placeKnown(): void {
    this.#step({ name: "place" });
  }

  /** online says that there is a network again. */
  online(): void {
    this.#link?.reconnect();
    this.#step({ name: "online" });
  }

  /** lose has another session opened in place of one that the service does not know any more. */
  lose(id: string, isMoved: boolean): void {
    this.#closeLink();
    this.#step({ name: "lost", id, isMoved, now: performance.now(), random: Math.random() });
  }

  /** end ends the session, and what is asked for. */
  end(): void {
    this.#step({ name: "ended" });
    this.#closeLink();
  }

  /** #step takes what happened, and does what follows. */
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
