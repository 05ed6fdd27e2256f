// Where to and which way: what a driver does before being led, against the demo's town.

import { beforeAll, afterEach, describe, expect, it } from "vitest";
import { closeCars, eventually, openBrowser, openCar, screens, type Car } from "./harness.ts";

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

describe("where to and which way", () => {
  it("finds an address while it is typed, offers ways, and starts by itself", async () => {
    const car = await openCar("/?at=52,5", { map: "blank" });
    await car.page.click("#where-to");
    await car.page.locator("#where-to-field").pressSequentially(address, { delay: 30 });
    await car.page.waitForSelector(".where .result");
    expect(searches(car).length, "one request each 250 ms at most").toBeLessThanOrEqual(5);
    await eventually("the address with its direction", async () => /9th Avenue.*south/s.test((await car.page.textContent(".where .found")) ?? ""));
    await car.page.click(".where .result");
    await car.page.waitForSelector(".way");
    expect(await car.page.getAttribute("#nav-way-0", "aria-pressed")).toBe("true");
    expect(await car.page.textContent("#nav-start")).toMatch(/Start \(\d+\)/);
    await car.page.waitForSelector(".maneuver:not([hidden])"); // after ten seconds
    await car.page.click("#nav-end");
    await car.page.click("#where-to");
    expect(await car.page.textContent(".where .found"), "the last destinations").toContain("9th Avenue");
    await car.page.click(".where .forget");
    expect(await car.page.evaluate(() => localStorage.getItem("wayside.places"))).not.toContain("9th Avenue");
  });

  it("adds a charger on the way with one touch, and orders stops by keys", async () => {
    const car = await openCar("/?at=52,5", { map: "blank" });
    await chooseWays(car);
    await car.page.click("#nav-show-chargers");
    await car.page.fill("#nav-range", "300");
    await car.page.waitForSelector(".choosing .result");
    expect(await car.page.textContent(".choosing .result")).toMatch(/range left there/);
    await car.page.click(".choosing .result");
    await car.page.waitForSelector(".way");
    await car.page.click("#nav-show-stops");
    expect(await car.page.$$(".stops li")).toHaveLength(2);
    const first = await car.page.textContent(".stops li strong");
    await car.page.focus(".stops .handle");
    await car.page.keyboard.press("ArrowDown");
    await eventually("the stop is the last one", async () => (await car.page.textContent(".stops li:last-child strong")) === first);
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
    await car.page.click("#nav-choice-close");
    await car.page.waitForSelector("#where-to");
  });
});
