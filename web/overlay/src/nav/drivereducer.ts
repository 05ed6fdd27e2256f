// Reduces the events of a drive to states and effects (pure): without DOM, network and clock. drive.ts reads the moment, dispatches the
// events and executes the effects; opening.ts decides when sessions are opened.

import type { Place } from "../geo/geo.ts";
import type { Observable } from "../browser/observable.ts";
import type { Destination } from "../state/state.ts";
import { reachedLeg } from "./arrival.ts";
import { changeRoute, factorOf, initialPace, keepPace, stopsAhead, type Pace } from "./eta.ts";
import { takingOf, type Wish } from "./opening.ts";
import { beginTrack, drivenAt, follow, isOff, metresAt, reckon, type Track, type TrackedFix } from "./progress.ts";
import { blockedBy, endsWithRest, isInJunction, isSameWay, prefersGoingOn, turnsBackAtOnce } from "./reroute.ts";
import { resumptionOf, type KeptDrive } from "./resume.ts";
import { placeAt, routeLineOf, secondsAt } from "./routeline.ts";
import type { PositionAnswer } from "./sessionlink.ts";
import type { Led, NavState, Offer, Phase, Trouble } from "./state.ts";
import type { Avoided, Route, SessionEvent, Stop } from "./types.ts";

const positionInterval = 10_000; // ms between two positions that the service is sent on the route
const searchInterval = 3000; // ms between two searches of a route for a car that has left its own
const keepInterval = 60_000; // ms
const offerDuration = 10_000; // ms
/** Metres per second. A slower car may turn anywhere, so that its heading is not sent. */
export const minHeadingSpeed = 2;
const pinnedPlaces = 4; // places that hold the service on a route which the driver preferred to a better one
const maxSleep = 30 * 60_000; // ms

/** Moment holds the clocks, the fix and the values of the page when an event happens. */
export interface Moment {
  /** Milliseconds of a monotonic clock. */
  now: number;
  /** Milliseconds of the clock by which the car moves: a demo's drive may run faster than real time. */
  driveClock: number;
  /** Milliseconds since 1970 by the browser's clock, which continues while the browser sleeps. */
  wallClock: number;
  /** Milliseconds since 1970 by the service's clock. */
  serverTime: number;
  fix: TrackedFix | null;
  /** Id of the session that is open; null: none. */
  session: string | null;
  phase: Phase;
  stops: readonly Stop[];
  avoid: readonly Avoided[];
  destination: Destination | null;
}

/** PendingRoute is a new route that waits until no junction is near. */
export interface PendingRoute {
  route: Route;
  reason: Led["reason"];
  entityIDs: readonly string[];
}

/** DriveState is the state of a drive between two events. Start with `initialDrive`. */
export interface DriveState {
  led: Led | null;
  track: Track | null;
  pace: Pace;
  /** The service's factor on the planned time. */
  factor: number;
  /** The first leg of the route whose stop is not reached. */
  leg: number;
  pending: PendingRoute | null;
  offer: Offer | null;
  /** Ids of the entities that close the route with no way around; null: none do. */
  blocked: readonly string[] | null;
  /** The driver declined a better route: the session is held on the present one. */
  isPinned: boolean;
  /** When the service was sent a position, by Moment.now; likewise the next two. */
  sentAt: number;
  searchedAt: number;
  keptAt: number;
  /** The last tick, by Moment.wallClock. */
  tickedAt: number;
  /** The browser slept for so long that the driver may be elsewhere with other plans; the next fix shows it. */
  hasSlept: boolean;
}

/** initialDrive is the state without a drive. */
export const initialDrive: DriveState = {
  led: null,
  track: null,
  pace: initialPace,
  factor: 1,
  leg: 0,
  pending: null,
  offer: null,
  blocked: null,
  isPinned: false,
  sentAt: -Infinity,
  searchedAt: -Infinity,
  keptAt: -Infinity,
  tickedAt: 0,
  hasSlept: false,
};

/** Start is where a new route begins: on the present route, or where the car left it. */
export interface Start {
  place: Place;
  /** Degrees from north; null if unknown or standing. */
  heading: number | null;
}

/** DriveHappening is an event of a drive, without its moment. */
export type DriveHappening =
  /** The driver starts along a route, whose number among those on the screen is chosen. */
  | { name: "start"; route: Route; chosen: number }
  /** The page was opened, with the drive that is kept in the browser. */
  | { name: "resume"; kept: KeptDrive | null }
  /** The driver is to be led over stops before a route is known. */
  | { name: "resumeTo"; stops: readonly Stop[]; avoid: readonly Avoided[] }
  /** The driver does not want the kept drive. */
  | { name: "forget" }
  | { name: "changeStops"; stops: readonly Stop[] }
  /** The driver keeps the present route instead of the one that is offered. */
  | { name: "decline" }
  /** The driver takes the route that is offered. */
  | { name: "accept" }
  | { name: "end" }
  /** There is another fix, or none any more. */
  | { name: "fix" }
  /** A second has passed. */
  | { name: "tick" }
  /** A session is being asked for. */
  | { name: "asking"; wish: Wish }
  /** A session cannot be asked for, since the car's place is unknown. */
  | { name: "placeless" }
  /** A session was opened. */
  | { name: "opened"; route: Route; wish: Wish }
  /** A session could not be opened; another attempt follows. */
  | { name: "failed"; trouble: Trouble; wish: Wish }
  /** A session's stream sent an event. */
  | { name: "session"; event: SessionEvent }
  /** The service answered the effect "position". */
  | { name: "positioned"; session: string; answer: PositionAnswer }
  /** The service answered the effect "search". */
  | { name: "searched"; led: Led; from: Start; session: string | null; answer: PositionAnswer }
  /** The service answered the effect "compare"; onward is null if it has no such route. */
  | { name: "compared"; led: Led; back: Route; onward: Route | null };

/** DriveEvent is an event of a drive, with its moment. */
export type DriveEvent = DriveHappening & { at: Moment };

/** Shown are new values of observables of navigation, in the order in which they are set. */
export type Shown = { -readonly [K in keyof NavState]?: NavState[K] extends Observable<infer Value> ? Value : never };

/** DriveEffect is an action that follows from an event. Effects are executed in order. */
export type DriveEffect =
  /** Sets observables of navigation. */
  | { do: "show"; shown: Shown }
  /** Begins to guide the page, and ticks each second. */
  | { do: "guide" }
  /** Stops to guide the page and to tick, and ends the session. */
  | { do: "stop" }
  /** Keeps the stops in the browser. */
  | { do: "keep" }
  /** Removes the stops that are kept in the browser. */
  | { do: "forget" }
  /** Asks for a session immediately. */
  | { do: "ask"; wish: Partial<Wish> }
  /** Asks for a session, or adds to a request that is under way. */
  | { do: "want"; wish: Partial<Wish> }
  /** Tells the opening of sessions that the car's place is known. */
  | { do: "place" }
  /** Has another session opened in place of one that the service does not know any more. */
  | { do: "lose"; session: string }
  /** Sends the session where the car is on its route: answered by "positioned". */
  | { do: "position"; session: string; from: Start; speed: number }
  /** Sends the session where the car is beside its route, for a new one: answered by "searched". */
  | { do: "search"; session: string | null; from: Start; speed: number | null; led: Led }
  /** Finds a route that leads straight on first: answered by "compared". */
  | { do: "compare"; led: Led; back: Route; from: Start & { heading: number } };

/** Turn gathers the effects of one event. */
class Turn {
  at: Moment;
  readonly effects: DriveEffect[] = [];

  constructor(at: Moment) {
    this.at = at;
  }

  do(effect: DriveEffect): void {
    this.effects.push(effect);
  }

  /** show sets observables, which the rest of the turn sees. */
  show(shown: Shown): void {
    this.effects.push({ do: "show", shown });
    const { phase = this.at.phase, stops = this.at.stops, destination = this.at.destination } = shown;
    this.at = { ...this.at, phase, stops, destination };
  }
}

/** step returns the state after an event, and the effects to execute. */
export function step(drive: DriveState, event: DriveEvent): [DriveState, readonly DriveEffect[]] {
  const turn = new Turn(event.at);
  return [reduce(turn, drive, event), turn.effects];
}

function reduce(turn: Turn, drive: DriveState, event: DriveHappening): DriveState {
  switch (event.name) {
    case "start":
      return start(turn, drive, event.route, event.chosen);
    case "resume":
      return resume(turn, drive, event.kept);
    case "resumeTo":
      return resumeTo(turn, drive, event.stops, event.avoid);
    case "forget":
      turn.show({ asking: null });
      turn.do({ do: "forget" });
      return drive;
    case "changeStops":
      return changeStops(turn, drive, event.stops);
    case "decline":
      return decline(turn, drive);
    case "accept":
      return accept(turn, drive);
    case "end":
      return end(turn, drive);
    case "fix":
      if (turn.at.phase !== "led") return drive;
      if (turn.at.fix !== null) turn.do({ do: "place" });
      return update(turn, drive);
    case "tick":
      return update(turn, noticeSleep(turn, drive));
    case "asking":
      turn.show({ isSearching: drive.led === null || event.wish.adopts }); // otherwise the present route is led meanwhile
      return drive;
    case "placeless":
      turn.show({ isSearching: false });
      return drive;
    case "opened":
      return takeOpened(turn, drive, event.route, event.wish);
    case "failed":
      turn.show({ isSearching: false });
      if (drive.led === null || event.wish.adopts) turn.show({ trouble: event.trouble });
      return drive;
    case "session":
      return takeSessionEvent(turn, drive, event.event);
    case "positioned":
      if (turn.at.session !== event.session) return drive;
      if (event.answer.how === "lost") turn.do({ do: "lose", session: event.session });
      return event.answer.how === "route" && !drive.isPinned ? pend(turn, drive, { route: event.answer.route, reason: "left", entityIDs: [] }) : drive;
    case "searched":
      return takeSearched(turn, drive, event);
    case "compared": {
      const { led, back, onward } = event;
      if (drive.led !== led) return drive;
      const isBetter = onward !== null && !turnsBackAtOnce(routeLineOf(onward)) && prefersGoingOn(back, onward);
      return lead(turn, drive, { route: isBetter ? onward : back, reason: "left", entityIDs: [] });
    }
  }
}

/** start leads along a route that is on the screen immediately; the session is opened meanwhile. */
function start(turn: Turn, drive: DriveState, route: Route, chosen: number): DriveState {
  const led = lead(turn, begin(turn, drive), { route, reason: null, entityIDs: [] });
  turn.do({ do: "ask", wish: { chosen } });
  return led;
}

/** resume continues a kept drive, or asks whether to. */
function resume(turn: Turn, drive: DriveState, kept: KeptDrive | null): DriveState {
  if (kept === null || turn.at.phase !== "off") return drive;
  switch (resumptionOf(kept, turn.at.wallClock)) {
    case "forget":
      turn.do({ do: "forget" });
      return drive;
    case "ask":
      turn.show({ asking: kept });
      return drive;
    case "resume":
      return resumeTo(turn, drive, kept.stops, kept.avoid);
  }
}

/** resumeTo leads over stops before a route is known. */
function resumeTo(turn: Turn, drive: DriveState, stops: readonly Stop[], avoid: readonly Avoided[]): DriveState {
  turn.show({ asking: null, avoid, stops, destination: stops[stops.length - 1] ?? null });
  const begun = begin(turn, drive);
  turn.do({ do: "ask", wish: { adopts: true } });
  return begun;
}

/** changeStops requests a route over other stops. The present one is led meanwhile. */
function changeStops(turn: Turn, drive: DriveState, stops: readonly Stop[]): DriveState {
  const last = stops[stops.length - 1];
  if (last === undefined) return drive;
  turn.show({ stops, destination: last, offer: null });
  const kept = keep(turn, drive);
  turn.do({ do: "ask", wish: { adopts: true } });
  return { ...kept, isPinned: false, offer: null };
}

/** decline keeps the present route, and has the service keep it, too. */
function decline(turn: Turn, drive: DriveState): DriveState {
  if (drive.offer === null) return drive;
  turn.show({ offer: null });
  turn.do({ do: "ask", wish: {} });
  return { ...drive, offer: null, isPinned: true };
}

function accept(turn: Turn, drive: DriveState): DriveState {
  if (drive.offer === null) return drive;
  return pend(turn, drive, { route: drive.offer.route, reason: "faster", entityIDs: [] });
}

/** end ends the drive, or the choice. The next search does not begin with this one's stops. */
function end(turn: Turn, drive: DriveState): DriveState {
  const stopped = stop(turn, drive);
  turn.do({ do: "forget" });
  turn.show({ phase: "off", destination: null, stops: [], routes: [] });
  return stopped;
}

function begin(turn: Turn, drive: DriveState): DriveState {
  const stopped = stop(turn, drive);
  turn.show({ phase: "led" });
  turn.do({ do: "guide" });
  return keep(turn, { ...stopped, tickedAt: turn.at.wallClock });
}

/** stop ends all that runs, and leaves the phase and the stops. */
function stop(turn: Turn, { tickedAt }: DriveState): DriveState {
  turn.do({ do: "stop" });
  turn.show({ blocked: null, led: null, progress: null, arrivals: [], offer: null, trouble: null, notice: null, isSearching: false, overview: false });
  return { ...initialDrive, tickedAt };
}

function keep(turn: Turn, drive: DriveState): DriveState {
  turn.do({ do: "keep" });
  return { ...drive, keptAt: turn.at.now };
}

/** lead makes a route the one that is driven. */
function lead(turn: Turn, drive: DriveState, { route, reason, entityIDs }: PendingRoute): DriveState {
  const line = routeLineOf(route);
  const { fix } = turn.at;
  const led = { route, line, reason, entityIDs };
  turn.show({ offer: null, trouble: null, blocked: null, isSearching: false, led });
  return update(turn, { ...drive, led, track: fix === null ? null : beginTrack(line, fix), pace: changeRoute(drive.pace), factor: 1, leg: 0, pending: null, offer: null, blocked: null });
}

/** startOf returns where a new route begins; null: the car's place is unknown. */
export function startOf({ led, track }: DriveState, { fix, driveClock }: Pick<Moment, "fix" | "driveClock">): Start | null {
  const isFast = (fix?.speed ?? 0) >= minHeadingSpeed;
  if (led !== null && track?.off === null) {
    const { place, bearing } = reckon(led.line, track, driveClock);
    return { place, heading: isFast ? bearing : null };
  }
  return fix === null ? null : { place: { lat: fix.lat, lng: fix.lng }, heading: isFast ? fix.heading : null };
}

/** viaOf returns places that hold the service on the present route, if the driver preferred it. */
export function viaOf({ isPinned, led, track }: DriveState, stops: readonly Stop[]): Place[] {
  if (!isPinned || led === null || stops.length > 1) return [];
  const { line } = led;
  const metres = track?.metres ?? 0;
  return Array.from({ length: pinnedPlaces }, (_, i) => placeAt(line, metres + ((line.length - metres) * (i + 1)) / (pinnedPlaces + 1)));
}

/** secondsLeft returns the seconds that the rest of the present route takes. */
function secondsLeft({ track, factor }: DriveState, { line }: Led): number {
  return (secondsAt(line, line.length) - secondsAt(line, track?.metres ?? 0)) * factor;
}

function takeOpened(turn: Turn, before: DriveState, route: Route, wish: Wish): DriveState {
  const drive = { ...before, sentAt: turn.at.now };
  const { led, track, isPinned } = drive;
  turn.show({ isSearching: false, trouble: null });
  const isSame = led !== null && isSameWay(led.line, track?.metres ?? 0, routeLineOf(route));
  const { reason, entityIDs } = wish;
  switch (takingOf(wish, { isSame, isPinned, left: led === null ? null : secondsLeft(drive, led), duration: route.duration })) {
    case "stays":
      return drive;
    case "leads":
      return lead(turn, drive, { route, reason, entityIDs });
    case "offers":
      return offer(turn, drive, route, entityIDs);
    case "follows":
      return pend(turn, drive, { route, reason, entityIDs });
  }
}

function takeSessionEvent(turn: Turn, drive: DriveState, event: SessionEvent): DriveState {
  const { led } = drive;
  if (led === null) return drive;
  const metres = drive.track?.metres ?? 0;
  switch (event.name) {
    case "route":
      if (drive.isPinned || drive.offer !== null || endsWithRest(routeLineOf(event.route), led.line, metres)) return drive;
      if (drive.pending !== null && isSameWay(routeLineOf(drive.pending.route), 0, routeLineOf(event.route))) return drive; // a session's first
      // A faster route's own event was lost with the stream before.
      return event.reason === "faster" ? offer(turn, drive, event.route, event.entity_ids) : pend(turn, drive, { route: event.route, reason: event.reason ?? "left", entityIDs: event.entity_ids });
    case "reroute":
      if (drive.isPinned) {
        turn.do({ do: "ask", wish: { adopts: true, reason: event.reason, entityIDs: event.entity_ids } });
        return { ...drive, isPinned: false };
      }
      return event.reason === "faster" ? offer(turn, drive, event.route, event.entity_ids) : pend(turn, drive, { route: event.route, reason: event.reason, entityIDs: event.entity_ids });
    case "eta":
      return update(turn, { ...drive, factor: factorOf(led.line, metres, event.duration_s) });
    case "condition": {
      const blocked = blockedBy(drive.blocked, event.reason, event.entity_ids);
      turn.show({ blocked });
      return update(turn, { ...drive, blocked, factor: factorOf(led.line, metres, event.duration_s) });
    }
  }
}

/** pend takes a route as soon as no junction is near. */
function pend(turn: Turn, drive: DriveState, pending: PendingRoute): DriveState {
  turn.show({ offer: null });
  return update(turn, { ...drive, offer: null, pending });
}

function offer(turn: Turn, drive: DriveState, route: Route, entityIDs: readonly string[]): DriveState {
  if (drive.led === null) return drive;
  const offered = { route, line: routeLineOf(route), entityIDs, gain: Math.max(0, secondsLeft(drive, drive.led) - route.duration), until: turn.at.now + offerDuration };
  turn.show({ offer: offered });
  return { ...drive, offer: offered };
}

/** noticeSleep notices a long sleep of the browser, or that its clock was set, which the next fix shows. */
function noticeSleep({ at: { wallClock } }: Turn, drive: DriveState): DriveState {
  return { ...drive, hasSlept: drive.hasSlept || wallClock - drive.tickedAt > maxSleep, tickedAt: wallClock };
}

/** update takes the latest fix, and the time that has passed without one. */
function update(turn: Turn, drive: DriveState): DriveState {
  const { fix, driveClock } = turn.at;
  const { led } = drive;
  if (led === null || fix === null || turn.at.phase !== "led") return drive;
  const track = drive.track === null ? beginTrack(led.line, fix) : follow(led.line, drive.track, fix);
  if (track === null) return { ...drive, track };
  const isAwake = drive.hasSlept && track !== drive.track;
  if (isAwake && track.off !== null) return askAgain(turn, drive);
  const placed = show(turn, { ...drive, track, hasSlept: drive.hasSlept && !isAwake }, led, track);
  const reached = reach(turn, placed, led, track);
  if (reached.led === null) return reached;
  const taken = takePending(turn, reached, led, track);
  if (taken.led !== led) return taken;
  const next = isOff(track, driveClock) ? search(turn, taken, led, track) : report(turn, taken, led, track);
  return turn.at.now - next.keptAt >= keepInterval ? keep(turn, next) : next;
}

/** askAgain asks the driver whether to continue, if the car is off the route after a long sleep. */
function askAgain(turn: Turn, drive: DriveState): DriveState {
  const { stops, avoid } = turn.at;
  const stopped = stop(turn, drive);
  turn.show({ phase: "off", asking: { stops, avoid, at: 0 } });
  return stopped;
}

function show(turn: Turn, drive: DriveState, { line }: Led, track: Track): DriveState {
  const { driveClock, serverTime } = turn.at;
  const { metres, place, bearing, isReckoned } = reckon(line, track, driveClock);
  const offset = track.off === null ? 0 : track.snap.offset;
  const progress = { metres, driven: drivenAt(line, track, driveClock), place, bearing, speed: track.speed, isOff: isOff(track, driveClock), offset, nearest: track.snap.place, isReckoned };
  const pace = track.off === null ? keepPace(drive.pace, secondsAt(line, metres), driveClock) : drive.pace;
  turn.show({ progress, arrivals: stopsAhead(line, metres, pace, drive.factor).map((one) => ({ ...one, at: serverTime + one.seconds * 1000 })) });
  return { ...drive, pace };
}

/** reach drops the stops that are reached. With the last one the drive has arrived. */
function reach(turn: Turn, drive: DriveState, { line }: Led, track: Track): DriveState {
  if (track.off !== null) return drive;
  const { stops, destination, driveClock } = turn.at;
  const reached = reachedLeg(line, metresAt(line, track, driveClock), track.speed, drive.leg);
  if (reached < drive.leg) return drive;
  const leg = reached + 1;
  if (leg < line.legEnds.length) {
    turn.show({ stops: stops.slice(Math.min(leg - drive.leg, stops.length - 1)) });
    return keep(turn, { ...drive, leg });
  }
  const stopped = stop(turn, drive);
  turn.do({ do: "forget" });
  turn.show({ arrived: destination === null ? null : { destination, line }, phase: "arrived" });
  return stopped;
}

/** takePending takes a new route unless a junction is near, and a better one when its offer ends. */
function takePending(turn: Turn, before: DriveState, { line }: Led, track: Track): DriveState {
  const { offer: offered } = before;
  const isAccepted = offered !== null && before.pending === null && turn.at.now >= offered.until;
  const drive = isAccepted ? { ...before, pending: { route: offered.route, reason: "faster" as const, entityIDs: offered.entityIDs } } : before;
  if (drive.pending === null) return drive;
  if (track.off === null && isInJunction(line, metresAt(line, track, turn.at.driveClock), track.speed)) return drive;
  return lead(turn, drive, drive.pending);
}

/** report sends the service from time to time where the car is: its place on the route, so that noise does not take it off. */
function report(turn: Turn, drive: DriveState, { line }: Led, track: Track): DriveState {
  const { session, now, driveClock } = turn.at;
  if (session === null || track.off !== null || drive.offer !== null || now - drive.sentAt < positionInterval) return drive;
  const { place, bearing } = reckon(line, track, driveClock);
  turn.do({ do: "position", session, from: { place, heading: track.speed >= minHeadingSpeed ? bearing : null }, speed: track.speed });
  return { ...drive, sentAt: now };
}

/** search finds a route for a car that has left its own. Without a place it waits for the next fix. */
function search(turn: Turn, drive: DriveState, led: Led, track: Track): DriveState {
  const { now, session } = turn.at;
  const from = startOf(drive, turn.at);
  if (now - drive.searchedAt < searchInterval || from === null) return drive;
  turn.show({ offer: null, isSearching: true });
  turn.do({ do: "search", session, from, speed: track.speed, led });
  return { ...drive, searchedAt: now, isPinned: false, offer: null };
}

function takeSearched(turn: Turn, drive: DriveState, { led, from, session, answer }: Extract<DriveHappening, { name: "searched" }>): DriveState {
  if (drive.led !== led) return drive; // another search may be under way by now
  if (!drive.track?.off) {
    turn.show({ isSearching: false }); // the car is back
    return drive;
  }
  if (answer.how !== "route") {
    // Without a session, or where the service still takes the car for one that is on its route.
    turn.do({ do: "want", wish: { adopts: true, reason: "left", resumes: answer.how === "lost" ? session : null } });
    return drive;
  }
  const { place, heading } = from;
  if (heading === null || !turnsBackAtOnce(routeLineOf(answer.route))) return lead(turn, drive, { route: answer.route, reason: "left", entityIDs: [] });
  turn.do({ do: "compare", led, back: answer.route, from: { place, heading } });
  return drive;
}
