// Opens the page in a car's browser and records its requests and errors. Every browser test uses it.

import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from "playwright-core";
import { expect } from "vitest";
import type { Choices } from "../overlay/src/settings/settings.ts";
import { choicesKey } from "../overlay/src/state/state.ts";
import { visitKey } from "../overlay/src/state/visit.ts";
import { findChromium, flags } from "./globalsetup.ts";
import { ownService } from "./owndemo.ts";
import { decodePNG } from "./png.ts";

/** Window sizes of the screenshots, in CSS pixels. */
export const screens = { large: { width: 1920, height: 1200 }, middle: { width: 1280, height: 800 }, smallTargets: { width: 1000, height: 750 } };

/** The centre of the demo's town. */
export const town = { lat: 52, lng: 5 };

/** Milliseconds that a test waits for a condition, at most. */
export const waitTimeout = 60_000;

/** Pictures for people take a tenth of the time of all tests. */
const takesPictures = process.env["SHOTS"] === "1";

export interface Car {
  /** URL of the service. */
  service: string;
  page: Page;
  context: BrowserContext;
  /** All URLs that the page and its workers requested, in order. */
  requests: string[];
  /** Console errors and uncaught exceptions. A test that expects some removes them. */
  errors: string[];
  /** moveTo moves the browser's geolocation, which reports no heading and no speed, as in many cars. */
  moveTo(to: { lat: number; lng: number; accuracy?: number }): Promise<void>;
  /** startDrawing draws the map of a car that was opened with a blank one, from the next frame on. */
  startDrawing(): Promise<void>;
  /** sendFix sends a complete fix; only for a car that was opened with a sensor. */
  sendFix(fix: Fix): Promise<void>;
  /** screenshot saves a screenshot in web/shots, if $SHOTS is 1. */
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
  /** Replaces the browser's geolocation by one that reports only what sendFix() sends. */
  sensor?: boolean;
  /** The driver was never here before, so that the page greets and asks before it locates. Default: false. */
  firstVisit?: boolean;
  /** The driver's stored choices. */
  choices?: Choices;
  /** What earlier visits have stored in the browser, by key. */
  stored?: Record<string, string>;
  /** The time of the page's clock when it opens; it runs from there. */
  now?: Date;
  /** The mocked geolocation; null if the driver denies it. Default: the town. */
  place?: { lat: number; lng: number } | null;
  /** A browser other than the tests' common one. */
  browser?: Browser;
  /**
   * How the map is drawn, which the processor does and which costs more than all the rest of a page. "blank" is without WebGL's draw
   * calls, but with all the work of the page and of MapLibre; the default is drawn for pictures, and blank where none are taken.
   * "sharp" is for tests that count pixels; "coarse" has half the resolution along each side, and panels as sharp as ever.
   */
  map?: "coarse" | "sharp" | "blank";
  /**
   * Stops the page's clock; car.page.clock.runFor() advances it. "later": it runs until stopClock() stops it, before what the page
   * shows for some seconds, which a busy machine takes to look at it.
   */
  stopped?: boolean | "later";
}

let browser: Browser | null = null;
const open: Car[] = [];
let visitors = 0; // pages that were opened

/** openBrowser starts the browser of all tests in this process, which ends with the process. */
export async function openBrowser(): Promise<void> {
  browser ??= await chromium.launch({ executablePath: findChromium(), args: flags, chromiumSandbox: false });
}

/** closeCars closes the pages of a test. Every test fails for requests to other origins and for unexpected errors. */
export async function closeCars(): Promise<void> {
  const cars = open.splice(0);
  await Promise.all(cars.map(({ context }) => context.close()));
  for (const car of cars) {
    expect(foreignRequests(car.requests, car.service), "requests to others").toEqual([]);
    expect(car.errors, "errors of the page").toEqual([]);
  }
}

/** keepOpen keeps a page from being closed and checked after a test, for pages that the tests of a file share; they close it. */
export function keepOpen(car: Car): Car {
  const at = open.indexOf(car);
  if (at >= 0) open.splice(at, 1);
  return car;
}

/** foreignRequests returns the URLs of other origins, except data: and blob:. */
export function foreignRequests(requests: readonly string[], service: string): string[] {
  return requests.filter((url) => !url.startsWith(`${service}/`) && !/^(data|blob):/.test(url));
}

/** openCar opens the page at a path such as "/?at=52,5"; null: none yet, so that the test can prepare the browser. */
export async function openCar(path: string | null = "/", { place = town, sensor = false, map = takesPictures ? "coarse" : "blank", now, browser: other, stopped = false, firstVisit = false, choices, stored, ...options }: CarOptions = {}): Promise<Car> {
  const service = options.baseURL ?? ownService();
  const used = other ?? browser;
  if (used === null) throw new Error("a page is opened before the browser");
  visitors++;
  const context = await used.newContext({
    viewport: screens.middle,
    serviceWorkers: "block", // route() and clocks do not reach requests that a worker sends; offline.test.ts allows it
    baseURL: service,
    // Each visitor has the limits of a guest: the service takes the address from a proxy on this machine.
    extraHTTPHeaders: { "X-Forwarded-For": `198.18.${String(visitors >> 8)}.${String(visitors & 255)}` },
    ...(place && { geolocation: { latitude: place.lat, longitude: place.lng, accuracy: 10 }, permissions: ["geolocation"] }),
    ...options,
  });
  context.setDefaultTimeout(waitTimeout);
  await context.addInitScript(hideRecognition);
  if (map !== "sharp") await context.addInitScript(makeMapCoarse);
  if (map === "blank") await context.addInitScript(stopDrawing);
  if (sensor) await context.addInitScript(installSensor);
  const kept = { ...(!firstVisit && { [visitKey]: "locate" }), ...(choices && { [choicesKey]: JSON.stringify({ choices, updated: 1, unsent: false }) }), ...stored };
  await context.addInitScript(presetStored, kept);
  if (now) await context.clock.setSystemTime(now);
  if (stopped) {
    await context.clock.install();
    if (stopped !== "later") await context.clock.pauseAt(Date.now() + 1000);
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
    startDrawing: () =>
      page.evaluate(() => {
        dispatchEvent(new CustomEvent("test:draw"));
      }),
    async screenshot(name) {
      await takePicture(page, name);
    },
  };
  context.on("request", (request) => car.requests.push(request.url()));
  page.on("console", (message) => {
    if (message.type() === "error") car.errors.push(message.text());
  });
  page.on("pageerror", (error) => car.errors.push(error.message));
  open.push(car);
  if (path !== null) await page.goto(path);
  return car;
}

/** takePicture saves a screenshot in web/shots, if people asked for pictures. */
export async function takePicture(page: Page, name: string, fullPage = false): Promise<void> {
  if (takesPictures) await page.screenshot({ path: new URL(`../shots/${name}.png`, import.meta.url).pathname, fullPage });
}

/** stopClock stops the clock of a page that was opened with stopped: "later". */
export async function stopClock(page: Page): Promise<void> {
  const stop = async (): Promise<void> => page.clock.pauseAt(await page.evaluate(() => Date.now() + 1000));
  await stop().catch(stop); // a busy machine may take a second to do it, which is an error, but then the clock stands
}

/**
 * touch presses and releases the mouse at once. Between two commands of its own, as mouse.click() sends, a busy machine takes so long
 * that the page sees a long press.
 */
export async function touch(page: Page, x: number, y: number): Promise<void> {
  await page.mouse.move(x, y);
  const debug = await page.context().newCDPSession(page);
  const send = (type: "mousePressed" | "mouseReleased"): Promise<unknown> => debug.send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  await Promise.all([send("mousePressed"), send("mouseReleased")]);
  await debug.detach();
}

/** hideRecognition runs in the page before its scripts. Chromium without windows ends a page that asks whether it recognises speech. */
function hideRecognition(): void {
  for (const name of ["SpeechRecognition", "webkitSpeechRecognition"]) Reflect.deleteProperty(window, name);
}

/** makeMapCoarse runs in the page before its scripts. Only the map asks for the ratio of pixels: the rest of the page stays as it is. */
function makeMapCoarse(): void {
  Object.defineProperty(window, "devicePixelRatio", { value: 0.5 });
}

/** stopDrawing runs in the page before its scripts. A canvas that is not even cleared is not copied to the screen in each frame. */
function stopDrawing(): void {
  for (const { prototype } of [WebGLRenderingContext, WebGL2RenderingContext]) {
    const { clear, drawElements, drawArrays } = Object.getOwnPropertyDescriptors(prototype);
    Object.assign(prototype, { clear: () => undefined, drawElements: () => undefined, drawArrays: () => undefined });
    addEventListener("test:draw", () => {
      Object.defineProperties(prototype, { clear, drawElements, drawArrays });
    });
  }
}

/** presetStored runs in the page before its scripts and overwrites nothing that the page stored later. */
function presetStored(kept: Record<string, string>): void {
  for (const [key, value] of Object.entries(kept)) if (localStorage.getItem(key) === null) localStorage.setItem(key, value);
}

/** installSensor runs in the page before its scripts. */
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

/** Milliseconds between two looks: the longer a condition is waited for, the more seldom it is looked at. */
const [shortestPause, longestPause] = [50, 250];

/** eventually polls until look returns a value other than null, false and undefined, and returns it. */
export async function eventually<T>(what: string, look: () => Promise<T | null | false | undefined>, within = waitTimeout, mostPause = longestPause): Promise<T> {
  const end = Date.now() + within;
  for (let pause = shortestPause; ; pause *= 1.2) {
    const found = await look();
    if (found !== null && found !== false && found !== undefined) return found;
    if (Date.now() > end) throw new Error(`not within ${String(within)} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(pause, mostPause)));
  }
}

/** Colour is red, green and blue, 0 to 255. */
export type Colour = [red: number, green: number, blue: number];

/** The blue of the camera icons, which nothing else on the map has. The list shows the same icons. */
export const cameraBlue: Colour = [28, 91, 184];

/**
 * countPixels counts the pixels of a screenshot that are close to a colour, which tests what a driver sees instead of the page's
 * state.
 */
export async function countPixels(page: Page, [red, green, blue]: Colour, within = 12): Promise<number> {
  const { pixels, channels } = decodePNG(await page.screenshot());
  const near = (at: number, value: number): boolean => Math.abs((pixels[at] ?? -99) - value) <= within;
  let count = 0;
  for (let i = 0; i < pixels.length; i += channels) if (near(i, red) && near(i + 1, green) && near(i + 2, blue)) count++;
  return count;
}
