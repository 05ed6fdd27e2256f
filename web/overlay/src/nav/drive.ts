// Leads along a route: dispatches events to drivereducer.ts with their moment, and executes its effects.

import { destination as placeFrom, type Place } from "../geo/geo.ts";
import { serverTime } from "../net/serverclock.ts";
import type { Guidance } from "../state/state.ts";
import type { Observable } from "../browser/observable.ts";
import type { Pose } from "../car/deadreckoning.ts";
import { readStored, store } from "../browser/storage.ts";
import type { NavigationAPI } from "./api.ts";
import type { NavigationHost } from "./deps.ts";
import { initialDrive, minHeadingSpeed, startOf, step, viaOf, type DriveEffect, type DriveHappening, type DriveState, type Moment } from "./drivereducer.ts";
import { keptDriveKey } from "./keptdrivekey.ts";
import { ledZoom } from "./ledcamera.ts";
import { aheadAt, limitAt } from "./maneuver.ts";
import { placeOnRoute } from "./onroute.ts";
import type { Wish } from "./opening.ts";
import { metresAt, reckon, type Track } from "./progress.ts";
import { parseKeptDrive, writeKeptDrive } from "./resume.ts";
import { SessionOpener, type Asked } from "./sessionopener.ts";
import type { Led, NavState } from "./state.ts";
import { troubleOf } from "./trouble.ts";
import type { Avoided, Route, RouteOptions, Stop } from "./types.ts";

const tickInterval = 1000; // ms
const straightOnDistance = 450; // metres straight on, where turning back is compared with going on

/** routeOptionsOf returns the driver's options for a route at this moment. */
export function routeOptionsOf({ state }: NavigationHost, nav: NavState): RouteOptions {
  const pose = state.pose();
  const { language, units } = state.settings.get();
  return { avoid: nav.avoid.get(), heading: (pose?.speed ?? 0) >= minHeadingSpeed ? (pose?.heading ?? null) : null, language, units };
}

/** Drive connects the reducer of a drive to the page, the browser and the service. */
export class Drive {
  readonly #host: NavigationHost;
  readonly #nav: NavState;
  readonly #api: NavigationAPI;
  readonly #sessions: SessionOpener;
  #drive: DriveState = initialDrive;
  /** Events that wait until the effects of another one are executed. */
  readonly #waiting: DriveHappening[] = [];
  #isExecuting = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(host: NavigationHost, nav: NavState, api: NavigationAPI) {
    this.#host = host;
    this.#nav = nav;
    this.#api = api;
    this.#sessions = new SessionOpener(api, {
      asks: (wish) => this.#asks(wish),
      onOpened: (route, wish) => {
        this.#dispatch({ name: "opened", route, wish });
      },
      onFailed: (error, wish) => {
        this.#dispatch({ name: "failed", trouble: troubleOf(error), wish });
      },
      onEvent: (event) => {
        this.#dispatch({ name: "session", event });
      },
    });
    host.state.motion.watch(() => {
      this.#dispatch({ name: "fix" });
    });
    window.addEventListener("online", () => {
      this.#sessions.online();
    });
  }

  /** start leads along one of nav.routes. */
  start(chosen: number): void {
    const route = this.#nav.routes.get()[chosen];
    if (route !== undefined) this.#dispatch({ name: "start", route, chosen });
  }

  /** resume leads to the stops of a drive that was kept, or asks whether to. */
  resume(): void {
    this.#dispatch({ name: "resume", kept: parseKeptDrive(readStored(keptDriveKey)) });
  }

  /** resumeTo leads over stops before a route is known. */
  resumeTo(stops: readonly Stop[], avoid: readonly Avoided[]): void {
    this.#dispatch({ name: "resumeTo", stops, avoid });
  }

  /** forget removes the drive that was kept. */
  forget(): void {
    this.#dispatch({ name: "forget" });
  }

  /** changeStops leads over other stops from where the car is. */
  changeStops(stops: readonly Stop[]): void {
    this.#dispatch({ name: "changeStops", stops });
  }

  /** decline keeps the present route instead of the one that is offered. */
  decline(): void {
    this.#dispatch({ name: "decline" });
  }

  /** accept takes the better route that is offered. */
  accept(): void {
    this.#dispatch({ name: "accept" });
  }

  /** end ends the drive, or the choice. */
  end(): void {
    this.#dispatch({ name: "end" });
  }

  /** #dispatch reduces an event and executes its effects, after those of an event that is under way. */
  #dispatch(happening: DriveHappening): void {
    this.#waiting.push(happening);
    if (this.#isExecuting) return;
    this.#isExecuting = true;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        const [drive, effects] = step(this.#drive, { ...next, at: this.#moment() });
        this.#drive = drive;
        for (const effect of effects) this.#execute(effect);
      }
    } finally {
      this.#isExecuting = false;
    }
  }

  #moment(): Moment {
    const { phase, stops, avoid, destination } = this.#nav;
    const { state, clock } = this.#host;
    const [now, wallClock] = [performance.now(), Date.now()];
    return {
      now,
      wallClock,
      driveClock: clock(),
      serverTime: serverTime(state.clock.get(), now, wallClock),
      fix: state.motion.get(),
      session: this.#sessions.link?.id ?? null,
      phase: phase.get(),
      stops: stops.get(),
      avoid: avoid.get(),
      destination: destination.get(),
    };
  }

  #execute(effect: DriveEffect): void {
    switch (effect.do) {
      case "show":
        for (const [name, value] of Object.entries(effect.shown)) (this.#nav[name as keyof NavState] as Observable<unknown>).set(value);
        return;
      case "guide":
        this.#guide();
        return;
      case "stop":
        clearInterval(this.#timer);
        this.#sessions.end();
        this.#host.state.guidance.set(null);
        return;
      case "keep":
        store(keptDriveKey, writeKeptDrive({ stops: this.#nav.stops.get(), avoid: this.#nav.avoid.get(), at: Date.now() }));
        return;
      case "forget":
        store(keptDriveKey, null);
        return;
      case "ask":
        this.#sessions.ask(effect.wish);
        return;
      case "want":
        this.#sessions.want(effect.wish);
        return;
      case "place":
        this.#sessions.placeKnown();
        return;
      case "lose":
        this.#sessions.lose(effect.session, false);
        return;
      case "position":
        void this.#sendPosition(effect);
        return;
      case "search":
        void this.#search(effect);
        return;
      case "compare":
        void this.#compare(effect);
    }
  }

  #guide(): void {
    const { state } = this.#host;
    state.guidance.set(this.#guidance());
    state.selected.set(null);
    state.following.set(true);
    this.#timer = setInterval(() => {
      this.#dispatch({ name: "tick" });
    }, tickInterval);
  }

  /** #asks returns the content of a request for a session from the car's place; null: the place is unknown. */
  #asks(wish: Wish): Asked | null {
    const from = startOf(this.#drive, this.#moment());
    if (from === null) {
      this.#dispatch({ name: "placeless" });
      return null;
    }
    this.#dispatch({ name: "asking", wish });
    const stops = this.#nav.stops.get();
    return { stops: [from.place, ...stops.map(({ place }) => place)], options: { ...routeOptionsOf(this.#host, this.#nav), heading: from.heading }, via: viaOf(this.#drive, stops) };
  }

  async #sendPosition({ session, from, speed }: Extract<DriveEffect, { do: "position" }>): Promise<void> {
    const { link } = this.#sessions;
    if (link?.id !== session) return;
    const answer = await link.position({ ...from, speed });
    this.#dispatch({ name: "positioned", session, answer });
  }

  async #search({ session, from, speed, led }: Extract<DriveEffect, { do: "search" }>): Promise<void> {
    const { link } = this.#sessions;
    const answer = link?.id !== session ? { how: "failed" as const } : await link.position({ ...from, speed });
    this.#dispatch({ name: "searched", led, from, session, answer });
  }

  /** #compare finds a route that goes straight on first; without one, turning back leads there, too. */
  async #compare({ led, back, from: { place, heading } }: Extract<DriveEffect, { do: "compare" }>): Promise<void> {
    const stops: Place[] = [place, placeFrom(place, heading, straightOnDistance), ...this.#nav.stops.get().map((one) => one.place)];
    let onward: Route | null = null;
    try {
      const { routes } = await this.#api.routes(stops, { ...routeOptionsOf(this.#host, this.#nav), heading }, undefined, [1]);
      onward = routes[0] ?? null;
    } catch {
      // without an answer, the route that turns back is led
    }
    this.#dispatch({ name: "compared", led, back, onward });
  }

  #guidance(): Guidance {
    const current = (): { led: Led; track: Track; now: number } | null => {
      const { led, track } = this.#drive;
      return led === null || track === null ? null : { led, track, now: this.#host.clock() };
    };
    return {
      pose: (own: Pose | null) => {
        const at = current();
        if (at === null || own === null || at.track.off !== null) return own;
        const { place, bearing, isReckoned } = reckon(at.led.line, at.track, at.now);
        return { ...place, heading: bearing, speed: at.track.speed, accuracy: own.accuracy, held: isReckoned };
      },
      zoom: () => {
        const at = current();
        if (at === null) return null;
        return ledZoom(at.track.speed, aheadAt(at.led.line, metresAt(at.led.line, at.track, at.now)).next?.distance ?? null);
      },
      limit: () => {
        const at = current();
        return at?.track.off === null ? limitAt(at.led.line, metresAt(at.led.line, at.track, at.now)) : null;
      },
      along: (pin) => {
        const at = current();
        return at?.track.off === null ? placeOnRoute(at.led.line, metresAt(at.led.line, at.track, at.now), pin) : undefined;
      },
      session: () => this.#sessions.link?.id ?? null,
    };
  }
}
