// What every browser test starts with: a page of the car's browser that notes what it asks for and what goes wrong.

import { mkdirSync } from "node:fs";
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject } from "vitest";
import type { Choices } from "../overlay/src/settings.ts";
import { choicesKey } from "../overlay/src/state.ts";

/** The windows of which screenshots are kept: width and height in CSS pixels. */
export const screens = { large: { width: 1920, height: 1200 }, middle: { width: 1280, height: 800 }, smallTargets: { width: 1000, height: 750 } };

/** The middle of the demo town. */
export const town = { lat: 52, lng: 5 };

export interface Car {
  /** The service that the page is from. */
  service: string;
  page: Page;
  context: BrowserContext;
  /** Every address that the page and its workers asked for, in order. */
  requests: string[];
  /** Errors of the console and exceptions that nobody caught. A test that expects some empties the list. */
  errors: string[];
  /** moveTo moves the browser's geolocation, which gives no heading and no speed, as cars often do. */
  moveTo(to: { lat: number; lng: number; accuracy?: number }): Promise<void>;
  /** sendFix gives the page a fix with everything; only for a car that was opened with a sensor. */
  sendFix(fix: Fix): Promise<void>;
  /** screenshot keeps a screenshot in web/shots. */
  screenshot(name: string): Promise<void>;
}

export interface Fix {
  lat: number;
  lng: number;
  accuracy?: number;
  heading?: number | null;
  speed?: number | null;
}

export interface CarOptions extends BrowserContextOptions {
  /** Replaces the browser's geolocation by one that says what sense() is told, and nothing before. */
  sensor?: boolean;
  /** What the driver has chosen before. */
  choices?: Choices;
  /** What the page's clock shows when it opens; it goes on from there. car.page.clock moves it. */
  now?: Date;
  /** Where the mocked geolocation is; null: the driver refuses. Default: the town. */
  place?: { lat: number; lng: number } | null;
  /** Another browser than that of all tests. */
  browser?: Browser;
  /** Starts the page's clock by hand: it stands still, and car.page.clock.runFor() moves it. */
  stopped?: boolean;
}

let browser: Browser;
const open: Car[] = [];

beforeAll(async () => {
  browser = await chromium.connect(inject("browser"));
});

afterAll(async () => {
  await browser.close();
});

/** Whatever a test does: nothing leads elsewhere, and no error is left unseen. */
afterEach(async () => {
  const cars = open.splice(0);
  await Promise.all(cars.map(({ context }) => context.close()));
  for (const car of cars) {
    expect(foreignRequests(car.requests, car.service), "requests to others").toEqual([]);
    expect(car.errors, "errors of the page").toEqual([]);
  }
});

/** foreignRequests picks the addresses that are not the service's. Drawings in the page itself (data:, blob:) go nowhere. */
export function foreignRequests(requests: readonly string[], service: string): string[] {
  return requests.filter((url) => !url.startsWith(`${service}/`) && !/^(data|blob):/.test(url));
}

/** openCar opens the page at a path such as "/?at=52,5". */
export async function openCar(path = "/", { place = town, sensor = false, now, browser: other, stopped = false, choices, ...options }: CarOptions = {}): Promise<Car> {
  const service = options.baseURL ?? inject("service");
  const context = await (other ?? browser).newContext({
    viewport: screens.middle,
    baseURL: service,
    ...(place && { geolocation: { latitude: place.lat, longitude: place.lng, accuracy: 10 }, permissions: ["geolocation"] }),
    ...options,
  });
  if (sensor) await context.addInitScript(installSensor);
  if (choices) await context.addInitScript(presetChoices, [choicesKey, JSON.stringify({ choices, updated: 1, unsent: false })] as const);
  if (now) await context.clock.setSystemTime(now);
  if (stopped) {
    await context.clock.install();
    await context.clock.pauseAt(Date.now() + 1000);
  }
  const page = await context.newPage();
  const car: Car = {
    service,
    page,
    context,
    requests: [],
    errors: [],
    moveTo: ({ lat, lng, accuracy = 10 }) => context.setGeolocation({ latitude: lat, longitude: lng, accuracy }),
    sendFix: (fix) =>
      page.evaluate((detail) => {
        dispatchEvent(new CustomEvent("test:fix", { detail }));
      }, fix),
    async screenshot(name) {
      const folder = new URL("../shots/", import.meta.url).pathname;
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: `${folder}${name}.png` });
    },
  };
  context.on("request", (request) => car.requests.push(request.url()));
  page.on("console", (message) => {
    if (message.type() === "error") car.errors.push(message.text());
  });
  page.on("pageerror", (error) => car.errors.push(error.message));
  open.push(car);
  await page.goto(path);
  return car;
}

/** presetChoices runs in the page, before its own scripts: what is chosen later stays. */
function presetChoices([name, value]: readonly [string, string]): void {
  if (localStorage.getItem(name) === null) localStorage.setItem(name, value);
}

/** installSensor runs in the page, before its own scripts. */
function installSensor(): void {
  let latest: GeolocationPosition | null = null;
  const watchers = new Map<number, PositionCallback>();
  addEventListener("test:fix", (event) => {
    const { lat, lng, accuracy = 10, heading = null, speed = null } = (event as CustomEvent<Fix>).detail;
    const coords = { latitude: lat, longitude: lng, accuracy, heading, speed, altitude: null, altitudeAccuracy: null };
    const position = { timestamp: Date.now(), coords: { ...coords, toJSON: () => coords }, toJSON: () => coords };
    latest = position;
    watchers.forEach((tell) => {
      tell(position);
    });
  });
  const sensor: Geolocation = {
    getCurrentPosition: (tell) => {
      if (latest) tell(latest);
    },
    watchPosition: (tell) => {
      const id = watchers.size + 1;
      watchers.set(id, tell);
      if (latest) tell(latest);
      return id;
    },
    clearWatch: (id) => watchers.delete(id),
  };
  Object.defineProperty(navigator, "geolocation", { value: sensor });
}

/** eventually waits until look gives a value that is not null, false or undefined, and returns it. */
export async function eventually<T>(what: string, look: () => Promise<T | null | false | undefined>, within = 10_000): Promise<T> {
  const end = Date.now() + within;
  for (;;) {
    const found = await look();
    if (found !== null && found !== false && found !== undefined) return found;
    if (Date.now() > end) throw new Error(`not within ${String(within)} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Colour is red, green and blue, 0 to 255. */
export type Colour = [red: number, green: number, blue: number];

/** The blue of the cameras' drawings: nothing else on the map has it. The list has the same drawings. */
export const cameraBlue: Colour = [28, 91, 184];

/**
 * countPixels counts the pixels of the screen that are near a colour, as a driver would see them: it looks at a screenshot and
 * believes nothing that the page says of itself.
 */
export async function countPixels(page: Page, colour: Colour, within = 12): Promise<number> {
  const picture = (await page.screenshot()).toString("base64");
  const reader = await page.context().newPage(); // the page's own policy lets it read no data:
  try {
    return await reader.evaluate(
      async ([data, within, red, green, blue]) => {
        const image = new Image();
        image.src = `data:image/png;base64,${data}`;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext("2d");
        if (context === null) return 0;
        context.drawImage(image, 0, 0);
        const pixels = context.getImageData(0, 0, image.width, image.height).data;
        const near = (at: number, value: number): boolean => Math.abs((pixels[at] ?? -99) - value) <= within;
        let count = 0;
        for (let i = 0; i < pixels.length; i += 4) if (near(i, red) && near(i + 1, green) && near(i + 2, blue)) count++;
        return count;
      },
      [picture, within, ...colour] as const,
    );
  } finally {
    await reader.close();
  }
}
