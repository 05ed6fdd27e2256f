// Where to and which way: what a driver does before being led, against the demo's town.

import { beforeAll, afterEach, describe, expect, it } from "vitest";
import { closeCars, eventually, openBrowser, openCar, screens, stopClock, type Car } from "./harness.ts";
import { pass, until } from "./leddrive.ts";
import { signIn } from "./phonesignin.ts";

const address = "9th Avenue 40";

beforeAll(openBrowser);
afterEach(closeCars);

const searches = ({ requests }: Car): string[] => requests.filter((url) => url.includes("/v2/geocode/api"));

async function askWhereTo(car: Car, text: string): Promise<void> {
  await car.page.click("#where-to");
  await car.page.fill("#where-to-field", text);
  await car.page.waitForSelector(".where .result");
}

async function chooseWays(car: Car): Promise<void> {
  await askWhereTo(car, address);
  await eventually("the address", async () => (await car.page.textContent(".where .result strong"))?.includes("9th Avenue"));
  await car.page.click(".where .result");
  await car.page.waitForSelector(".way");
}

/** dragByTouch drags an element onto another one with a finger. */
async function dragByTouch({ page, context }: Car, from: string, to: string): Promise<void> {
  const middle = async (selector: string): Promise<{ x: number; y: number }> => {
    const box = await page.locator(selector).boundingBox();
    if (box === null) throw new Error(`no ${selector}`);
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  const [start, end] = [await middle(from), await middle(to)];
  const finger = await context.newCDPSession(page);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", touchPoints: { x: number; y: number }[]): Promise<unknown> => finger.send("Input.dispatchTouchEvent", { type, touchPoints });
  await touch("touchStart", [start]);
  for (let i = 1; i <= 5; i++) await touch("touchMove", [{ x: start.x, y: start.y + ((end.y - start.y) * i) / 5 }]);
  await touch("touchEnd", []);
}

describe("where to and which way", () => {
  it("finds an address while it is typed, offers ways, and starts by itself", async () => {
    const car = await openCar("/?at=52,5", { map: "blank", stopped: "later" });
    await car.page.click("#where-to");
    const began = performance.now();
    await car.page.locator("#where-to-field").pressSequentially(address, { delay: 30 });
    await car.page.waitForSelector(".where .result");
    expect(searches(car).length, "one request each 250 ms at most").toBeLessThanOrEqual(1 + (performance.now() - began) / 250);
    await eventually("the address with its direction", async () => /9th Avenue.*south/s.test((await car.page.textContent(".where .found")) ?? ""));
    await stopClock(car.page);
    await car.page.click(".where .result");
    await until(car.page, "a way", async () => (await car.page.$(".way")) !== null);
    expect(await car.page.getAttribute("#nav-way-0", "aria-pressed")).toBe("true");
    expect(await car.page.textContent("#nav-start")).toMatch(/Start \(\d+\)/);
    await pass(car.page, 10_500);
    await until(car.page, "the page leads", () => car.page.isVisible(".maneuver"));
    await car.page.clock.resume();
    await car.page.click("#nav-end");
    await car.page.click("#where-to");
    expect(await car.page.textContent(".where .found"), "the last destinations").toContain("9th Avenue");
    await car.page.click(".where .forget");
    expect(await car.page.evaluate(() => localStorage.getItem("wayside.places"))).not.toContain("9th Avenue");
  });

  it("adds a charger on the way with one touch, and orders stops by keys and by a finger", async () => {
    const car = await openCar("/?at=52,5", { map: "blank", hasTouch: true });
    await chooseWays(car);
    let arrive = (): void => undefined;
    const typed = new Promise<void>((resolve) => (arrive = resolve));
    await car.page.route("**/v2/navigation/table/**", async (route) => {
      await typed;
      await route.continue();
    });
    await car.page.click("#nav-show-chargers");
    await car.page.fill("#nav-range", "300");
    arrive(); // the range was typed while the chargers were looked for
    await car.page.waitForSelector(".choosing .result");
    await eventually("what the car can still go from there", async () => (await car.page.textContent(".choosing .result"))?.includes("range left there"));
    await car.page.click(".choosing .result");
    await car.page.waitForSelector(".way");
    await car.page.click("#nav-show-stops");
    await eventually("the charger is a stop", async () => (await car.page.$$(".stops li")).length === 2);
    const first = await car.page.textContent(".stops li strong");
    await car.page.focus(".stops .handle");
    await car.page.keyboard.press("ArrowDown");
    await eventually("the stop is the last one", async () => (await car.page.textContent(".stops li:last-child strong")) === first);
    await car.page.waitForSelector("#nav-start:not([aria-disabled=true])");
    await dragByTouch(car, ".stops li:last-child .handle", ".stops li:first-child .handle");
    await eventually("a finger moves it back", async () => (await car.page.textContent(".stops li:first-child strong")) === first);
    await car.page.click("#nav-start");
    await car.page.click("#nav-chargers");
    await car.page.click(".choosing .result");
    await car.page.waitForSelector(".choosing", { state: "hidden" }); // who is led has done with it
  });

  it("puts typing away above 10 km/h, and names a place by what is nearest", async () => {
    const car = await openCar("/", { place: null, sensor: true, map: "blank", locale: "en-IE" });
    const { page } = car;
    await car.sendFix({ lat: 52, lng: 5, speed: 0 });
    await askWhereTo(car, "9th Av");
    await page.fill("#where-to-field", "\u0634\u0627\u0631\u0639");
    expect(await page.evaluate(() => getComputedStyle(document.querySelector("#where-to-field") ?? document.body).direction), "Arabic in a page that reads from the left").toBe("rtl");
    await page.fill("#where-to-field", "");
    expect(await page.evaluate(() => getComputedStyle(document.querySelector("#where-to-field") ?? document.body).direction)).toBe("ltr");
    await car.sendFix({ lat: 52.0001, lng: 5, speed: 3, heading: 0 });
    await page.waitForSelector(".where .put-away:not([hidden])");
    expect(await page.isVisible("#where-to-field")).toBe(false);
    expect(await page.isVisible("#where-to-fuel"), "one touch finds what is near").toBe(true);
    await car.sendFix({ lat: 52.0001, lng: 5, speed: 0 });
    await page.waitForSelector("#where-to-field");
    await page.goto("/?to=51.99,5.02");
    await car.sendFix({ lat: 52, lng: 5, speed: 0 });
    await page.waitForSelector(".way");
    await eventually("its street", async () => /Road|Street|Avenue/.test((await page.textContent("#nav-choice-title")) ?? ""));
  });

  it("keeps places in the account for another browser, until one touch deletes them", async () => {
    const email = "places@example.org";
    const openSignedIn = async (cookies?: Awaited<ReturnType<Car["context"]["cookies"]>>): Promise<Car> => {
      const car = await openCar(cookies === undefined ? "/sign-in" : "/about", { map: "blank", locale: "en-IE", ...(cookies && { storageState: { cookies, origins: [] } }) });
      if (cookies === undefined) await signIn(car.page, email);
      await car.page.evaluate(() => {
        localStorage.setItem("wayside.signed-in", "1");
      });
      await car.page.goto("/?at=52,5");
      await car.page.click("#where-to");
      await car.page.waitForSelector("#where-to-account");
      return car;
    };
    const one = await openSignedIn();
    const isKept = async ({ page }: Car): Promise<boolean> => (await page.getAttribute("#where-to-account", "aria-pressed")) === "true";
    expect(await isKept(one), "only if the driver says so").toBe(false);
    await one.page.click("#where-to-set-home");
    await one.page.fill("#where-to-field", address);
    await one.page.click(".where .result");
    await one.page.waitForSelector("#where-to-account");
    await one.page.click("#where-to-account");
    await eventually("the account keeps them", () => isKept(one));
    const other = await openSignedIn(await one.context.cookies());
    await eventually("the other browser has home", async () => /Home.*9th Avenue/s.test((await other.page.textContent(".where .found")) ?? ""));
    await other.page.click(".where .forget");
    await eventually("it is gone from the account", async () => (await (await other.page.request.get("/v2/account/places")).text()).trim() === '{"places":{"recent":[]}}');
    await other.page.click("#where-to-account");
    await eventually("the account keeps none", async () => (await (await other.page.request.get("/v2/account/places")).text()).trim() === '{"places":null}');
    expect(await isKept(other)).toBe(false);
  });

  it("takes a geo: link out of the address, and asks again without motorways", async () => {
    const car = await openCar("/?at=52,5&to=geo:51.98,4.987?q=51.98,4.987(Town%20hall)", { map: "blank", viewport: screens.smallTargets });
    await car.page.waitForSelector(".way");
    expect(await car.page.textContent("#nav-choice-title")).toBe("Town hall");
    expect(new URL(car.page.url()).search).not.toContain("51.98");
    const before = car.requests.filter((url) => url.includes("/route/v1/")).length;
    await car.page.click("#nav-avoid-motorway");
    await eventually("another request of routes", () => Promise.resolve(car.requests.filter((url) => url.includes("/route/v1/")).length === before + 1));
    await car.page.waitForSelector(".way");
    const small = await car.page.$$eval(".choosing button", (all) => all.map((one) => ({ id: one.id, box: one.getBoundingClientRect() })).filter(({ box }) => box.height > 0 && Math.min(box.width, box.height) < 60).map(({ id }) => id));
    expect(small).toEqual([]);
    await car.page.setViewportSize({ width: 844, height: 390 }); // a phone laid down
    const seen = await car.page.$$eval(".way", (ways) => {
      const room = ways[0]?.closest(".scroll")?.getBoundingClientRect();
      return room !== undefined && ways.slice(0, 2).every((way) => way.getBoundingClientRect().bottom <= room.bottom);
    });
    expect(seen, "two ways are seen without scrolling").toBe(true);
    await car.page.click("#nav-choice-close");
    await car.page.waitForSelector("#where-to");
  });
});
