import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { en } from "../overlay/src/i18n/en.ts";
import type { ViewAnswer } from "../overlay/src/net/wire.ts";
import { cameraBlue, countPixels, eventually, screens, touch, town, type Car, type CarOptions } from "./harness.ts";
import { pass } from "./leddrive.ts";
import { check } from "./pagechecks.ts";
import { phoneScreen } from "./phonesignin.ts";
import { openTestConsole, type TestConsole } from "./testconsole.ts";

// Cameras around two cities and one in a third, far from the demo's town, whose map the service has.
const paris = { lat: 48.8566, lng: 2.3522, count: 700, spread: 0.12 };
const lyon = { lat: 45.764, lng: 4.8357, count: 300, spread: 0.12 };
const bordeaux = { lat: 44.8378, lng: -0.5792, count: 1, spread: 0 };
const cities = [paris, lyon, bordeaux];
const total = cities.reduce((sum, { count }) => sum + count, 0);

const rows = cities.flatMap(({ lat, lng, count, spread }) =>
  Array.from({ length: count }, (_, i) => ({
    external_id: `${String(lat)}-${String(i)}`,
    kind: "camera.speed",
    lat: lat + spread * Math.sqrt(i / count) * Math.sin(i * 2.4),
    lng: lng + 1.5 * spread * Math.sqrt(i / count) * Math.cos(i * 2.4),
    properties: { street: `Rue ${String(i)}` },
  })),
);

declare global {
  interface Window {
    /** Reads of views since the page was told to count them. */
    viewReads: number;
  }
}

let service: TestConsole;

beforeAll(async () => {
  service = await openTestConsole();
  const { page } = await service.signInAs("cameras@example.org");
  const made = await page.request.post(`${service.address}/v2/feeds`, {
    headers: { Origin: service.address },
    data: { name: "Cameras", direction: "push", visibility: "public", attribution: "© Testshire", licence: "CC0-1.0" },
  });
  const text = await made.text();
  const [token = ""] = /wsp_\w+/.exec(text) ?? [];
  expect(token, text).not.toBe("");
  const [id = ""] = /[\da-f]{8}-[\da-f-]{27}/.exec(text) ?? [];
  service.cli("feed", "approve", id);
  const pushed = await page.request.post(`${service.address}/v2/feeds/${token}/entities`, { data: rows });
  expect(pushed.status(), await pushed.text()).toBe(200);
  await eventually("all are there", async () => {
    const answer = (await (await page.request.get(`${service.address}/v2/overlay/view?bbox=-10,40,10,60&zoom=5`)).json()) as ViewAnswer;
    return answer.clusters?.reduce((sum, { count }) => sum + count, 0) === total;
  });
});

afterAll(() => service.end());

interface Looker extends Car {
  /** The views that were read, with their queries. */
  views: { query: URLSearchParams; answer: ViewAnswer }[];
}

async function look(path: string, options: CarOptions = {}): Promise<Looker> {
  const car = await service.visit("/about", { viewport: screens.middle, map: "sharp", ...options });
  const views: Looker["views"] = [];
  car.page.on("response", (response) => {
    if (!response.url().includes("/v2/overlay/view")) return;
    void response.json().then((answer: ViewAnswer) => views.push({ query: new URL(response.url()).searchParams, answer }), () => undefined);
  });
  await car.page.goto(path);
  return { ...car, views };
}

const notice = (page: Page, about: string) => page.locator(`.notice [data-about="${about}"]`);
const countOf = ({ answer }: Looker["views"][number]): number => answer.clusters?.reduce((sum, { count }) => sum + count, 0) ?? answer.entities.length;
const settled = (car: Looker, what: string, holds: (last: Looker["views"][number]) => boolean): Promise<Looker["views"][number]> =>
  eventually(what, () => {
    const last = car.views[car.views.length - 1];
    return Promise.resolve(last !== undefined && holds(last) && last);
  });
const showsCameras = (page: Page, least = 400): Promise<unknown> => eventually("cameras on the map", async () => (await countPixels(page, cameraBlue)) > least);

/** pixelOf returns where a place is on the screen; a read box is a tenth larger than the view on each side. */
function pixelOf({ query }: Looker["views"][number], { lat, lng }: { lat: number; lng: number }, { width, height }: { width: number; height: number }): { x: number; y: number } {
  const [west = 0, south = 0, east = 0, north = 0] = (query.get("bbox") ?? "").split(",").map(Number);
  const mercator = (degrees: number): number => Math.asinh(Math.tan((degrees * Math.PI) / 180));
  const inner = { south: south + (north - south) / 12, north: north - (north - south) / 12, west: west + (east - west) / 12, east: east - (east - west) / 12 };
  return {
    x: ((lng - inner.west) / (inner.east - inner.west)) * width,
    y: ((mercator(inner.north) - mercator(lat)) / (mercator(inner.north) - mercator(inner.south))) * height,
  };
}

test.each([["desktop", screens.middle], ["phone", phoneScreen]] as const)("without a position the map begins with the clusters of all data, and a tap opens one (%s)", async (name, viewport) => {
  const car = await look("/", { firstVisit: true, viewport });
  const { page } = car;
  const first = await settled(car, "all data", (view) => countOf(view) === total);
  expect(first.answer.clusters?.every(({ kind_id }) => kind_id === "camera.speed")).toBe(true);
  await page.locator("#welcome-look").click();
  await showsCameras(page);
  expect(await notice(page, "elsewhere").isVisible()).toBe(false);
  expect(await page.locator(".attribution").textContent()).toContain("© Testshire");
  await check(page, "clusters");
  await car.screenshot(`look-clusters-${name}`);

  const wide = await settled(car, "the extent", (view) => countOf(view) === total);
  const [largest] = [...(wide.answer.clusters ?? [])].sort((a, b) => b.count - a.count);
  expect(largest?.count).toBeGreaterThan(100);
  const { x, y } = pixelOf(wide, largest ?? paris, viewport);
  await touch(page, x, y);
  const closer = await settled(car, "a closer view", ({ query }) => Number(query.get("zoom")) > Number(wide.query.get("zoom")) + 1);
  expect(countOf(closer)).toBeLessThanOrEqual(total);
  expect(await page.locator(".card").isVisible()).toBe(false);
  await car.screenshot(`look-closer-${name}`);
});

test.each(["day", "night"] as const)("where nothing is around, the page names the nearest place and shows it, until the map follows again (%s)", async (name) => {
  const car = await look("/", { place: town, choices: { theme: name } });
  const { page } = car;
  await notice(page, "data").getByText("No data within 10 km. Nearest: Paris,").waitFor();
  await check(page, "nearest");
  await car.screenshot(`look-nearest-${name}`);
  expect(car.views).toEqual([]); // the map follows the car
  await page.locator("#show-data").click();
  const view = await settled(car, "pins in Paris", ({ answer }) => answer.clusters === null && answer.entities.length > 20);
  expect(view.answer.entities.length).toBeLessThanOrEqual(500);
  await showsCameras(page);
  await notice(page, "elsewhere").getByText(en["view.elsewhere"]).waitFor();
  await check(page, "elsewhere");
  await car.screenshot(`look-elsewhere-${name}`);
  expect(await page.locator(".list .line").count(), "the list is of the surroundings").toBe(0);

  const [nearest] = view.answer.entities;
  const [lng = 0, lat = 0] = nearest?.geom.coordinates ?? [];
  const { x, y } = pixelOf(view, { lat, lng }, screens.middle);
  await touch(page, x, y - 28);
  await page.locator(".card").waitFor();
  expect(await page.locator(".card .street").textContent()).toMatch(/^Rue \d+$/);
  expect(await page.locator(".card .facts").textContent()).not.toContain(en["card.expired"]);
  await car.screenshot(`look-card-${name}`);

  await page.locator(".recentre").click();
  await page.locator(".card").waitFor({ state: "hidden" });
  await eventually("the pins are gone", async () => (await countPixels(page, cameraBlue)) < 50);
  expect(await notice(page, "elsewhere").isVisible()).toBe(false);
});

test("what the driver hides is neither shown nor counted", async () => {
  const car = await look("/", { choices: { kinds_off: ["camera.speed"] } });
  const view = await settled(car, "a view", () => true);
  expect([countOf(view), view.query.get("kinds_off")]).toEqual([0, "camera.speed"]);
  expect(await countPixels(car.page, cameraBlue)).toBeLessThan(50);
});

/** countReads runs in the page and counts its reads of views from there on. */
function countReads(): void {
  const ask = window.fetch.bind(window);
  window.viewReads = 0;
  window.fetch = (input, init) => {
    if (typeof input === "string" && input.startsWith("/v2/overlay/view")) window.viewReads++;
    return ask(input, init);
  };
}

/** While the page's clock stands, a minute of it is long enough for each timer that could read the view again. */
const aMinute = 60_000;

test("nothing is read while the page is hidden or without a network", async () => {
  const car = await look("/", { firstVisit: true, map: "blank", stopped: true });
  const { page, context } = car;
  const passes = (what: string, isSo: () => Promise<boolean>): Promise<boolean> =>
    eventually(what, async () => {
      await page.clock.fastForward(100);
      return isSo();
    });
  await passes("the card of the first visit", () => page.locator("#welcome-look").isVisible());
  await page.locator("#welcome-look").click();
  const scale = page.locator(".scale");
  await passes("all data, and the scale of the map", async () => car.views.some((view) => countOf(view) === total) && scale.isVisible());
  await pass(page, 5000); // until the view rests and was read
  await page.evaluate(countReads);
  const asked = (): Promise<number> => page.evaluate(() => window.viewReads);
  const setHidden = (hidden: boolean): Promise<void> =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, "visibilityState", { value: hidden ? "hidden" : "visible", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  const zoomIn = async (): Promise<void> => {
    const before = await scale.innerHTML();
    await page.mouse.move(640, 300);
    await page.mouse.wheel(0, -600);
    await passes("the map shows another view", async () => (await scale.innerHTML()) !== before);
    await pass(page, aMinute);
  };
  await setHidden(true);
  await zoomIn();
  expect(await asked()).toBe(0);
  const answered = car.views.length;
  await setHidden(false);
  await passes("a read", async () => (await asked()) > 0);
  await passes("its answer", () => Promise.resolve(car.views.length > answered));

  await context.setOffline(true);
  const online = await asked();
  await zoomIn();
  expect(await asked()).toBe(online);
  await notice(page, "view").getByText(en["view.failed"]).waitFor();
  await context.setOffline(false);
  await passes("a read", async () => (await asked()) > online);
  await passes("no notice", () => notice(page, "view").isHidden());
  car.errors.splice(0); // of what failed without a network
});
