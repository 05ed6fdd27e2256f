import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { distance, type Place } from "../overlay/src/geo/geo.ts";
import { eventually, openCar, town, type Car } from "./harness.ts";
import { drive, openLed, panel, pass, pointsOf, straightOn, until, untilLed, wayOver } from "./leddrive.ts";
import { ownDemo } from "./owndemo.ts";
import { violations, smallTargets } from "./pagechecks.ts";

// Mill Road leads from the town's centre to the south-east, and 8th Street crosses it.
const destination: Place = { lat: 51.99, lng: 5.02 };

const navigationRequests = ({ requests }: Car): string[] => requests.map((url) => new URL(url).pathname).filter((path) => path.startsWith("/v2/navigation/"));

/** metres parses "350 m" and "1.2 km". */
function metres(figure: string): number {
  const [, value, unit] = /([\d.]+) (k?m)/.exec(figure) ?? [];
  return Number(value) * (unit === "km" ? 1000 : 1);
}

const stored = ({ page }: Car): Promise<string | null> => page.evaluate(() => localStorage.getItem("wayside.drive"));

/** forgive removes the errors of broken connections and of sessions that are no more. */
function forgive(car: Car): void {
  expect(car.errors.splice(0).filter((text) => !/ERR_|Failed to fetch|Failed to load resource/.test(text))).toEqual([]);
}

test("a driver is led to a place and arrives", async () => {
  const car = await openLed(town, destination);
  const { page } = car;
  expect(new URL(page.url()).search, "the position is not kept in the history").toBe("");
  expect(JSON.parse((await stored(car)) ?? "{}"), "only where to is kept").toEqual({ stops: [{ place: destination, name: expect.any(String) as string, detail: expect.any(String) as string }], avoid: [], at: expect.any(Number) as number });
  const way = await wayOver([town, destination], car.service);
  const figures: number[] = [];
  const names = new Set<string>();
  const before = car.requests.length;
  await drive(car, way, async (_, i) => {
    const { figure, name, phase, limit } = await panel(page);
    if (phase === "arrived") return true;
    if (figures.length < 100) figures.push(metres(figure));
    names.add(name);
    if (i === 40) expect(limit).toMatch(/50$/);
    return undefined;
  });
  expect(figures[0]).toBeGreaterThan(1400);
  expect([...figures].sort((a, b) => b - a), "the distance only shrinks").toEqual(figures);
  expect([...names]).toEqual(["8th Street", "Your destination"]);
  expect((await panel(page)).arrived, "the place has the name that the search knows").toMatch(/^You have arrived8th Street \d+On the right/);
  expect(await stored(car), "nothing is resumed").toBeNull();
  const minutes = way.length / 60;
  // The page's clock runs faster than the service's heartbeats come, so that streams are opened more often than on a road.
  const asked = car.requests.slice(before).filter((url) => /\/v2\/(?!stream|entities\/nearby|navigation\/sessions\/[^/]+\/events)/.test(url));
  expect(asked.length / minutes, `requests a minute: ${asked.join("\n")}`).toBeLessThan(12);
  await eventually("the session has ended", () => Promise.resolve(navigationRequests(car).length > 0));
  await page.locator("#nav-done").click();
  expect((await panel(page)).phase).toBe("off");
  expect(await page.locator(".where-to").isVisible()).toBe(true);
});

test("a driver who goes straight on gets another route within a second of it being noticed", async () => {
  const car = await openLed(town, destination);
  const { page } = car;
  const way = await wayOver([town, destination], car.service);
  const corner = way.findIndex(({ heading }) => heading < 100);
  await drive(car, way.slice(0, corner - 2));
  expect((await panel(page)).name).toBe("8th Street");
  const last = way[corner - 3];
  if (last === undefined) throw new Error("no corner");
  const after = straightOn(last, 16);
  let noticed = -1;
  await drive(car, after, async (_, i) => {
    if (["8th Street", "Your destination"].includes((await panel(page)).name)) return undefined;
    await until(page, "the new route is there", async () => (await panel(page)).figure !== "");
    noticed = i;
    return true;
  });
  expect(noticed, "seconds straight on: until 50 m are between, and three more").toBeGreaterThan(5);
  expect(noticed).toBeLessThan(12);
  expect((await panel(page)).news, "nobody is told off").toBe("");
});

test("a receiver that is wrong once, or frozen, moves nobody off the route", async () => {
  const car = await openLed(town, destination);
  const { page } = car;
  const way = await wayOver([town, destination], car.service);
  await drive(car, way.slice(0, 20));
  const [at] = way.slice(20);
  if (at === undefined) throw new Error("no way");
  await drive(car, [{ ...at, lat: at.lat + 0.02 }, ...way.slice(21, 24), { ...at, lat: at.lat + 0.001 }, ...way.slice(25, 30)]);
  const before = metres((await panel(page)).figure);
  await drive(car, Array.from({ length: 8 }, () => way[29] ?? at)); // the same fix again and again
  expect(metres((await panel(page)).figure), "the car goes on").toBeLessThan(before - 80);
  await drive(car, way.slice(38, 45));
  expect(navigationRequests(car).filter((path) => path.endsWith("/sessions"))).toHaveLength(1);
  expect((await panel(page)).name).toBe("8th Street");
});

test("in a tunnel the car goes on at the speed of before", async () => {
  const car = await openLed(town, destination);
  const { page } = car;
  const way = await wayOver([town, destination], car.service);
  await drive(car, way.slice(0, 30));
  const before = metres((await panel(page)).figure);
  await pass(page, 20_000);
  const after = metres((await panel(page)).figure);
  expect(before - after).toBeGreaterThan(220);
  expect(before - after).toBeLessThan(330);
  await drive(car, way.slice(51, 56));
  expect((await panel(page)).name).toBe("8th Street");
});

test("a closure ahead changes the route before its junction and says why", async () => {
  const { push } = ownDemo();
  const from = { lat: 52.00099, lng: 5 };
  const to = { lat: 52.00594, lng: 5 };
  const car = await openLed(from, to);
  const { page } = car;
  const closure = (ttl: number): unknown[] => [{ external_id: "led-closure", kind: "alert.road_closed", lat: 52.00359, lng: 5, properties: { street: "13th Avenue" }, ttl_seconds: ttl }];
  try {
    const before = await panel(page);
    expect((await page.request.post(push, { data: closure(600) })).status()).toBe(200);
    await until(page, "the new route is there", async () => (await panel(page)).left !== before.left && (await panel(page)).news !== "");
    expect((await panel(page)).news).toMatch(/^Road closed, 13th Avenue(, reported \d+ min ago)?\. New route(, \d+ min longer)?\.$/);
    expect(metres((await panel(page)).left.split(" · ")[1] ?? "")).toBeGreaterThan(600);
  } finally {
    await page.request.post(push, { data: closure(1) });
  }
  // It opens again: the old way is offered, and kept unless the driver declines. The page's time passes no faster than the service's, which
  // looks for a better way each ten seconds: after 45 seconds without a word the page would connect again.
  await until(page, "the old way is offered", async () => (await panel(page)).offer !== "");
  expect((await panel(page)).offer).toMatch(/^Faster route: saves \d+ min$/);
  await pass(page, 11_000);
  await until(page, "it is taken", async () => (await panel(page)).offer === "" && metres((await panel(page)).left.split(" · ")[1] ?? "") < 650);
});

test("a reload resumes the drive, and asks when it is older", async () => {
  const car = await openLed(town, destination);
  const { page } = car;
  const way = await wayOver([town, destination], car.service);
  await drive(car, way.slice(0, 20));
  await page.reload();
  await car.sendFix({ ...(way[20] ?? town), speed: 14 });
  await until(page, "the drive goes on", async () => (await panel(page)).name === "8th Street");
  await page.evaluate(() => {
    const kept = JSON.parse(localStorage.getItem("wayside.drive") ?? "{}") as { at: number; stops: { name: string }[] };
    const [stop] = kept.stops;
    if (stop !== undefined) stop.name = "Mill <img src=x onerror=alert(1)>";
    localStorage.setItem("wayside.drive", JSON.stringify({ ...kept, at: kept.at - 31 * 60_000 }));
  });
  await page.goto("/about"); // the page stores nothing when it is left
  await page.goto("/");
  await car.sendFix({ ...(way[20] ?? town), speed: 0 });
  await until(page, "the page asks", async () => (await panel(page)).asking !== "");
  expect((await panel(page)).asking).toBe("Continue to Mill <img src=x onerror=alert(1)>?");
  await page.locator(".asking .strong").click();
  await until(page, "the drive goes on", async () => (await panel(page)).name === "8th Street");
  await page.locator("#nav-end").click();
  expect(await stored(car)).toBeNull();
});

test("a session that the service forgot is opened anew without a word", async () => {
  const car = await openLed(town, destination);
  const { page } = car;
  const opened = (): number => navigationRequests(car).filter((path) => path.endsWith("/sessions")).length;
  await eventually("the events are read", () => Promise.resolve(navigationRequests(car).some((path) => path.endsWith("/events"))));
  const path = navigationRequests(car).find((one) => one.endsWith("/events"))?.replace(/\/events$/, "") ?? "";
  expect((await page.request.delete(path)).status()).toBe(204);
  await until(page, "there is another session", async () => Promise.resolve(opened() === 2));
  expect(await panel(page)).toMatchObject({ phase: "led", name: "8th Street", news: "" });
  await page.close(); // its stream may be refused after its position was
  forgive(car);
});

test("without a connection the route is led on, and the way back to it is shown", async () => {
  const car = await openLed(town, destination);
  const { page, context } = car;
  const way = await wayOver([town, destination], car.service);
  await drive(car, way.slice(0, 20));
  await context.setOffline(true);
  await drive(car, way.slice(20, 60));
  expect(await panel(page)).toMatchObject({ phase: "led", name: "8th Street" });
  const at = way[59];
  if (at === undefined) throw new Error("no way");
  const beside = straightOn({ ...at, heading: at.heading - 45 }, 14);
  await drive(car, beside);
  await until(page, "the way back is shown", async () => (await panel(page)).name === "No connection. Drive back to your route.");
  const away = distance(beside[13] ?? at, at);
  expect(metres((await panel(page)).figure)).toBeLessThan(away);
  await drive(car, [...pointsOf([beside[13] ?? at, way[75] ?? at]), ...way.slice(76, 82)]);
  expect((await panel(page)).name).toBe("8th Street");
  await context.close(); // errors of requests that failed come no later
  forgive(car);
});

test("without WebGL all maneuvers are a list", async () => {
  const car = await openCar(null, { place: null, sensor: true, stopped: true, locale: "en-IE" });
  const { page } = car;
  await page.addInitScript(() => {
    HTMLCanvasElement.prototype.getContext = () => null;
  });
  await page.goto(`/?to=${String(destination.lat)},${String(destination.lng)}`);
  await car.sendFix({ ...town, speed: 0 });
  await until(page, "the list is there", async () => (await page.locator(".steps li").count()) === 2);
  expect(await page.locator(".steps li").allTextContents()).toEqual(["1.6 km8th Street", "1.8 kmYour destination"]);
  expect(await violations(page)).toEqual([]);
});

test.each([
  ["in the sea", { lat: 0.5, lng: -30 }, "No road near there. Choose another place."],
])("a destination %s ends in a sentence that says what to do", async (_, place, sentence) => {
  const stored = { "wayside.drive": JSON.stringify({ stops: [{ place, name: "", detail: "" }], avoid: [], at: Date.now() }) };
  const car = await openCar("/", { place: null, sensor: true, stopped: true, map: "blank", locale: "en-IE", stored });
  const { page } = car;
  await car.sendFix({ ...town, speed: 0 });
  await until(page, "it is said", async () => (await panel(page)).name === sentence);
  await page.locator("#nav-end").click();
  expect((await panel(page)).phase).toBe("off");
  forgive(car);
});

/** covered returns pairs of panels that overlap. The car must be seen beside all of them. */
const covered = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const parts = [".car-mark", ".maneuver", ".banner", ".trip", ".prompt", ".dash", ".controls", ".menu-button", ".attribution"].flatMap((selector) => [...document.querySelectorAll(selector)].map((node) => ({ selector, box: node.getBoundingClientRect() })));
    const shown = parts.filter(({ box }) => box.width > 0 && box.height > 0);
    return shown.flatMap((a, i) => shown.slice(i + 1).filter(({ box: b }) => a.box.left < b.right - 1 && b.left < a.box.right - 1 && a.box.top < b.bottom - 1 && b.top < a.box.bottom - 1).map((b) => `${a.selector} and ${b.selector}`));
  });

test.each([
  ["day", 1280, 800],
  ["night", 1000, 750],
  ["day", 390, 844],
  ["night", 844, 390],
] as const)("the panels fit by %s at %i × %i", async (theme, width, height) => {
  const car = await openLed(town, destination, { viewport: { width, height }, choices: { theme, language: "de" } });
  const { page } = car;
  await drive(car, (await wayOver([town, destination], car.service)).slice(0, 8));
  expect(await violations(page)).toEqual([]);
  expect(await smallTargets(page)).toEqual([]);
  const cut = await page.evaluate(() => [...document.querySelectorAll<HTMLElement>(".maneuver *, .trip *")].filter((node) => node.getClientRects().length > 0 && node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== "inline").map((node) => node.outerHTML.slice(0, 100)));
  expect(cut, "overlong texts").toEqual([]);
  expect(await covered(page), "what lies over something else").toEqual([]);
  expect(await page.locator("#mute").isVisible(), "one button of sounds is enough").toBe(false);
  await car.screenshot(`navigation-led-${theme}-${String(width)}`);
});

test("a better way that is declined is not taken", async () => {
  const { push } = ownDemo();
  const closure = (ttl: number): unknown[] => [{ external_id: "led-closure-2", kind: "alert.road_closed", lat: 52.00359, lng: 5, properties: {}, ttl_seconds: ttl }];
  const settle = async (): Promise<void> => {
    await eventually("the roads know", async () => {
      const answer = await car.page.request.get("/v2/navigation/conditions?lat=52.00359&lng=5&radius=100");
      return JSON.stringify(await answer.json()).includes("road_closed") === isClosed;
    });
  };
  const car = await openCar(null, { place: null, sensor: true, stopped: true, map: "blank", locale: "en-IE" });
  let isClosed = true;
  await car.page.request.post(push, { data: closure(600) });
  await settle();
  const { page } = car;
  await page.goto("/?to=52.00594,5");
  await car.sendFix({ lat: 52.00099, lng: 5, speed: 0 });
  await untilLed(page);
  const before = await panel(page);
  await page.request.post(push, { data: closure(1) });
  isClosed = false;
  await settle();
  await until(page, "the shorter way is offered", async () => (await panel(page)).offer !== "");
  await page.locator(".offer button:not(.strong)").click();
  await pass(page, 15_000);
  const after = await panel(page);
  expect(after.offer).toBe("");
  expect(after.left.split(" · ")[1]).toBe(before.left.split(" · ")[1]);
});
