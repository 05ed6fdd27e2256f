import { expect, inject, onTestFinished, test } from "vitest";
import type { Page } from "playwright-core";
import { en } from "../overlay/src/i18n/en.ts";
import { visitKey } from "../overlay/src/state/visit.ts";
import { startDemo } from "./globalsetup.ts";
import { check } from "./pagechecks.ts";
import { eventually, openCar, screens, stopClock, touch, town, type Car, type CarOptions } from "./harness.ts";
import { phoneScreen } from "./phonesignin.ts";

const extent = { west: 4.97, south: 51.985, east: 5.03, north: 52.015 };

/**
 * openFirst opens the page for the first time, in a service that knows the extent of its data. It is always the same extent: that of
 * the demo changes with its pins, and with it what lies under a tap.
 */
async function openFirst(options: CarOptions = {}): Promise<Car> {
  const car = await openCar(null, { firstVisit: true, place: null, locale: "en-IE", map: "blank", ...options });
  await car.context.route("**/v2/overlay/config", async (route) => {
    const config = (await (await route.fetch()).json()) as Record<string, unknown>;
    await route.fulfill({ json: { ...config, extent } });
  });
  await car.page.goto("/");
  await car.page.locator(".welcome").waitFor();
  return car;
}

const notice = (page: Page, about: string): Promise<string | null> => page.locator(`.notice [data-about="${about}"]`).textContent();
const focused = (page: Page): Promise<string> => page.evaluate(() => document.activeElement?.id ?? "");
const visited = (page: Page): Promise<string | null> => page.evaluate((key) => localStorage.getItem(key), visitKey);
const hasPosition = (car: Car): boolean => car.requests.some((url) => /[?&]lat=/.test(url));

/**
 * tapUntilPlaced taps the map, where there is no panel, until the position is set. Each tap is at another place: a tap on a pin
 * opens its card, the next one closes it.
 */
async function tapUntilPlaced(page: Page, y = 0.45): Promise<void> {
  const { width, height } = page.viewportSize() ?? screens.middle;
  let taps = 0;
  await eventually("a tap that places", async () => {
    await touch(page, width * (0.7 - 0.06 * (taps++ % 5)), height * y);
    return (await page.locator('.notice [data-about="named"]').isVisible()) && (await notice(page, "named")) === en["place.named"];
  });
}

test.each([["desktop", screens.middle], ["phone", phoneScreen]] as const)("the first visit explains itself, by keyboard too (%s)", async (name, viewport) => {
  const car = await openFirst({ viewport, map: "coarse" });
  const { page } = car;
  await page.locator("#welcome-drive").waitFor(); // this is the demo
  await check(page, "first visit");
  await car.screenshot(`first-visit-${name}`);
  expect(await focused(page)).toBe("welcome-locate");
  for (const next of ["welcome-look", "welcome-drive", "welcome-locate"]) {
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe(next);
  }
  await page.keyboard.press("Shift+Tab");
  expect(await focused(page)).toBe("welcome-drive");
  await page.keyboard.press("Escape");
  expect(await page.locator(".welcome").count()).toBe(0);
  expect(await page.evaluate(() => document.activeElement?.className)).toContain("menu-button");
  await check(page, "looking around");
  expect(hasPosition(car), "nobody was located").toBe(false);

  await page.reload();
  await page.locator(".recentre").waitFor();
  expect([await page.locator(".welcome").count(), await visited(page)]).toEqual([0, "look"]);
  expect(hasPosition(car)).toBe(false);
});

test("granted: the driver is found, and the next visit begins there", async () => {
  const car = await openFirst({ place: town });
  const { page } = car;
  await page.locator("#welcome-locate").click();
  await page.locator(".line").first().waitFor();
  expect(await visited(page)).toBe("locate");
  await page.reload();
  await page.locator(".line").first().waitFor();
  expect(await page.locator(".welcome").count()).toBe(0);
});

test("refused: the place is tapped, the finding tried again and refused again, and the place corrected", async () => {
  const car = await openFirst();
  const { page } = car;
  await page.locator("#welcome-locate").click();
  await eventually("the refusal", async () => (await notice(page, "place")) === en["place.refused"]);
  await check(page, "refused");
  await page.locator(".maplibregl-canvas").waitFor();
  await tapUntilPlaced(page);
  await page.locator(".line").first().waitFor();

  await page.locator(".menu-button").click();
  await page.locator("#menu-locate").click();
  expect([await page.locator(".menu").isVisible(), await page.evaluate(() => document.activeElement?.className)]).toEqual([false, expect.stringContaining("menu-button")]);
  await eventually("the second refusal", async () => (await notice(page, "place")) === en["place.refused"]);
  expect(await page.locator('.notice [data-about="named"]').isVisible()).toBe(false);
  const distances = (): Promise<string> => page.locator(".line strong").allTextContents().then((all) => all.join());
  const before = await distances();
  await tapUntilPlaced(page, 0.9);
  await eventually("other distances", async () => (await distances()) !== before);
});

test("a long press corrects the position at any time, and Escape leaves it", async () => {
  const car = await openCar("/", { place: town, map: "blank", stopped: "later" });
  const { page } = car;
  await page.locator(".line").first().waitFor();
  const press = async (x: number, y: number): Promise<void> => {
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.clock.runFor(700);
    await page.locator(".here").waitFor();
    await page.mouse.up();
  };
  await page.locator(".car-mark").waitFor(); // the map is open
  await stopClock(page); // the question goes after eight seconds
  await press(900, 250);
  await check(page, "I am here");
  await page.keyboard.press("Escape");
  expect(await page.locator(".here").isVisible()).toBe(false);
  await press(900, 250);
  await page.locator(".here .place-here").click();
  await eventually("it was set by hand", async () => (await notice(page, "named")) === en["place.named"]);
  expect(await page.locator(".here").isVisible()).toBe(false);
});

test("slow: the driver may go on without", async () => {
  const car = await openCar("/", { firstVisit: true, sensor: true, map: "blank", stopped: "later" });
  const { page } = car;
  await page.locator("#welcome-locate").waitFor();
  await stopClock(page); // it is slow after ten seconds
  await page.locator("#welcome-locate").click();
  expect(await notice(page, "place")).toBe(en["place.locating"]);
  await page.clock.runFor(10_500);
  expect(await notice(page, "place")).toBe(en["place.slow"]);
  await check(page, "slow");
  await car.sendFix(town);
  await page.clock.runFor(1000);
  expect(await page.locator('.notice [data-about="place"]').isVisible()).toBe(false);
});

test("wrong: a position from the network's address is called inaccurate", async () => {
  const car = await openFirst({ geolocation: { latitude: town.lat, longitude: town.lng, accuracy: 25_000 }, permissions: ["geolocation"] });
  const { page } = car;
  await page.locator("#welcome-locate").click();
  await eventually("the accuracy", async () => (await notice(page, "place"))?.includes("25 km"));
  await check(page, "inaccurate");
});

test("a place without data says so, and shows where there is some", async () => {
  const car = await openFirst({ place: { lat: 48.85, lng: 2.35 } });
  const { page } = car;
  await page.locator("#welcome-locate").click();
  await page.locator("#show-data").waitFor();
  expect(await notice(page, "data")).toContain("10 km");
  await check(page, "no data");
  await page.locator("#show-data").click();
  await page.locator(".recentre").waitFor(); // the map follows the car no longer
  expect(await page.locator("#show-data").isVisible()).toBe(false);
});

test("without a map the first visit leads to a place that can be typed", async () => {
  const car = await openCar(null, { firstVisit: true, place: null, viewport: screens.smallTargets });
  const { page } = car;
  await page.addInitScript(() => {
    HTMLCanvasElement.prototype.getContext = () => null;
  });
  await page.goto("/");
  await page.locator("#welcome-look").click();
  await page.locator(".typing input").waitFor();
  await check(page, "without a map");
  expect(car.errors.splice(0).filter((text) => !text.includes("WebGL"))).toEqual([]);
});

test("the demo drive begins by the touch that turns on the sound, ends where it is, and begins again", async () => {
  const demo = await startDemo(inject("program")); // see owndemo.ts
  onTestFinished(demo.end);
  const car = await openFirst({ baseURL: demo.address });
  const { page } = car;
  await page.locator("#welcome-drive").click();
  await eventually("own speed", async () => /\d+ km\/h/.test((await page.locator(".speed").textContent()) ?? ""));
  expect(await page.locator("#sound-on").isVisible()).toBe(false);
  expect(new URL(page.url()).search).toBe("?drive=demo");
  await page.locator("#nav-end").click(); // the drive is led to its destination
  await page.locator("#demo-do").click();
  await eventually("drive again", async () => (await page.locator("#demo-do").textContent()) === en["demo.again"]);
  expect(new URL(page.url()).search).toBe("");
  expect(await page.locator('.notice [data-about="named"]').isVisible(), "the driver has set nothing").toBe(false);
  await page.locator("#demo-do").click();
  await eventually("driving", async () => (await page.locator("#nav-end").isVisible()) && (await page.locator(".speed").isVisible()));
});

test("sound is offered until the first touch, and muted by one button", async () => {
  const car = await openCar("/?at=52,5", { map: "blank" });
  const { page } = car;
  const prompt = page.locator("#sound-on");
  await prompt.waitFor();
  await check(page, "sound is off");
  await prompt.click();
  await prompt.waitFor({ state: "hidden" });
  const mute = page.locator("#mute");
  expect(await mute.getAttribute("aria-label")).toBe(en["sound.mute"]);
  await mute.click();
  await eventually("muted", async () => (await mute.getAttribute("aria-label")) === en["sound.unmute"]);
  await page.reload();
  await page.locator(".menu-button").waitFor();
  expect([await prompt.isVisible(), await mute.getAttribute("aria-label")]).toEqual([false, en["sound.unmute"]]);
});
