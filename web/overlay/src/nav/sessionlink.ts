// The connection to a session: its events, and the positions that the page sends. It does not interpret routes.

import { HTTPError } from "../net/api.ts";
import { backoff } from "../net/reconnect.ts";
import type { NavigationAPI } from "./api.ts";
import type { Route, SessionEvent } from "./types.ts";

type Position = Parameters<NavigationAPI["position"]>[1];

/** The service sends a heartbeat every 20 seconds. */
const silenceTimeout = 45_000;
const positionTimeout = 5000;
/** The first retry comes within a second, by chance, because a node that stops cuts many streams. */
const firstRetry = 500; // ms

/** Listener receives the events of a session. */
export interface Listener {
  onEvent(event: SessionEvent): void;
  /** onLost is called when the service no longer knows the session, or when its node stops and hands the driver over. */
  onLost(isMoved: boolean): void;
}

/** PositionAnswer is the outcome of a position: "sent", a new route, "lost" if the session has ended, or "failed". */
export type PositionAnswer = { how: "sent" | "lost" | "failed" } | { how: "route"; route: Route };

/** SessionLink reads the events of a session until it is closed. */
export class SessionLink {
  readonly id: string;
  readonly #api: NavigationAPI;
  readonly #listener: Listener;
  readonly #closing = new AbortController();
  #stream: AbortController | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #silence: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  constructor(api: NavigationAPI, id: string, listener: Listener) {
    this.#api = api;
    this.id = id;
    this.#listener = listener;
    void this.#read();
  }

  /** position never fails. */
  async position(position: Position): Promise<PositionAnswer> {
    const abort = new AbortController();
    const timeout = setTimeout(() => {
      abort.abort();
    }, positionTimeout);
    try {
      const route = await this.#api.position(this.id, position, abort.signal);
      return route === null ? { how: "sent" } : { how: "route", route };
    } catch (error) {
      return { how: isUnknown(error) ? "lost" : "failed" };
    } finally {
      clearTimeout(timeout);
    }
  }

  /** reconnect reads the events again immediately, when the connection may be back. */
  reconnect(): void {
    if (this.#closing.signal.aborted || this.#retry === undefined) return;
    void this.#read();
  }

  /** close ends the session, too. */
  close(): void {
    if (!this.#leave()) return;
    this.#api.endSession(this.id).catch(() => undefined); // without a connection it ends by itself
  }

  /** #leave stops reading, and reports whether it was read until now. */
  #leave(): boolean {
    if (this.#closing.signal.aborted) return false;
    this.#closing.abort();
    this.#stream?.abort();
    clearTimeout(this.#retry);
    clearTimeout(this.#silence);
    return true;
  }

  #lose(isMoved: boolean): void {
    if (this.#leave()) this.#listener.onLost(isMoved);
  }

  async #read(): Promise<void> {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const stream = (this.#stream = new AbortController());
    const listen = (): void => {
      clearTimeout(this.#silence);
      this.#silence = setTimeout(() => {
        stream.abort();
      }, silenceTimeout);
    };
    listen();
    try {
      await this.#api.events(this.id, (event) => {
        this.#failures = 0;
        if (this.#closing.signal.aborted) return;
        if (event.name === "moved") this.#lose(true);
        else this.#listener.onEvent(event);
      }, listen, stream.signal);
    } catch (error) {
      if (isUnknown(error)) this.#lose(false);
    }
    clearTimeout(this.#silence);
    if (this.#closing.signal.aborted) return;
    this.#failures++;
    this.#retry = setTimeout(() => {
      void this.#read();
    }, this.#failures === 1 ? firstRetry * (1 + Math.random()) : backoff(this.#failures, Math.random()));
  }
}

const isUnknown = (error: unknown): boolean => error instanceof HTTPError && error.status === 404;
