import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Place } from "../overlay/src/geo/geo.ts";
import { placeOf } from "../overlay/src/pins/shapes.ts";
import { cameraBlue, countPixels, eventually, openCar, screens, type Car, type Colour } from "./harness.ts";
import { findOne } from "./serviceclient.ts";

const dist = new URL("../dist/overlay/", import.meta.url).pathname;

// What is loaded only when it is needed: the languages but English, the card of the first visit, details of cards, what reads other
// places, the menu's pages, navigation, and apps.
const loadedLater = /^((apps-)?(ar|de|es|fr|it|nl)|firstvisit|details|viewreaders|menupages|navigation|apps)\.js$/;

test("the JavaScript of the first load in one language is at most 330 KB when compressed", () => {
  const sizes = readdirSync(dist)
    .filter((name) => name.endsWith(".js") && !loadedLater.test(name))
    .map((name) => gzipSync(readFileSync(dist + name), { level: 9 }).length);
  expect(sizes.length).toBeGreaterThan(3);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(330 * 1024);
});

test("navigation is at most 45 KB when compressed", () => {
  expect(gzipSync(readFileSync(`${dist}navigation.js`), { level: 9 }).length).toBeLessThanOrEqual(45 * 1024);
});

test("apps are at most 20 KB when compressed", () => {
  expect(gzipSync(readFileSync(`${dist}apps.js`), { level: 9 }).length).toBeLessThanOrEqual(20 * 1024);
});

/** showsCamera waits until a camera is drawn on the map; the list, which has the same icon, is closed. */
async function showsCamera({ page }: Car): Promise<void> {
  await page.locator('.controls [aria-expanded="true"]').click();
  await eventually("a camera is drawn", async () => (await countPixels(page, cameraBlue)) > 300);
}

/** placeNearCamera is so close to a camera that the map shows it, and so far that the car does not cover it. */
async function placeNearCamera(): Promise<Place> {
  const { lat, lng } = placeOf(await findOne("camera.speed"));
  return { lat: lat - 0.001, lng };
}

test("pins are on the screen, at the place that the address names", async () => {
  const { lat, lng } = await placeNearCamera();
  await showsCamera(await openCar(`/?at=${String(lat)},${String(lng)}`, { place: null, map: "sharp", choices: { theme: "day" } }));
});

test("the first pins wait for neither streets nor names, which follow", async () => {
  const { lat, lng } = await placeNearCamera();
  const car = await openCar(null, { place: null, map: "coarse", choices: { theme: "day" } });
  let answer = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await car.context.route("**/map/style.json*", async (route) => {
    await released;
    await route.continue();
  });
  await car.page.goto(`/?at=${String(lat)},${String(lng)}`);
  await showsCamera(car);
  expect(car.requests.filter((url) => url.includes("/map/tiles/"))).toEqual([]);
  answer();
  const street: Colour = [0xff, 0xd4, 0x6b]; // of a large road (internal/roads/basemap)
  await eventually("streets are drawn", async () => (await countPixels(car.page, street)) > 300);
  expect(await countPixels(car.page, cameraBlue)).toBeGreaterThan(300);
});

test.each(Object.entries(screens))("pins are on the screen around the driver (%s)", async (name, viewport) => {
  const map = name === "large" ? "coarse" : "sharp"; // the processor draws large maps slowly, and icons keep their colour
  const car = await openCar("/", { viewport, map, place: await placeNearCamera(), choices: { theme: "day" } });
  await showsCamera(car);
  await car.screenshot(`driver-${name}`);
});

test("a sensor's fix is read around, by the car's own clock", async () => {
  const car = await openCar("/", { sensor: true, map: "blank", now: new Date("2030-01-01T12:00:00Z") });
  expect(await car.page.evaluate(() => new Date().getUTCFullYear())).toBe(2030);
  await car.sendFix({ lat: 52.01, lng: 5.01, heading: 90, speed: 14 });
  await eventually("a read", () => Promise.resolve(car.requests.some((url) => url.includes("/v2/stream?lat=52.0100&lng=5.0100&"))));
});

test("positions leave the page with four decimals, and to this service alone", async () => {
  const car = await openCar("/", { map: "blank", place: { lat: 52.000123456, lng: 5.000987654 } });
  const placed = (): string[] => car.requests.filter((url) => /lat|lng|5[.]000|52[.]0/.test(url));
  await eventually("a read", () => Promise.resolve(placed().length > 0));
  for (const url of placed()) expect(url).toContain("lat=52.0001&lng=5.0010&");
});

test("another release's page gets its files, and nothing is cached wrongly", async () => {
  const car = await openCar("/", { map: "blank" });
  const script = car.requests.find((url) => url.endsWith("/index.js"));
  expect(script).toBeDefined();
  const old = await car.page.request.get("/overlay/another/index.js");
  expect([old.status(), old.headers()["cache-control"]]).toEqual([200, "no-cache"]);
});

test("nothing is asked for twice while the page begins", async () => {
  const car = await openCar("/?at=52,5", { map: "blank" });
  await car.page.locator(".line").first().waitFor();
  // The worker loads the shared script again, from the browser's cache.
  const own = car.requests.filter((url) => !/\/map\/|\/map-shared\.js$/.test(url));
  expect(own.filter((url, at) => own.indexOf(url) !== at)).toEqual([]);
});
