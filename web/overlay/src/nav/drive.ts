// Leads along a route: follows the car, asks the service, and takes new routes. Every decision is a pure function of another module.

import { destination as placeFrom, type Place } from "../geo/geo.ts";
import { serverTime } from "../net/serverclock.ts";
import type { Guidance } from "../state/state.ts";
import type { Pose } from "../car/deadreckoning.ts";
import { readStored, store } from "../browser/storage.ts";
import type { NavigationAPI } from "./api.ts";
import { reachedLeg } from "./arrival.ts";
import { keptDriveKey } from "./keptdrivekey.ts";
import { changeRoute, factorOf, initialPace, keepPace, stopsAhead, type Pace } from "./eta.ts";
import { ledZoom } from "./ledcamera.ts";
import { aheadAt, limitAt } from "./maneuver.ts";
import type { NavigationHost } from "./deps.ts";
import { placeOnRoute } from "./onroute.ts";
import { takingOf, type Wish } from "./opening.ts";
import { beginTrack, drivenAt, follow, isOff, metresAt, reckon, type Track, type TrackedFix } from "./progress.ts";
import { blockedBy, endsWithRest, isInJunction, isSameWay, prefersGoingOn, turnsBackAtOnce } from "./reroute.ts";
import { parseKeptDrive, resumptionOf, writeKeptDrive } from "./resume.ts";
import { placeAt, routeLineOf, secondsAt } from "./routeline.ts";
import { SessionOpener, type Asked } from "./sessionopener.ts";
import type { Led, NavState } from "./state.ts";
import { troubleOf } from "./trouble.ts";
import type { Avoided, Route, RouteOptions, SessionEvent, Stop } from "./types.ts";

const updateInterval = 1000; // ms
const positionInterval = 10_000; // ms between two positions that the service is told on the route
const retryOffInterval = 3000; // ms between two attempts to find a route for a car that left its own
const keepInterval = 60_000; // ms
const offerDuration = 10_000; // ms
const minHeadingSpeed = 2; // metres per second: a slower car may turn anywhere
const straightOnDistance = 450; // metres straight on, where turning back is compared with going on
const pins = 4; // places that hold a route which the driver chose against a better one
const maxSleep = 30 * 60_000; // ms

/** routeOptionsOf is what the driver wants of a route at this moment. */
export function routeOptionsOf({ state }: NavigationHost, nav: NavState): RouteOptions {
  const pose = state.pose();
  const { language, units } = state.settings.get();
  return { avoid: nav.avoid.get(), heading: (pose?.speed ?? 0) >= minHeadingSpeed ? (pose?.heading ?? null) : null, language, units };
}

/** Pending is a new route that waits until no junction is near. */
interface Pending {
  route: Route;
  reason: Led["reason"];
  entityIDs: readonly string[];
}

export class Drive {
  readonly #host: NavigationHost;
  readonly #nav: NavState;
  readonly #api: NavigationAPI;
  readonly #sessions: SessionOpener;
  #timer: ReturnType<typeof setInterval> | undefined;
  #track: Track | null = null;
  #pace: Pace = initialPace;
  /** Of the service on the planned time. */
  #factor = 1;
  /** The first leg of the route whose stop is not reached. */
  #leg = 0;
  #pending: Pending | null = null;
  /** The driver declined a better way: the session is held on the present one. */
  #isPinned = false;
  #sentAt = -Infinity;
  #searchedAt = -Infinity;
  #keptAt = -Infinity;
  #tickedAt = 0; // Date.now
  #hasSlept = false;

  constructor(host: NavigationHost, nav: NavState, api: NavigationAPI) {
    this.#host = host;
    this.#nav = nav;
    this.#api = api;
    this.#sessions = new SessionOpener(api, {
      asks: (wish) => this.#asks(wish),
      onOpened: (route, wish) => {
        this.#takeOpened(route, wish);
      },
      onFailed: (error, { adopts }) => {
        nav.isSearching.set(false);
        if (nav.led.get() === null || adopts) nav.trouble.set(troubleOf(error));
      },
      onEvent: (event) => {
        this.#take(event);
      },
    });
    host.state.motion.watch(() => {
      if (nav.phase.get() !== "led") return;
      if (this.#fix() !== null) this.#sessions.placeKnown();
      this.#update();
    });
    window.addEventListener("online", () => {
      this.#sessions.online();
    });
  }

  /** start leads along one of nav.routes, which is on the screen immediately; the session is opened meanwhile. */
  start(number: number): void {
    const route = this.#nav.routes.get()[number];
    if (route === undefined) return;
    this.#begin();
    this.#lead(route, null, []);
    this.#sessions.ask({ chosen: number });
  }

  /** resume leads to the stops of a drive that was kept, or asks whether to. */
  resume(): void {
    const kept = parseKeptDrive(readStored(keptDriveKey));
    if (kept === null || this.#nav.phase.get() !== "off") return;
    switch (resumptionOf(kept, Date.now())) {
      case "forget":
        store(keptDriveKey, null);
        return;
      case "ask":
        this.#nav.asking.set(kept);
        return;
      case "resume":
        this.resumeTo(kept.stops, kept.avoid);
    }
  }

  /** resumeTo leads over stops before a route is known. */
  resumeTo(stops: readonly Stop[], avoid: readonly Avoided[]): void {
    this.#nav.asking.set(null);
    this.#nav.avoid.set(avoid);
    this.#nav.stops.set(stops);
    this.#nav.destination.set(stops[stops.length - 1] ?? null);
    this.#begin();
    this.#update();
    this.#sessions.ask({ adopts: true });
  }

  /** forget does not resume the drive that was kept. */
  forget(): void {
    this.#nav.asking.set(null);
    store(keptDriveKey, null);
  }

  changeStops(stops: readonly Stop[]): void {
    const last = stops[stops.length - 1];
    if (last === undefined) return;
    this.#nav.stops.set(stops);
    this.#nav.destination.set(last);
    this.#isPinned = false;
    this.#nav.offer.set(null);
    this.#keep();
    this.#sessions.ask({ adopts: true });
  }

  /** decline keeps the present route, and has the service keep it, too. */
  decline(): void {
    if (this.#nav.offer.get() === null) return;
    this.#nav.offer.set(null);
    this.#isPinned = true;
    this.#sessions.ask({});
  }

  /** accept takes the better way that is offered. */
  accept(): void {
    const offer = this.#nav.offer.get();
    if (offer === null) return;
    this.#nav.offer.set(null);
    this.#pending = { route: offer.route, reason: "faster", entityIDs: [] };
    this.#update();
  }

  /** end ends the drive, or the choice. */
  end(): void {
    this.#stop();
    store(keptDriveKey, null);
    this.#nav.phase.set("off");
    // The next search is not beside the choice of before.
    this.#nav.destination.set(null);
    this.#nav.stops.set([]);
    this.#nav.routes.set([]);
  }

  #begin(): void {
    this.#stop();
    this.#nav.phase.set("led");
    this.#host.state.guidance.set(this.#guidance());
    this.#host.state.selected.set(null);
    this.#host.state.following.set(true);
    this.#tickedAt = Date.now();
    this.#timer = setInterval(() => {
      this.#notice();
      this.#update();
    }, updateInterval);
    this.#keep();
  }

  /** #stop ends all that runs, and leaves the phase and the stops. */
  #stop(): void {
    clearInterval(this.#timer);
    this.#sessions.end();
    [this.#track, this.#pending, this.#pace, this.#factor, this.#leg, this.#isPinned] = [null, null, initialPace, 1, 0, false];
    this.#sentAt = this.#searchedAt = this.#keptAt = -Infinity;
    this.#hasSlept = false;
    const { led, progress, arrivals, offer, trouble, overview, news, blocked, isSearching } = this.#nav;
    this.#host.state.guidance.set(null);
    blocked.set(null);
    led.set(null);
    progress.set(null);
    arrivals.set([]);
    offer.set(null);
    trouble.set(null);
    news.set(null);
    isSearching.set(false);
    overview.set(false);
  }

  /** #lead makes a route the one that is driven. */
  #lead(route: Route, reason: Led["reason"], entityIDs: readonly string[]): void {
    const line = routeLineOf(route);
    const fix = this.#fix();
    this.#track = fix === null ? null : beginTrack(line, fix);
    this.#pace = changeRoute(this.#pace);
    [this.#factor, this.#leg, this.#pending] = [1, 0, null];
    this.#nav.offer.set(null);
    this.#nav.trouble.set(null);
    this.#nav.blocked.set(null);
    this.#nav.isSearching.set(false);
    this.#nav.led.set({ route, line, reason, entityIDs });
    this.#update();
  }

  #fix(): TrackedFix | null {
    return this.#host.state.motion.get();
  }

  /** #from returns where a new route begins: on the present route, or where the car left it. */
  #from(): { place: Place; heading: number | null } | null {
    const fix = this.#fix();
    const led = this.#nav.led.get();
    const now = this.#host.clock();
    const fast = (fix?.speed ?? 0) >= minHeadingSpeed;
    if (led !== null && this.#track !== null && this.#track.off === null) {
      const { place, bearing } = reckon(led.line, this.#track, now);
      return { place, heading: fast ? bearing : null };
    }
    return fix === null ? null : { place: { lat: fix.lat, lng: fix.lng }, heading: fast ? fix.heading : null };
  }

  /** #asks returns what a session is asked for from where the car is; null: that is not known. The present route is led meanwhile. */
  #asks(wish: Wish): Asked | null {
    const from = this.#from();
    if (from === null) return null;
    this.#nav.isSearching.set(this.#nav.led.get() === null || wish.adopts);
    const stops = [from.place, ...this.#nav.stops.get().map(({ place }) => place)];
    return { stops, options: { ...routeOptionsOf(this.#host, this.#nav), heading: from.heading }, via: this.#viaPlaces() };
  }

  #takeOpened(route: Route, wish: Wish): void {
    const led = this.#nav.led.get();
    this.#sentAt = performance.now();
    this.#nav.isSearching.set(false);
    this.#nav.trouble.set(null);
    const isSame = led !== null && isSameWay(led.line, this.#track?.metres ?? 0, routeLineOf(route));
    switch (takingOf(wish, { isSame, isPinned: this.#isPinned, left: led === null ? null : this.#leftOf(led), duration: route.duration })) {
      case "stays":
        return;
      case "leads":
        this.#lead(route, wish.reason, wish.entityIDs);
        return;
      case "offers":
        this.#offer(route, wish.entityIDs);
        return;
      case "follows":
        this.#pend(route, wish.reason, wish.entityIDs);
    }
  }

  /** #leftOf returns the seconds that the rest of the present route takes. */
  #leftOf(led: Led): number {
    return (secondsAt(led.line, led.line.length) - secondsAt(led.line, this.#track?.metres ?? 0)) * this.#factor;
  }

  /** #viaPlaces returns places that hold the service on the present route. */
  #viaPlaces(): Place[] {
    const led = this.#nav.led.get();
    if (!this.#isPinned || led === null || this.#nav.stops.get().length > 1) return [];
    const metres = this.#track?.metres ?? 0;
    return Array.from({ length: pins }, (_, i) => placeAt(led.line, metres + ((led.line.length - metres) * (i + 1)) / (pins + 1)));
  }

  /** #take takes what the service says. */
  #take(event: SessionEvent): void {
    const led = this.#nav.led.get();
    if (led === null) return;
    const metres = this.#track?.metres ?? 0;
    switch (event.name) {
      case "route":
        if (this.#isPinned || this.#nav.offer.get() !== null || endsWithRest(routeLineOf(event.route), led.line, metres)) return;
        if (this.#pending !== null && isSameWay(routeLineOf(this.#pending.route), 0, routeLineOf(event.route))) return; // a session's first
        if (event.reason === "faster") this.#offer(event.route, event.entity_ids); // its event was lost with the stream before
        else this.#pend(event.route, event.reason ?? "left", event.entity_ids);
        return;
      case "reroute":
        if (this.#isPinned) {
          this.#isPinned = false;
          this.#sessions.ask({ adopts: true, reason: event.reason, entityIDs: event.entity_ids });
        } else if (event.reason === "faster") {
          this.#offer(event.route, event.entity_ids);
        } else {
          this.#pend(event.route, event.reason, event.entity_ids);
        }
        return;
      case "eta":
      case "condition":
        if (event.name === "condition") this.#nav.blocked.set(blockedBy(this.#nav.blocked.get(), event.reason, event.entity_ids));
        this.#factor = factorOf(led.line, metres, event.duration_s);
        this.#update();
    }
  }

  /** #pend takes a route as soon as no junction is near. */
  #pend(route: Route, reason: Led["reason"], entityIDs: readonly string[]): void {
    this.#nav.offer.set(null);
    this.#pending = { route, reason, entityIDs };
    this.#update();
  }

  #offer(route: Route, entityIDs: readonly string[]): void {
    const led = this.#nav.led.get();
    if (led === null) return;
    this.#nav.offer.set({ route, line: routeLineOf(route), entityIDs, gain: Math.max(0, this.#leftOf(led) - route.duration), until: performance.now() + offerDuration });
  }

  /** #notice notices that the browser slept for so long that the driver may be elsewhere with other plans. */
  #notice(): void {
    const now = Date.now();
    if (now - this.#tickedAt > maxSleep) this.#hasSlept = true; // or the clock was set, which the next fix tells
    this.#tickedAt = now;
  }

  /** #update takes the latest fix, and the time that has passed without one. */
  #update(): void {
    const led = this.#nav.led.get();
    const fix = this.#fix();
    if (led === null || fix === null || this.#nav.phase.get() !== "led") return;
    const now = this.#host.clock();
    const before = this.#track;
    this.#track = before === null ? beginTrack(led.line, fix) : follow(led.line, before, fix);
    if (this.#track === null) return;
    if (this.#hasSlept && this.#track !== before) {
      this.#hasSlept = false;
      if (this.#track.off !== null) {
        this.#askAgain();
        return;
      }
    }
    this.#show(led, this.#track, now);
    if (this.#reach(led, this.#track, now)) return;
    if (this.#takePending(led, this.#track, now)) return;
    if (isOff(this.#track, now)) void this.#searchAgain();
    else this.#tell(led, this.#track, now);
    if (performance.now() - this.#keptAt >= keepInterval) this.#keep();
  }

  #askAgain(): void {
    const [stops, avoid] = [this.#nav.stops.get(), this.#nav.avoid.get()];
    this.#stop();
    this.#nav.phase.set("off");
    this.#nav.asking.set({ stops, avoid, at: 0 });
  }

  #show(led: Led, track: Track, now: number): void {
    const { metres, place, bearing, isReckoned } = reckon(led.line, track, now);
    this.#nav.progress.set({ metres, driven: drivenAt(led.line, track, now), place, bearing, speed: track.speed, isOff: isOff(track, now), offset: track.off === null ? 0 : track.snap.offset, nearest: track.snap.place, isReckoned });
    if (track.off === null) this.#pace = keepPace(this.#pace, secondsAt(led.line, metres), now);
    const { clock } = this.#host.state;
    const time = serverTime(clock.get(), performance.now(), Date.now());
    this.#nav.arrivals.set(stopsAhead(led.line, metres, this.#pace, this.#factor).map((stop) => ({ ...stop, at: time + stop.seconds * 1000 })));
  }

  /** #reach reports whether the destination is reached. */
  #reach(led: Led, track: Track, now: number): boolean {
    if (track.off !== null) return false;
    const reached = reachedLeg(led.line, metresAt(led.line, track, now), track.speed, this.#leg);
    if (reached < this.#leg) return false;
    const stops = this.#nav.stops.get();
    const passed = reached + 1 - this.#leg;
    this.#leg = reached + 1;
    if (this.#leg < led.line.legEnds.length) {
      this.#nav.stops.set(stops.slice(Math.min(passed, stops.length - 1)));
      this.#keep();
      return false;
    }
    const [destination, arrived] = [this.#nav.destination.get(), this.#nav.led.get()];
    this.#stop();
    store(keptDriveKey, null);
    this.#nav.arrived.set(destination === null || arrived === null ? null : { destination, line: arrived.line });
    this.#nav.phase.set("arrived");
    return true;
  }

  /** #takePending takes a new route unless a junction is near, and a better one when its offer ends. It reports whether it did. */
  #takePending(led: Led, track: Track, now: number): boolean {
    const offer = this.#nav.offer.get();
    if (offer !== null && this.#pending === null && performance.now() >= offer.until) this.#pending = { route: offer.route, reason: "faster", entityIDs: offer.entityIDs };
    if (this.#pending === null) return false;
    const { route, reason, entityIDs } = this.#pending;
    if (track.off === null && isInJunction(led.line, metresAt(led.line, track, now), track.speed)) return false;
    this.#lead(route, reason, entityIDs);
    return true;
  }

  /** #tell tells the service now and then where the car is. On the route, it is told the place on the route: noise moves nobody off it. */
  #tell(led: Led, track: Track, now: number): void {
    const { link } = this.#sessions;
    if (link === null || track.off !== null || this.#nav.offer.get() !== null || performance.now() - this.#sentAt < positionInterval) return;
    this.#sentAt = performance.now();
    const { place, bearing } = reckon(led.line, track, now);
    void link.position({ place, heading: track.speed >= minHeadingSpeed ? bearing : null, speed: track.speed }).then((answer) => {
      if (this.#sessions.link !== link) return;
      if (answer.how === "lost") this.#sessions.lose(link.id, false);
      if (answer.how === "route" && !this.#isPinned) this.#pend(answer.route, "left", []);
    });
  }

  /** #searchAgain finds a route for a car that has left its own. */
  async #searchAgain(): Promise<void> {
    const now = performance.now();
    if (now - this.#searchedAt < retryOffInterval) return;
    const from = this.#from();
    const before = this.#nav.led.get();
    if (from === null || before === null) return; // the next fix tells a place
    this.#searchedAt = now;
    this.#isPinned = false;
    this.#nav.offer.set(null);
    this.#nav.isSearching.set(true);
    const { link } = this.#sessions;
    const answer = link === null ? { how: "failed" as const } : await link.position({ ...from, speed: this.#track?.speed ?? null });
    if (this.#nav.led.get() !== before || this.#track === null || this.#track.off === null) {
      this.#nav.isSearching.set(false);
      return; // the car is back, or there is another route
    }
    if (answer.how === "route") {
      const on = await this.#goingOn(answer.route, from);
      if (this.#nav.led.get() !== before) return;
      this.#lead(on ?? answer.route, "left", []);
      return;
    }
    // Without a session, or where the service still takes the car for one that is on its way.
    this.#sessions.want({ adopts: true, reason: "left", resumes: answer.how === "lost" ? (link?.id ?? null) : null });
  }

  /** #goingOn returns a route that goes on instead of one that turns back at once, where it costs little more; null: there is none. */
  async #goingOn(back: Route, { place, heading }: { place: Place; heading: number | null }): Promise<Route | null> {
    if (heading === null || !turnsBackAtOnce(routeLineOf(back))) return null;
    const stops = [place, placeFrom(place, heading, straightOnDistance), ...this.#nav.stops.get().map((stop) => stop.place)];
    try {
      const { routes } = await this.#api.routes(stops, { ...routeOptionsOf(this.#host, this.#nav), heading }, undefined, [1]);
      const on = routes[0];
      return on !== undefined && !turnsBackAtOnce(routeLineOf(on)) && prefersGoingOn(back, on) ? on : null;
    } catch {
      return null; // turning back leads there, too
    }
  }

  #keep(): void {
    this.#keptAt = performance.now();
    store(keptDriveKey, writeKeptDrive({ stops: this.#nav.stops.get(), avoid: this.#nav.avoid.get(), at: Date.now() }));
  }

  #guidance(): Guidance {
    const current = (): { led: Led; track: Track; now: number } | null => {
      const led = this.#nav.led.get();
      return led === null || this.#track === null ? null : { led, track: this.#track, now: this.#host.clock() };
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
