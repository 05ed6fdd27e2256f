import { afterAll, beforeEach, expect, test } from "vitest";
import { placeOf } from "../overlay/src/pins/shapes.ts";
import { check } from "./pagechecks.ts";
import { ownService } from "./owndemo.ts";
import { eventually, openCar, type Car, type CarOptions } from "./harness.ts";
import { signIn } from "./phonesignin.ts";
import { startReleaseProxy, type ReleaseProxy } from "./releaseproxy.ts";
import { findOne } from "./serviceclient.ts";

let proxy: ReleaseProxy;
const started: ReleaseProxy[] = [];

beforeEach(async () => {
  proxy = await startReleaseProxy(ownService());
  started.push(proxy);
});

// After the pages, which would report broken connections.
afterAll(() => {
  for (const one of started) one.close();
});

/** openKept opens the page beside a camera, and waits until the page would start without a connection. */
async function openKept(options: CarOptions = {}): Promise<Car> {
  const place = placeOf(await findOne("camera.avg_speed"));
  const car = await openCar("/", { serviceWorkers: "allow", baseURL: proxy.url, place, locale: "en-IE", map: "blank", ...options });
  await isKept(car);
  return car;
}

const storedPins = ({ page }: Car): Promise<number> =>
  page.evaluate(async () => {
    const found = await (await caches.open("wayside-pins")).match("/offline/pins.json");
    return found === undefined ? -1 : ((await found.json()) as { entities: unknown[] }).entities.length;
  });

async function isKept(car: Car): Promise<void> {
  const { page } = car;
  await eventually("the worker controls the page", () => page.evaluate(() => navigator.serviceWorker.controller?.state === "activated"));
  await eventually("pins are stored", async () => (await storedPins(car)) > 0);
}

const releaseOf = ({ page }: Car): Promise<string | undefined> =>
  page.evaluate(() => /\/overlay\/(\w+)\//.exec(document.querySelector<HTMLScriptElement>("script[src]")?.src ?? "")?.[1]);

const shells = ({ page }: Car): Promise<string[]> => page.evaluate(async () => (await caches.keys()).filter((name) => name.startsWith("wayside-shell-")));

/** forgive removes the errors of broken connections. */
function forgive(car: Car): void {
  expect(car.errors.splice(0).filter((text) => !/ERR_|Failed to fetch|Failed to load resource/.test(text)), "errors that are no broken connection").toEqual([]);
}

/** endWithout ends a test without a connection: the page is closed first, since its next try would be an error after forgive. */
async function endWithout(car: Car): Promise<void> {
  await car.page.close();
  forgive(car);
}

const notice = ({ page }: Car): ReturnType<Car["page"]["locator"]> => page.locator('.notice [data-about="link"]');

test("a reload without a connection shows the page with the last pins, their age, and none that has expired", async () => {
  const car = await openKept({ map: "coarse" });
  const { page } = car;
  // One of the stored pins expires meanwhile.
  const camera = await page.evaluate(async () => {
    const cache = await caches.open("wayside-pins");
    const stored = (await (await cache.match("/offline/pins.json"))?.json()) as { wall: number; server: number; entities: { id: string; kind_id: string; expires_at: string | null }[] };
    stored.wall -= 600_000;
    stored.server -= 600_000;
    const [first, second] = stored.entities;
    if (first === undefined || second === undefined) throw new Error("two pins are needed");
    first.expires_at = new Date(stored.server + 300_000).toISOString();
    second.expires_at = null;
    await cache.put("/offline/pins.json", new Response(JSON.stringify(stored)));
    return { gone: first.id, kept: second.id, all: stored.entities.length };
  });
  expect(camera.all).toBeGreaterThan(1);
  proxy.mode = "down";
  await page.reload();
  await eventually("the age is told", async () => /^No connection. Pins may be out of date. Last updated 10 min ago$/.test((await notice(car).textContent()) ?? ""));
  await eventually("pins are listed", async () => (await page.locator(".list .line").count()) > 0);
  await page.locator("canvas").waitFor();
  await check(page, "without a connection");
  await car.screenshot("offline");
  forgive(car);

  proxy.mode = "up";
  await eventually("the page recovers without a reload", async () => !(await notice(car).isVisible()));
  forgive(car);
});

test("a connection that stalls is waited for no longer than a few seconds", async () => {
  const car = await openKept();
  proxy.mode = "stalled";
  await car.page.reload({ waitUntil: "commit" });
  await car.page.locator(".list .line").first().waitFor();
  const answered = await car.page.evaluate(() => performance.getEntriesByType("navigation").map((entry) => (entry as PerformanceNavigationTiming).responseStart));
  expect(answered[0]).toBeLessThan(30_000);
  await eventually("the page says so", () => notice(car).isVisible());
  await endWithout(car);
});

test("a new release is there with the next load, and its files replace the old ones", async () => {
  const car = await openKept();
  const before = proxy.release;
  expect(await releaseOf(car)).toBe(before);
  proxy.release = `${before.slice(0, -1)}${before.endsWith("z") ? "y" : "z"}`;
  await car.page.reload();
  expect(await releaseOf(car)).toBe(proxy.release);
  await eventually("the old files are gone", async () => (await shells(car)).join() === `wayside-shell-${proxy.release}`);
  proxy.mode = "down";
  await car.page.reload();
  expect(await releaseOf(car)).toBe(proxy.release);
  await car.page.locator(".panels").waitFor();
  await endWithout(car);
});

test("files of two releases never lie in one shell", async () => {
  const car = await openKept();
  // The service is upgraded between the worker and the files that the worker names.
  proxy.workerRelease = "newer";
  const state = await car.page.evaluate(async () => {
    const registration = await navigator.serviceWorker.getRegistration();
    await registration?.update();
    const next = registration?.installing;
    return new Promise((resolve) => {
      next?.addEventListener("statechange", () => {
        resolve(next.state);
      });
    });
  });
  expect(state).toBe("redundant");
  expect(await car.page.evaluate(async (own) => (await (await caches.open(`wayside-shell-${own}`)).match("/")) !== undefined, proxy.release)).toBe(true);
  expect(await car.page.evaluate(async () => (await (await caches.open("wayside-shell-newer")).match("/")) === undefined)).toBe(true);
  forgive(car);
});

test("signing out deletes the stored pins, on the pages and in the car", async () => {
  const car = await openKept();
  const { page } = car;
  await page.goto("/sign-in");
  await signIn(page, "offline@example.org");
  await page.goto("/");
  await eventually("pins are stored", async () => (await storedPins(car)) > 0);
  await page.goto("/account");
  await page.getByRole("button", { name: "Sign out" }).first().click();
  await page.waitForURL((url) => url.pathname !== "/account");
  expect(await storedPins(car)).toBe(-1);

  await page.goto("/sign-in");
  await signIn(page, "again@example.org");
  await page.evaluate(() => {
    localStorage.setItem("wayside.signed-in", "1"); // as after a sign-in in the car
  });
  await page.goto("/");
  await eventually("pins are stored", async () => (await storedPins(car)) > 0);
  await page.locator(".menu-button").click();
  await page.locator("#menu-account").filter({ hasText: "again@example.org" }).click();
  await page.locator("#account-do").filter({ hasText: "Sign out" }).click();
  await page.locator("#account-do").filter({ hasText: "Sign in" }).waitFor();
  expect(await storedPins(car)).toBe(-1);
  forgive(car);
});
