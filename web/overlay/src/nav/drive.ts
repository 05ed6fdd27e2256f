// Leads along a route: opens the session, follows the car's progress and takes new routes.

import type { Guidance } from "../state.ts";
import type { Place } from "../geo.ts";
import type { NavigationAPI } from "./api.ts";
import type { NavigationHost } from "./navigation.ts";
import { routeLineOf } from "./routeline.ts";
import { snapToRoute } from "./snaptoroute.ts";
import type { Led, NavState } from "./state.ts";
import { troubleOf } from "./trouble.ts";
import type { Route, RouteOptions, SessionEvent, Stop } from "./types.ts";

const updateInterval = 1000; // ms
const minHeadingSpeed = 2; // metres per second: a slower car may turn anywhere

/** routeOptionsOf is what the driver wants of a route at this moment. */
export function routeOptionsOf({ state }: NavigationHost, nav: NavState): RouteOptions {
  const pose = state.pose();
  const { language, units } = state.settings.get();
  return { avoid: nav.avoid.get(), heading: (pose?.speed ?? 0) >= minHeadingSpeed ? (pose?.heading ?? null) : null, language, units };
}

export class Drive {
  readonly #host: NavigationHost;
  readonly #nav: NavState;
  readonly #api: NavigationAPI;
  #session: string | null = null;
  #abort: AbortController | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(host: NavigationHost, nav: NavState, api: NavigationAPI) {
    this.#host = host;
    this.#nav = nav;
    this.#api = api;
    host.state.motion.watch(() => {
      this.#update();
    });
  }

  /** start leads along one of nav.routes, which is on the screen immediately; the session is opened meanwhile. */
  start(number: number): void {
    const route = this.#nav.routes.get()[number];
    if (route === undefined) return;
    this.#lead(route, null, []);
    this.#nav.phase.set("led");
    this.#host.state.guidance.set(this.#guidance());
    this.#host.state.following.set(true);
    clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      this.#update();
    }, updateInterval);
    void this.#open(number);
  }

  changeStops(stops: readonly Stop[]): void {
    this.#nav.stops.set(stops);
    this.#nav.destination.set(stops[stops.length - 1] ?? null);
    void this.#open(0);
  }

  decline(): void {
    this.#nav.offer.set(null);
  }

  end(): void {
    const { phase, led, progress, arrivals, offer, trouble, routes, stops, destination, overview } = this.#nav;
    clearInterval(this.#timer);
    this.#abort?.abort();
    if (this.#session !== null) this.#api.endSession(this.#session).catch(() => undefined); // it ends by itself otherwise
    this.#session = null;
    this.#host.state.guidance.set(null);
    phase.set("off");
    led.set(null);
    progress.set(null);
    arrivals.set([]);
    offer.set(null);
    trouble.set(null);
    routes.set([]);
    stops.set([]);
    destination.set(null);
    overview.set(false);
  }

  async #open(chosen: number): Promise<void> {
    const from = this.#place();
    if (from === null) return;
    this.#abort?.abort();
    const abort = (this.#abort = new AbortController());
    try {
      const places = [from, ...this.#nav.stops.get().map(({ place }) => place)];
      const session = await this.#api.openSession(places, routeOptionsOf(this.#host, this.#nav), { chosen }, abort.signal);
      this.#session = session.id;
      await this.#api.events(session.id, (event) => {
        this.#take(event);
      }, () => undefined, abort.signal);
    } catch (error) {
      if (!abort.signal.aborted) this.#nav.trouble.set(troubleOf(error));
    }
  }

  #take(event: SessionEvent): void {
    if (event.name === "route") this.#lead(event.route, null, []);
    if (event.name === "reroute") this.#lead(event.route, event.reason, event.entity_ids);
  }

  #lead(route: Route, reason: Led["reason"], entityIDs: readonly string[]): void {
    this.#nav.progress.set(null);
    this.#nav.led.set({ route, line: routeLineOf(route), reason, entityIDs });
    this.#update();
  }

  #place(): Place | null {
    return this.#host.state.fix.get();
  }

  #update(): void {
    const led = this.#nav.led.get();
    const motion = this.#host.state.motion.get();
    if (led === null || motion === null || this.#nav.phase.get() !== "led") return;
    const before = this.#nav.progress.get();
    const snap = snapToRoute(led.line, motion, { from: (before?.metres ?? 0) - 50, to: (before?.metres ?? 0) + 1000, expected: before?.metres ?? null });
    if (snap === null) return;
    this.#nav.progress.set({ metres: snap.metres, place: snap.place, bearing: snap.bearing, speed: motion.speed ?? 0, isOff: false, offset: snap.offset, isReckoned: false });
    const [total, left] = [led.line.seconds[led.line.seconds.length - 1] ?? 0, led.line.length - snap.metres];
    const seconds = total * (left / Math.max(1, led.line.length));
    this.#nav.arrivals.set([{ metres: left, seconds, at: Date.now() + seconds * 1000 }]);
  }

  #guidance(): Guidance {
    return { pose: (own) => own, zoom: () => null, limit: () => null };
  }
}
