import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { countPixels, eventually, openCar, screens, town, type Colour } from "./harness.ts";

/** The green of the chargers' drawings: the town has several, and the plain ground has none. */
const chargerGreen: Colour = [13, 124, 61];

const dist = new URL("../dist/overlay/", import.meta.url).pathname;

test("all JavaScript is at most 320 KB when compressed", () => {
  const sizes = readdirSync(dist)
    .filter((name) => name.endsWith(".js"))
    .map((name) => gzipSync(readFileSync(dist + name), { level: 9 }).length);
  expect(sizes.length).toBeGreaterThan(3);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(320 * 1024);
});

test("pins are on the screen, at the place that the address names", async () => {
  const car = await openCar(`/?at=${String(town.lat)},${String(town.lng)}`, { place: null });
  await eventually("a charger is drawn", async () => (await countPixels(car.page, chargerGreen)) > 300);
  await car.shot("pins-middle");
});

test.each(Object.entries(screens))("pins are on the screen around the driver (%s)", async (name, viewport) => {
  const car = await openCar("/", { viewport });
  await eventually("a charger is drawn", async () => (await countPixels(car.page, chargerGreen)) > 300);
  await car.shot(`driver-${name}`);
});

test("a driver who refuses to be located picks a place on the map", async () => {
  const car = await openCar("/", { place: null });
  await eventually("the page asks for a place", () => car.page.getByText("Touch the map where you are").isVisible());
  expect(car.requests.filter((url) => url.includes("/nearby"))).toEqual([]);
  await car.page.mouse.click(640, 400);
  await eventually("the page reads what is near", () => Promise.resolve(car.requests.some((url) => url.includes("/nearby"))));
});

test("a sensor's fix is read around, by the car's own clock", async () => {
  const car = await openCar("/", { sensor: true, now: new Date("2030-01-01T12:00:00Z") });
  expect(await car.page.evaluate(() => new Date().getUTCFullYear())).toBe(2030);
  await car.sense({ lat: 52.01, lng: 5.01, heading: 90, speed: 14 });
  await eventually("a read", () => Promise.resolve(car.requests.some((url) => url.includes("lat=52.0100&lng=5.0100"))));
});

test("positions leave the page with four decimals", async () => {
  const car = await openCar("/", { place: { lat: 52.000123456, lng: 5.000987654 } });
  const read = await eventually("a read", () => Promise.resolve(car.requests.find((url) => url.includes("/nearby"))));
  expect(read).toContain("lat=52.0001&lng=5.0010&");
});

test("another release's page gets its files, and nothing is cached wrongly", async () => {
  const car = await openCar();
  const script = car.requests.find((url) => url.endsWith("/index.js"));
  expect(script).toBeDefined();
  const old = await car.page.request.get("/overlay/another/index.js");
  expect([old.status(), old.headers()["cache-control"]]).toEqual([200, "no-cache"]);
});
