import { describe, expect, it, test } from "vitest";
import { initialDrive, startOf, step, viaOf, type DriveEffect, type DriveHappening, type DriveState, type Moment, type Shown } from "./drivereducer.ts";
import { noOpening, step as stepOpening, type Opening, type OpeningEvent, type Wish } from "./opening.ts";
import type { TrackedFix } from "./progress.ts";
import type { PositionAnswer } from "./sessionlink.ts";
import { placeOf, routeOf, type Spot } from "./testroutes.ts";
import type { Route, SessionEvent, Stop } from "./types.ts";

// Routes of 2 km to the north at 10 m/s, with a turn in the middle, and one beside it that is faster.
const north = routeOf([0, 0], [[{ to: [[0, 1000]] }, { to: [[0, 2000]] }]]);
const east = routeOf([0, 0], [[{ to: [[1000, 0]], speed: 40 }, { to: [[1000, 2000], [0, 2000]], speed: 40 }]]);
const back = routeOf([200, 500], [[{ to: [[200, 400]] }, { to: [[0, 400], [0, 2000]], maneuver: { modifier: "uturn" } }]]);
const onward = routeOf([200, 500], [[{ to: [[200, 900]] }, { to: [[0, 900], [0, 2000]] }]]);
const twoLegs = routeOf([0, 0], [[{ to: [[0, 1000]] }], [{ to: [[0, 2000]] }]]);

const stopAt = (spot: Spot, name = "there"): Stop => ({ place: placeOf(spot), name, detail: "" });
const destination = stopAt([0, 2000]);
const via = stopAt([0, 1000], "via");

const fixAt = (spot: Spot, at = 0, more: Partial<TrackedFix> = {}): TrackedFix => ({ ...placeOf(spot), at, heading: 0, speed: 10, accuracy: 5, ...more });
const moment: Moment = { now: 0, driveClock: 0, wallClock: 0, serverTime: 0, fix: fixAt([0, 0]), session: null, phase: "off", stops: [destination], avoid: [], destination };

/** Page runs events through the reducers of a drive and of the opening of its sessions, as drive.ts and sessionopener.ts do. */
class Page {
  drive: DriveState = initialDrive;
  opening: Opening = noOpening;
  at: Moment;
  /** What the last event has done. */
  effects: readonly DriveEffect[] = [];
  /** Wishes of the requests that were sent. */
  readonly requests: Wish[] = [];
  /** All that was shown, the latest value of each. */
  shown: Shown = {};

  constructor(at: Partial<Moment> = {}) {
    this.at = { ...moment, ...at };
  }

  /** take dispatches an event; at changes the moment before. */
  take(event: DriveHappening, at: Partial<Moment> = {}): this {
    this.at = { ...this.at, ...at };
    const [drive, effects] = step(this.drive, { ...event, at: this.at });
    this.drive = drive;
    this.effects = effects;
    for (const effect of effects) {
      if (effect.do === "show") this.#show(effect.shown);
      else if (effect.do === "ask" || effect.do === "want") this.open({ name: effect.do, wish: effect.wish });
      else if (effect.do === "place") this.open({ name: "place" });
      else if (effect.do === "stop") this.open({ name: "ended" });
    }
    this.effects = effects; // in place of those of events within
    return this;
  }

  /** open dispatches an event of the opening of sessions. */
  open(event: OpeningEvent): this {
    const [opening, effects] = stepOpening(this.opening, event);
    this.opening = opening;
    for (const effect of effects) {
      if (effect.do !== "open") continue;
      if (startOf(this.drive, this.at) === null) {
        this.open({ name: "placeless" }).take({ name: "placeless" });
      } else {
        this.requests.push(effect.wish);
        this.take({ name: "asking", wish: effect.wish });
      }
    }
    return this;
  }

  /** fail has the request that is under way fail. */
  fail(): this {
    const { wish } = this.opening;
    if (wish === null) throw new Error("nothing is asked for");
    return this.take({ name: "failed", trouble: "noConnection", wish }).open({ name: "failed", random: 0.5, wait: null });
  }

  /** succeed opens the session that is asked for, with a route. */
  succeed(route: Route): this {
    const { wish } = this.opening;
    if (wish === null) throw new Error("nothing is asked for");
    return this.open({ name: "opened", now: this.at.now }).take({ name: "opened", route, wish }, { session: "s1" });
  }

  /** names returns the names of the last event's effects. */
  names(): string[] {
    return this.effects.map((effect) => effect.do);
  }

  #show(shown: Shown): void {
    this.shown = { ...this.shown, ...shown };
    const { phase = this.at.phase, stops = this.at.stops, avoid = this.at.avoid, destination: to = this.at.destination } = shown;
    this.at = { ...this.at, phase, stops, avoid, destination: to };
  }
}

/** led returns a page that is led along a route in a session, with the car at its beginning. */
const led = (route = north, at: Partial<Moment> = {}): Page => new Page(at).take({ name: "start", route, chosen: 0 }).succeed(route);

/** leave drives the car beside its route, so that it has left it. */
const leave = (page: Page, from = 10_000): Page => {
  for (const i of [0, 1, 2, 3, 4]) page.take({ name: "fix" }, { fix: fixAt([200, 500], from + i * 1000, { lat: placeOf([200, 500 + i]).lat }), driveClock: from + i * 1000, now: from + i * 1000 });
  return page;
};

const sessionEvent = (event: { name: "route" | "reroute"; route: Route; reason: "closed" | "faster" | "left" } | { name: "condition"; reason: "came" | "gone" | "closed" } | { name: "eta" }): DriveHappening => ({
  name: "session",
  event: { entity_ids: ["e1"], duration_s: 300, arrival_at: "", at: "", ...event } as SessionEvent,
});

const plain: Wish = { chosen: 0, adopts: false, reason: null, entityIDs: [], resumes: null };

describe("a drive begins", () => {
  test("on the chosen route immediately, while its session is opened", () => {
    const page = new Page({ phase: "choosing" }).take({ name: "start", route: east, chosen: 1 });
    expect(page.names()).toEqual(["stop", "show", "show", "guide", "keep", "show", "show", "ask"]);
    expect(page.shown).toMatchObject({ phase: "led", isSearching: false, led: { route: east, reason: null } });
    expect(page.requests).toEqual([{ ...plain, chosen: 1 }]);
  });

  test("over stops before a route is known, which is searched", () => {
    const page = new Page().take({ name: "resumeTo", stops: [via, destination], avoid: ["toll"] });
    expect(page.shown).toMatchObject({ phase: "led", led: null, avoid: ["toll"], destination, isSearching: true });
    expect(page.requests).toEqual([{ ...plain, adopts: true }]);
    expect(page.succeed(twoLegs).shown).toMatchObject({ led: { route: twoLegs }, isSearching: false });
  });

  test.each<[string, number | null, Partial<Moment>, string[], Shown]>([
    ["no kept drive", null, {}, [], {}],
    ["one of a minute ago goes on", 60_000, {}, ["show", "stop", "show", "show", "guide", "keep", "ask"], { phase: "led" }],
    ["one of an hour ago is asked about", 3_600_000, {}, ["show"], {}],
    ["one of the day before yesterday is forgotten", 48 * 3_600_000, {}, ["forget"], {}],
    ["none while the driver chooses", 60_000, { phase: "choosing" }, [], {}],
  ])("when the page is opened: %s", (_, age, at, names, shown) => {
    const page = new Page({ ...at, wallClock: 100 * 3_600_000 });
    const kept = age === null ? null : { stops: [destination], avoid: [], at: page.at.wallClock - age };
    const { effects } = page.take({ name: "resume", kept });
    expect(effects.map((effect) => effect.do)).toEqual(names);
    expect(page.shown).toMatchObject(shown);
  });
});

describe("what was about to be asked survives (F9)", () => {
  const retries: [string, OpeningEvent][] = [["the network returns", { name: "online" }], ["a retry is due", { name: "due" }]];

  test.each(retries)("a stop added without network is led to when %s, although it lies on the same way", (_, event) => {
    const page = led().take({ name: "changeStops", stops: [via, destination] }).fail();
    expect(page.open(event).requests.slice(1)).toEqual([{ ...plain, adopts: true }, { ...plain, adopts: true }]);
    expect(page.succeed(twoLegs).drive.led?.route).toBe(twoLegs);
    expect(page.at.stops).toEqual([via, destination]);
  });

  test.each(retries)("another way chosen without network is asked for when %s", (_, event) => {
    const page = new Page().take({ name: "start", route: east, chosen: 2 }).fail().open(event);
    expect(page.requests).toEqual([{ ...plain, chosen: 2 }, { ...plain, chosen: 2 }]);
    expect(page.succeed(east).drive.led?.route).toBe(east);
  });

  test.each(retries)("the reason of a route is kept when %s", (_, event) => {
    const page = led().take(sessionEvent({ name: "reroute", route: east, reason: "faster" })).take({ name: "decline" }).succeed(north);
    page.take(sessionEvent({ name: "reroute", route: east, reason: "closed" })).fail().open(event);
    expect(page.requests[page.requests.length - 1]).toEqual({ ...plain, adopts: true, reason: "closed", entityIDs: ["e1"] });
    expect(page.succeed(east).drive.led).toMatchObject({ route: east, reason: "closed", entityIDs: ["e1"] });
  });

  test("stops changed without a fix are asked for with the next one", () => {
    const page = new Page({ fix: null }).take({ name: "resumeTo", stops: [destination], avoid: [] }).take({ name: "changeStops", stops: [via, destination] });
    expect(page.requests).toEqual([]);
    page.take({ name: "fix" }, { fix: fixAt([0, 0]) });
    expect(page.requests).toEqual([{ ...plain, adopts: true }]);
    expect(page.take({ name: "fix" }, { fix: fixAt([0, 5], 500) }).requests).toHaveLength(1);
  });

  test("a drive that ends before the first fix asks for nothing with it", () => {
    const page = new Page({ fix: null }).take({ name: "resumeTo", stops: [destination], avoid: [] }).take({ name: "end" });
    page.take({ name: "fix" }, { fix: fixAt([0, 0]) }).open({ name: "online" });
    expect(page.requests).toEqual([]);
    expect(page.effects).toEqual([]);
  });

  test("without a place nothing is searched, and nothing says so", () => {
    expect(new Page({ fix: null }).take({ name: "resumeTo", stops: [destination], avoid: [] }).shown.isSearching).toBe(false);
    const off = leave(led());
    const { led: left } = off.drive;
    off.take({ name: "searched", led: left ?? never(), from: { place: placeOf([200, 500]), heading: null }, session: "s1", answer: { how: "failed" } }, { fix: null });
    expect(off.requests).toHaveLength(1);
    expect(off.shown.isSearching).toBe(false);
  });

  test("an answer to the search of a drive that has ended leaves the next search alone", () => {
    const page = leave(led());
    const { led: left } = page.drive;
    page.take({ name: "end" });
    page.shown = { isSearching: true }; // of the choice
    page.take({ name: "searched", led: left ?? never(), from: { place: placeOf([200, 500]), heading: null }, session: "s1", answer: { how: "sent" } });
    expect(page.effects).toEqual([]);
    expect(page.shown.isSearching).toBe(true);
  });
});

function never(): never {
  throw new Error("there is no route");
}

describe("a session's route", () => {
  test.each<[string, (page: Page) => Page, Route, Route]>([
    ["that goes the same way leaves the present one", (page) => page, routeOf([0, 0], [[{ to: [[0, 2000]] }]]), north],
    ["that goes another way is led", (page) => page, east, east],
  ])("%s", (_, prepare, route, want) => {
    expect(prepare(new Page().take({ name: "start", route: north, chosen: 0 })).succeed(route).drive.led?.route).toBe(want);
  });

  test("that is slower is offered without a gain", () => {
    expect(led(east).take(sessionEvent({ name: "reroute", route: north, reason: "faster" })).shown.offer?.gain).toBe(0);
  });

  test("that is faster, after the one before was lost, is offered, and led when the offer ends", () => {
    const page = led().open({ name: "lost", id: "s1", isMoved: false, now: 1000, random: 0 }).open({ name: "due" }).succeed(east);
    expect(page.drive.led?.route).toBe(north);
    expect(page.shown.offer).toMatchObject({ route: east, gain: 100, until: 10_000 });
    expect(page.take({ name: "tick" }, { now: 9999 }).drive.led?.route).toBe(north);
    expect(page.take({ name: "tick" }, { now: 10_000, fix: fixAt([0, 300], 30_000), driveClock: 30_000 }).drive.led).toMatchObject({ route: east, reason: "faster" });
  });

  test.each<[string, boolean, boolean, Shown]>([
    ["without a route", false, false, { isSearching: false, trouble: "noConnection" }],
    ["with a route that it replaces", true, true, { isSearching: false, trouble: "noConnection" }],
    ["with a route that goes on", true, false, { isSearching: false, trouble: null }],
  ])("that cannot be had is trouble %s", (_, hasRoute, adopts, shown) => {
    const page = hasRoute ? led() : new Page().take({ name: "resumeTo", stops: [destination], avoid: [] });
    expect(page.take({ name: "failed", trouble: "noConnection", wish: { ...plain, adopts } }).shown).toMatchObject(shown);
  });
});

describe("an event of the session", () => {
  const declined = (): Page => led().take(sessionEvent({ name: "reroute", route: east, reason: "faster" })).take({ name: "decline" }).succeed(north);

  test.each<[string, () => Page, DriveHappening, { led?: Route; offer?: Route | null; asks?: Wish }]>([
    ["a closure's route is led", led, sessionEvent({ name: "reroute", route: east, reason: "closed" }), { led: east, offer: null }],
    ["a faster route is offered", led, sessionEvent({ name: "reroute", route: east, reason: "faster" }), { led: north, offer: east }],
    ["a route that ends with the rest of the present one is not taken", led, sessionEvent({ name: "route", route: north, reason: "closed" }), { led: north, offer: null }],
    ["another route whose event was lost is led", led, sessionEvent({ name: "route", route: east, reason: "closed" }), { led: east }],
    ["a faster one whose event was lost is offered", led, sessionEvent({ name: "route", route: east, reason: "faster" }), { led: north, offer: east }],
    ["a declined route does not come back with the stream", declined, sessionEvent({ name: "route", route: east, reason: "faster" }), { led: north, offer: null }],
    ["a closure on a preferred route asks for a session without it", declined, sessionEvent({ name: "reroute", route: east, reason: "closed" }), { led: north, asks: { ...plain, adopts: true, reason: "closed", entityIDs: ["e1"] } }],
    ["while one is offered, the stream's first route is not taken", () => led().take(sessionEvent({ name: "reroute", route: east, reason: "faster" })), sessionEvent({ name: "route", route: onward, reason: "closed" }), { led: north, offer: east }],
    ["without a route nothing is taken", () => new Page(), sessionEvent({ name: "reroute", route: east, reason: "closed" }), {}],
  ])("%s", (_, begin, event, want) => {
    // At the beginning of the route: its first junction is far.
    const page = begin().take(event);
    expect(page.drive.led?.route).toBe(want.led);
    if (want.offer !== undefined) expect(page.drive.offer?.route ?? null).toBe(want.offer);
    if (want.asks !== undefined) expect(page.requests[page.requests.length - 1]).toEqual(want.asks);
  });

  it("corrects the arrival", () => {
    const page = led().take(sessionEvent({ name: "eta" }));
    expect(page.shown.arrivals?.[0]?.seconds).toBeCloseTo(300, 0);
    expect(page.drive.factor).toBeCloseTo(1.5, 1);
  });

  it("says what closes the route, and that it is gone", () => {
    const page = led().take(sessionEvent({ name: "condition", reason: "closed" }));
    expect(page.shown.blocked).toEqual(["e1"]);
    expect(page.take(sessionEvent({ name: "condition", reason: "gone" })).shown.blocked).toBeNull();
  });
});

describe("the driver", () => {
  test("keeps the present route, on which the service is held", () => {
    const page = led().take(sessionEvent({ name: "reroute", route: east, reason: "faster" })).take({ name: "decline" });
    expect(page.shown.offer).toBeNull();
    expect(page.requests).toEqual([plain, plain]);
    const metres = viaOf(page.drive, [destination]).map(({ lat }) => Math.round((lat - placeOf([0, 0]).lat) / (placeOf([0, 1]).lat - placeOf([0, 0]).lat)));
    expect(metres).toEqual([400, 800, 1200, 1600]);
    page.take({ name: "fix" }, { fix: fixAt([0, 500], 50_000), driveClock: 50_000 });
    expect(viaOf(page.drive, [destination])[0]?.lat).toBeCloseTo(placeOf([0, 800]).lat, 5);
    expect(viaOf({ ...page.drive, led: null }, [destination])).toEqual([]);
    expect(viaOf(page.drive, [via, destination])).toEqual([]);
    expect(page.succeed(east).drive.led?.route).toBe(north);
  });

  test("takes the better one", () => {
    const page = led().take(sessionEvent({ name: "reroute", route: east, reason: "faster" })).take({ name: "accept" });
    expect(page.drive.led).toMatchObject({ route: east, reason: "faster", entityIDs: [] });
    expect(page.shown.offer).toBeNull();
  });

  test.each<DriveHappening>([{ name: "accept" }, { name: "decline" }, { name: "changeStops", stops: [] }])("does nothing by $name where there is nothing", (event) => {
    expect(led().take(event).effects).toEqual([]);
  });

  test("is led over other stops without a better route for the old ones", () => {
    const page = led().take(sessionEvent({ name: "reroute", route: east, reason: "faster" })).take({ name: "decline" }).take({ name: "changeStops", stops: [via, destination] });
    expect(page.drive).toMatchObject({ isPinned: false, offer: null });
    expect(page.names()).toEqual(["show", "keep", "ask"]);
  });

  test("ends the drive", () => {
    const page = led().take({ name: "end" });
    expect(page.names()).toEqual(["stop", "show", "forget", "show"]);
    expect(page.shown).toMatchObject({ phase: "off", led: null, progress: null, arrivals: [], offer: null, trouble: null, isSearching: false, destination: null, stops: [], routes: [] });
    expect(page.drive).toEqual({ ...initialDrive, tickedAt: 0 });
  });

  test("forgets a kept drive", () => {
    expect(new Page().take({ name: "forget" }).names()).toEqual(["show", "forget"]);
  });
});

describe("a car on its route", () => {
  const drive = (page: Page, metres: number, seconds: number, more: Partial<Moment> = {}, fix: Partial<TrackedFix> = {}): Page =>
    page.take({ name: "fix" }, { fix: fixAt([0, metres], seconds * 1000, fix), driveClock: seconds * 1000, now: seconds * 1000, wallClock: seconds * 1000, serverTime: seconds * 1000, ...more });

  test("is shown with each fix, by its offset where it is beside the route", () => {
    const page = drive(led(), 50, 5);
    expect(page.shown.progress?.metres).toBeCloseTo(50, 0);
    expect(page.shown.progress?.offset).toBe(0);
    expect(page.drive.pace.last?.at).toBe(5000);
    const off = leave(led());
    expect(off.shown.progress?.offset).toBeCloseTo(200, 0);
    expect(off.drive.pace.last?.at).toBe(0); // only the route tells of the pace
    expect(page.shown.arrivals?.[0]?.at).toBeCloseTo(5000 + 195_000, -3);
  });

  test("tells the service its place every ten seconds, and not beside the route or during an offer", () => {
    const page = led();
    expect(drive(page, 99, 9.9).names()).not.toContain("position");
    expect(drive(page, 101, 10.1).effects.find((effect) => effect.do === "position")).toMatchObject({ session: "s1", from: { heading: 0 } });
    expect(drive(page, 120, 12).names()).not.toContain("position");
    expect(drive(page, 210, 21).names()).toContain("position");
    expect(drive(page, 320, 32, { session: null }).names()).not.toContain("position");
    page.take(sessionEvent({ name: "reroute", route: east, reason: "faster" }));
    expect(drive(page, 330, 33, { session: "s1" }).names()).not.toContain("position");
    const slow = drive(led(), 20, 10, {}, { speed: 1.9 });
    expect(slow.effects.find((effect) => effect.do === "position")).toMatchObject({ from: { heading: null }, speed: 1.9 });
    const steady = drive(led(), 20, 10, {}, { speed: 2 });
    expect(steady.effects.find((effect) => effect.do === "position")).toMatchObject({ from: { heading: 0 }, speed: 2 });
    const off = led().take({ name: "fix" }, { fix: fixAt([200, 500], 20_000), driveClock: 20_000, now: 20_000 });
    expect(off.drive.track?.off).not.toBeNull();
    expect(off.names()).not.toContain("position");
  });

  test.each<[string, PositionAnswer, string, string[], Route]>([
    ["nothing new", { how: "sent" }, "s1", [], north],
    ["no session", { how: "lost" }, "s1", ["lose"], north],
    ["another route", { how: "route", route: east }, "s1", ["show", "show", "show", "show"], east],
    ["another route, of a session that is no more", { how: "route", route: east }, "s0", [], north],
  ])("takes the answer: %s", (_, answer, session, names, route) => {
    const page = led().take({ name: "positioned", session, answer });
    expect(page.names()).toEqual(names);
    expect(page.drive.led?.route).toBe(route);
  });

  test("takes a new route behind the junction that it is in", () => {
    const page = drive(led(), 990, 99).take(sessionEvent({ name: "reroute", route: routeOf([0, 0], [[{ to: [[0, 1500]] }, { to: [[300, 1500], [0, 2000]] }]]), reason: "closed" }));
    expect(page.drive.led?.route).toBe(north);
    expect(drive(page, 1010, 101).drive.led?.route).toBe(north);
    expect(drive(page, 1040, 104).drive.led?.reason).toBe("closed");
  });

  test("drops stops as it reaches them, and arrives with the last", () => {
    const page = led(twoLegs, { stops: [via, destination] });
    expect(drive(page, 985, 98.5).shown.stops).toEqual([destination]);
    expect(page.names()).toContain("keep");
    expect(drive(page, 1985, 198.5).shown).toMatchObject({ phase: "arrived", led: null, arrived: { destination } });
    expect(page.names()).toContain("forget");
    expect(page.drive).toEqual({ ...initialDrive, tickedAt: page.drive.tickedAt });
  });

  test("drops two stops that it reaches together, and never the last", () => {
    const near = routeOf([0, 0], [[{ to: [[0, 1000]] }], [{ to: [[0, 1010]] }], [{ to: [[0, 2000]] }]]);
    const page = led(near, { stops: [via, stopAt([0, 1010]), destination] });
    expect(drive(page, 990, 99).shown.stops).toEqual([destination]);
    expect(drive(led(near, { stops: [destination] }), 990, 99).shown.stops).toEqual([destination]);
  });

  test("keeps its stops each minute", () => {
    const page = led();
    expect(drive(page, 590, 59).names()).not.toContain("keep");
    expect(drive(page, 600, 60).names()).toContain("keep");
    expect(drive(page, 610, 61).names()).not.toContain("keep");
  });

  test("is led on while the driver chooses", () => {
    const page = led();
    expect(drive(page, 100, 10, { phase: "choosing" }).effects).toEqual([]);
  });
});

describe("after a long sleep of the browser", () => {
  const asleep = (minutes: number): Page => led().take({ name: "tick" }, { wallClock: 1000 }).take({ name: "tick" }, { wallClock: minutes * 60_000 + 1001 });

  test("a car elsewhere is asked whether to go on", () => {
    const page = asleep(30).take({ name: "fix" }, { fix: fixAt([5000, 5000], 1000), driveClock: 1000 });
    expect(page.shown).toMatchObject({ phase: "off", led: null, asking: { stops: [destination], at: 0 } });
  });

  test("a car on its route is led on", () => {
    expect(asleep(30).take({ name: "fix" }, { fix: fixAt([0, 10], 1000), driveClock: 1000 }).drive).toMatchObject({ hasSlept: false, led: { route: north } });
  });

  test("a shorter one does not matter", () => {
    expect(asleep(29).drive.hasSlept).toBe(false);
    expect(asleep(30).drive.hasSlept).toBe(true);
  });
});

describe("a car that has left its route", () => {
  const from = { place: placeOf([200, 500]), heading: 0 };

  test("has another one searched, every three seconds", () => {
    const page = leave(led());
    expect(page.drive.searchedAt).toBe(13_000);
    expect(page.shown).toMatchObject({ isSearching: true, progress: { isOff: true } });
    expect(page.take({ name: "tick" }, { now: 15_999, driveClock: 15_999 }).names()).not.toContain("search");
    expect(page.take({ name: "tick" }, { now: 16_000, driveClock: 16_000 }).effects.find((effect) => effect.do === "search")).toMatchObject({ session: "s1", led: page.drive.led });
  });

  test.each<[string, PositionAnswer, string[], Wish | null]>([
    ["nothing: a session is opened", { how: "sent" }, ["want"], { ...plain, adopts: true, reason: "left" }],
    ["no answer: a session is opened", { how: "failed" }, ["want"], { ...plain, adopts: true, reason: "left" }],
    ["no session: it is resumed", { how: "lost" }, ["want"], { ...plain, adopts: true, reason: "left", resumes: "s1" }],
    ["a route that turns back is compared with one that goes on", { how: "route", route: back }, ["compare"], null],
  ])("takes the answer: %s", (_, answer, names, wish) => {
    const page = leave(led());
    const [asked, route] = [page.requests.length, page.drive.led ?? never()];
    const [, effects] = step(page.drive, { name: "searched", led: route, from, session: "s1", answer, at: page.at });
    expect(effects.map((effect) => effect.do)).toEqual(names);
    page.take({ name: "searched", led: route, from, session: "s1", answer });
    expect(page.requests.slice(asked)).toEqual(wish === null ? [] : [wish]);
  });

  test("is led along the answer's route", () => {
    const page = leave(led());
    page.take({ name: "searched", led: page.drive.led ?? never(), from, session: "s1", answer: { how: "route", route: onward } });
    expect(page.drive.led).toMatchObject({ route: onward, reason: "left" });
    expect(page.shown.isSearching).toBe(false);
  });

  test.each<[string, Route | null, Route]>([
    ["one that goes on is led", onward, onward],
    ["none goes on", null, back],
    ["the other one turns back, too", { ...back }, back],
    ["going on takes two minutes longer", { ...onward, duration: back.duration + 120 }, back],
  ])("compares with turning back: %s", (_, other, want) => {
    const page = leave(led());
    expect(page.take({ name: "compared", led: page.drive.led ?? never(), back, onward: other }).drive.led?.route).toBe(want);
  });

  test("takes no answer when it is back, or led along another one", () => {
    const page = leave(led());
    const route = page.drive.led ?? never();
    page.take({ name: "fix" }, { fix: fixAt([0, 600], 16_000), driveClock: 16_000, now: 15_000 });
    expect(page.take({ name: "searched", led: route, from, session: "s1", answer: { how: "route", route: onward } }).drive.led).toBe(route);
    expect(page.shown.isSearching).toBe(false);
    const other = led(east);
    expect(other.take({ name: "compared", led: route, back, onward }).drive.led?.route).toBe(east);
  });
});

test.each<[string, Page, Partial<Moment>, { spot: Spot; heading: number | null } | null]>([
  ["on the route", led(), { fix: fixAt([3, 100], 10_000), driveClock: 10_000 }, { spot: [0, 100], heading: 0 }],
  ["where a slow car stands, without a heading", led(), { fix: fixAt([0, 0], 0, { speed: 1 }), driveClock: 0 }, { spot: [0, 0], heading: null }],
  ["at the fix, without a route", new Page(), { fix: fixAt([50, 50], 0, { heading: 90 }) }, { spot: [50, 50], heading: 90 }],
  ["nowhere, without either", new Page(), { fix: null }, null],
])("a new route begins %s", (_, page, at, want) => {
  if (page.drive.led !== null) page.take({ name: "fix" }, at);
  const start = startOf(page.drive, { ...page.at, ...at });
  if (want === null) {
    expect(start).toBeNull();
    return;
  }
  const place = placeOf(want.spot);
  expect(start?.place.lat).toBeCloseTo(place.lat, 4);
  expect(start?.place.lng).toBeCloseTo(place.lng, 4);
  expect(start?.heading === null ? null : Math.round(start?.heading ?? NaN) % 360).toBe(want.heading);
});
