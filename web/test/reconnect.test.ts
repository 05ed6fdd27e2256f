import { expect, inject, test } from "vitest";
import { placeOf } from "../overlay/src/pins/shapes.ts";
import type { ViewAnswer } from "../overlay/src/net/wire.ts";
import { cameraBlue, countPixels, eventually, openCar, stopClock, touch, type Car } from "./harness.ts";
import { pass } from "./leddrive.ts";
import { findOne } from "./serviceclient.ts";
import { startDemo, type Demo } from "./globalsetup.ts";

/** Tolerance for the colour of pins that have become pale by age. */
const paleTolerance = 60;

const notice = ({ page }: Car): ReturnType<Car["page"]["locator"]> => page.locator('.notice [data-about="link"]');

/** mark sets an attribute that a reload would remove. */
const mark = ({ page }: Car): Promise<void> =>
  page.evaluate(() => {
    document.documentElement.dataset["kept"] = "yes";
  });

const isKept = ({ page }: Car): Promise<boolean> => page.evaluate(() => document.documentElement.dataset["kept"] === "yes");

test("an outage turns pins grey, and the page recovers without a reload", async () => {
  let demo: Demo | null = await startDemo(inject("program"));
  let opened: Car | null = null;
  try {
    const { address } = demo;
    const place = placeOf(await findOne("camera.avg_speed", address));
    const stored = { "wayside.names": "off" }; // names of water and road shields are blue, too
    const car = await openCar("/", { baseURL: address, map: "sharp", locale: "en-IE", place, stored, choices: { theme: "day" }, stopped: "later" });
    opened = car;
    const { page } = car;
    await page.locator(".controls [aria-expanded]").click(); // the list has icons of the same colour
    await page.locator(".car").evaluate((mark: HTMLElement) => {
      mark.style.display = "none"; // the marker is blue, too
    });
    const blue = (): Promise<number> => countPixels(page, cameraBlue, paleTolerance);
    await eventually("the camera is drawn", async () => (await blue()) > 300);
    expect(await notice(car).isVisible()).toBe(false);
    await mark(car);

    // From here on time passes by steps only: on a busy machine the service takes longer to end than the page says that it reconnects.
    await stopClock(page);
    await demo.end();
    demo = null;
    await eventually("the page says that it tries again", async () => {
      await pass(page, 500);
      return /^Connection lost. Reconnecting … Last updated \d+ sec ago$/.test((await notice(car).textContent()) ?? "");
    });
    expect(await blue(), "a short break changes no pin").toBeGreaterThan(300);
    await pass(page, 30_000);
    await eventually("pins are grey", async () => {
      await pass(page, 500);
      return (await blue()) < 20;
    });
    expect(await notice(car).textContent()).toMatch(/^No connection. Pins may be out of date. Last updated \d+ sec ago$/);
    await car.screenshot("break-grey");

    demo = await startDemo(inject("program"), new URL(address).host);
    await eventually("pins have their colour again", async () => {
      await pass(page, 5000); // the page's backoff grows
      return (await blue()) > 300;
    });
    expect(await notice(car).isVisible()).toBe(false);
    expect(await isKept(car)).toBe(true);
    expect(car.errors.splice(0).filter((text) => !/ERR_|Failed to fetch/.test(text)), "errors that are no broken connection").toEqual([]);
  } finally {
    await opened?.context.close(); // before the service ends, so that no request fails
    await demo?.end();
  }
});

test("a page that was asleep reconnects immediately", async () => {
  const car = await openCar("/?at=52,5", { map: "blank", locale: "en-IE", stopped: "later" });
  const { page } = car;
  const streams = (): number => car.requests.filter((url) => url.includes("/v2/stream?")).length;
  await page.locator(".line").first().waitFor();
  expect(streams()).toBe(1);
  await mark(car);
  await page.clock.fastForward("00:35"); // timers fire once, as after sleep; a stream may be silent for longer than that
  await eventually("a second stream", () => Promise.resolve(streams() === 2));
  await eventually("the list is filled", async () => (await page.locator(".line").count()) > 0);
  expect(await notice(car).isVisible()).toBe(false);
  expect(await isKept(car)).toBe(true);
});

test("a clock that is set changes no age", async () => {
  const car = await openCar("/?at=52,5", { map: "blank", locale: "en-IE", now: new Date("2031-01-01T12:00:00Z") });
  const { page } = car;
  await page.locator(".line", { hasText: "Road works" }).first().click();
  const age = page.locator(".facts", { hasText: /Seen (just now|\d+ (sec|min) ago)/ });
  await age.waitFor();
  const { length } = await page.locator(".line").all();
  await page.clock.setSystemTime(new Date("2019-01-01T12:00:00Z"));
  await page.locator(".card .signed").click();
  await eventually("as many pins as before", async () => (await page.locator(".line").count()) >= Math.min(length, 3));
  await page.locator(".line", { hasText: "Road works" }).first().click();
  await age.waitFor();
});

test("a driver who is not located touches the map, and can go back to the car's position", async () => {
  const car = await openCar(null, { place: null, locale: "en-IE" });
  const { page, context } = car;
  await page.route("**/v2/overlay/view?*", async (route) => {
    const view = (await (await route.fetch()).json()) as ViewAnswer;
    await route.fulfill({ json: { ...view, entities: [], clusters: null } }); // a touch of a pin would open it
  });
  await page.goto("/");
  const place = page.locator('.notice [data-about="place"]');
  await eventually("the page asks for a place", async () => (await place.textContent()) === "Location is off. Tap the map to set your position.");
  expect(car.requests.filter((url) => url.includes("lat=")), "nothing is read without a place").toEqual([]);
  await car.screenshot("place-refused");
  await page.locator(".scale").waitFor(); // which comes with the whole map
  await touch(page, 640, 400);
  await page.locator(".line").first().waitFor();
  expect(await place.isVisible()).toBe(false);
  await context.grantPermissions(["geolocation"]);
  await context.setGeolocation({ latitude: 52.2, longitude: 5, accuracy: 10 });
  await page.locator(".menu-button").click();
  await page.locator("#menu-locate").click();
  await eventually("the car's own place is used", () => Promise.resolve(car.requests.some((url) => url.includes("lat=52.2000&lng=5.0000"))));
});
