import { afterEach, beforeAll, expect, inject, test } from "vitest";
import type { Place } from "../overlay/src/geo/geo.ts";
import { startDemo } from "./globalsetup.ts";
import { closeCars, eventually, openBrowser, openCar, town, type Car } from "./harness.ts";
import { drive, openLed, panel, pass, until, untilLed, wayOver } from "./leddrive.ts";
import { ownDemo } from "./owndemo.ts";

beforeAll(openBrowser);
afterEach(closeCars);

const destination: Place = { lat: 51.99, lng: 5.02 };

/** forgive removes the errors of broken connections and of sessions that are no more. */
function forgive(car: Car): void {
  expect(car.errors.splice(0).filter((text) => !/ERR_|Failed to fetch|Failed to load resource/.test(text))).toEqual([]);
}

const sessionsOpened = ({ requests }: Car): number => requests.filter((url) => url.endsWith("/v2/navigation/sessions")).length;

test("a service that restarts is told the drive anew, and the driver nothing", async () => {
  let demo = await startDemo(inject("program"));
  const { address } = demo;
  try {
    const car = await openLed(town, destination, { baseURL: address });
    const { page } = car;
    const way = await wayOver([town, destination], address);
    await drive(car, way.slice(0, 10));
    const before = await panel(page);
    await demo.end();
    await drive(car, way.slice(10, 20));
    expect(await panel(page), "it is led on meanwhile").toMatchObject({ phase: "led", name: before.name, news: "", offer: "", asking: "" });
    demo = await startDemo(inject("program"), new URL(address).host);
    const opened = sessionsOpened(car);
    await until(page, "there is another session", async () => {
      await pass(page, 2000);
      return sessionsOpened(car) > opened;
    });
    await drive(car, way.slice(20, 24));
    expect(await panel(page)).toMatchObject({ phase: "led", name: before.name, news: "", offer: "", asking: "" });
    await page.close(); // it would ask the service that ends below
    forgive(car);
  } finally {
    await demo.end();
  }
});

test("a closure that comes while the stream is cut changes the route when it is back", async () => {
  const { push } = ownDemo();
  const closure = (ttl: number): unknown[] => [{ external_id: "cut-closure", kind: "alert.road_closed", lat: 52.00359, lng: 5, properties: { street: "13th Avenue" }, ttl_seconds: ttl }];
  const car = await openCar(null, { place: null, sensor: true, stopped: true, map: "blank", locale: "en-IE" });
  const { page } = car;
  let isCut = true;
  await page.route("**/v2/navigation/sessions/*/events", (route) => (isCut ? route.abort() : route.continue()));
  await page.goto("/?to=52.00594,5");
  await car.sendFix({ lat: 52.00099, lng: 5, speed: 0 });
  await untilLed(page);
  const before = await panel(page);
  try {
    expect((await page.request.post(push, { data: closure(600) })).status()).toBe(200);
    await pass(page, 3000);
    expect(await panel(page), "nobody can tell it yet").toMatchObject({ phase: "led", left: before.left, news: "" });
    isCut = false;
    await until(page, "the new route is there", async () => (await panel(page)).left !== before.left);
    expect((await panel(page)).phase).toBe("led");
  } finally {
    await page.request.post(push, { data: closure(1) });
  }
  forgive(car);
});

test("a better way whose event was lost with the stream is offered when it is back", async () => {
  const { push } = ownDemo();
  const closure = (ttl: number): unknown[] => [{ external_id: "lost-closure", kind: "alert.road_closed", lat: 52.00359, lng: 5, properties: {}, ttl_seconds: ttl }];
  const car = await openCar(null, { place: null, sensor: true, stopped: true, map: "blank", locale: "en-IE" });
  const { page } = car;
  const change = async (ttl: number, isClosed: boolean): Promise<void> => {
    expect((await page.request.post(push, { data: closure(ttl) })).status()).toBe(200);
    await eventually("the roads know", async () => {
      const answer = await page.request.get("/v2/navigation/conditions?lat=52.00359&lng=5&radius=100");
      return JSON.stringify(await answer.json()).includes("road_closed") === isClosed;
    });
  };
  // The first stream is read here until the event comes, of which the page hears nothing: its connection breaks instead.
  let isLost = false;
  await page.route("**/v2/navigation/sessions/*/events", async (route) => {
    if (isLost) {
      await route.continue();
      return;
    }
    const events = await fetch(route.request().url(), { headers: { Accept: "text/event-stream" } });
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of events.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      isLost = /event: reroute\n.*"reason":"faster"/.test(text);
      if (isLost) break;
    }
    await route.abort();
  });
  await change(600, true);
  try {
    await page.goto("/?to=52.00594,5");
    await car.sendFix({ lat: 52.00099, lng: 5, speed: 0 });
    await untilLed(page);
    const before = await panel(page);
    await change(1, false);
    await eventually("the event is lost", () => Promise.resolve(isLost));
    expect(await panel(page), "the page knows nothing yet").toMatchObject({ left: before.left, offer: "" });
    await until(page, "the shorter way is offered", async () => (await panel(page)).offer !== "");
    expect((await panel(page)).left, "it is not taken yet").toBe(before.left);
  } finally {
    await page.request.post(push, { data: closure(1) });
  }
  forgive(car);
});

test("a stream that is read again tells no route that is led already", async () => {
  const car = await openCar(null, { place: null, sensor: true, stopped: true, map: "blank", locale: "en-IE" });
  const { page } = car;
  let route: unknown = null;
  await page.route("**/v2/navigation/sessions", async (asked) => {
    const answer = await asked.fetch();
    ({ route } = (await answer.json()) as { route: unknown });
    await asked.fulfill({ response: answer });
  });
  // Each stream ends after its first event, as if the session had led around a closure when it began.
  let streams = 0;
  await page.route("**/v2/navigation/sessions/*/events", async (asked) => {
    streams++;
    const event = { route, reason: "closed", entity_ids: [], at: new Date().toISOString() };
    await asked.fulfill({ contentType: "text/event-stream", body: `event: route\ndata: ${JSON.stringify(event)}\n\n` });
  });
  await page.goto("/?to=52.00594,5");
  await car.sendFix({ lat: 51.99099, lng: 5, speed: 0 });
  await untilLed(page);
  const way = await wayOver([{ lat: 51.99099, lng: 5 }, { lat: 52.00594, lng: 5 }], car.service);
  await drive(car, way.slice(0, 20));
  const before = streams;
  await drive(car, way.slice(20, 60), async () => {
    expect(await panel(page)).toMatchObject({ phase: "led", news: "" });
    return streams > before + 2;
  });
  expect(streams, "the events were read again").toBeGreaterThan(before + 2);
  forgive(car);
});

test("a position on another continent is told, and the drive begins once it is right", async () => {
  const stored = { "wayside.drive": JSON.stringify({ stops: [{ place: destination, name: "", detail: "" }], avoid: [], at: Date.now() }) };
  const car = await openCar("/", { place: null, sensor: true, stopped: true, map: "blank", locale: "en-IE", stored });
  const { page } = car;
  await car.sendFix({ lat: -33.9, lng: 151.2, speed: 0 });
  await until(page, "it is said", async () => (await panel(page)).name === "No road near you. Check your position. Retrying …");
  await until(page, "the page leads", async () => {
    await car.sendFix({ ...town, speed: 0 }); // one alone would be taken for a wrong one
    await pass(page, 1000);
    return (await panel(page)).name === "8th Street";
  });
  forgive(car);
});

test("what is awkward about a destination is said before the drive begins", async () => {
  const status = (car: Car): Promise<string> => eventually("a sentence", async () => {
    const [box] = await car.page.locator(".choosing .scroll > .trouble:not([hidden])").allTextContents();
    return box !== undefined && !box.endsWith("…") && box;
  });
  const car = await openCar("/?to=52.0122667,4.9965", { map: "blank", locale: "en-IE" }); // in Ring Lake
  expect(await status(car)).toMatch(/^The road ends \d+ m before it\. Walk from there, or choose another place\.$/);
  await car.page.goto("/?to=51.9705,4.992112");
  expect(await status(car)).toBe("You can’t stop on a motorway. Choose another place.");
  await car.page.goto("/?to=51,3");
  expect(await status(car)).toBe("No road near there. Choose another place.");
  forgive(car);
});

test("whatever is searched for ends in results or in a sentence", async () => {
  const car = await openCar("/?at=52,5", { map: "blank", locale: "en-IE" });
  const { page } = car;
  await page.click("#where-to");
  for (const text of ["🦄", "👨‍👩‍👧‍👦".repeat(40), "x".repeat(10_000), "🦄".repeat(10_000), "\ud800", "شارع الملك", "רחוב הרצל", "\u202e\u2066abc", "%00%ff", "'; DROP TABLE places --", "8th Street"]) {
    await page.fill("#where-to-field", text);
    const said = await eventually(`an answer to ${text.slice(0, 10)}`, async () => {
      const status = (await page.locator(".where .trouble").allTextContents()).join("");
      const isFound = (await page.locator(".where .result").count()) > 0;
      return /^(Nothing found|Can’t)/.test(status) ? status : isFound && "found";
    });
    if (text === "8th Street") expect(said).toBe("found");
    else expect(["found", "Nothing found. Try other words."]).toContain(said);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1280);
  }
});
