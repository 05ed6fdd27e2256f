// Performance of the page on a slow processor: make bench BENCH=web. The browser's tools measure it and throttle the processor by a
// factor of four, while the demo's drive passes 500 pins.

import { mkdirSync } from "node:fs";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { screens, town } from "./harness.ts";
import { startPinServer, type PinServer } from "./pinserver.ts";
import { ownService } from "./owndemo.ts";
import { countFrames, heapSize, launchDrawing, longest, openThrottled, pins, print, settled, slowdown, type Opened, type OpenOptions } from "./speedpage.ts";

const fastDrive = 180_000; // ms, at ten times the speed: half an hour's drive

let browser: Browser;
let pinServer: PinServer;

beforeAll(async () => {
  browser = await launchDrawing();
  pinServer = await startPinServer(ownService(), pins);
});

afterAll(async () => {
  await browser.close();
  pinServer.close();
});

const newContext = (): Promise<BrowserContext> => browser.newContext({ viewport: screens.middle });

const open = async (path: string, options: OpenOptions): Promise<Opened> => openIn(await newContext(), path, options);

const openIn = (context: BrowserContext, path: string, options: OpenOptions): Promise<Opened> => openThrottled(context, pinServer.url + path, options);

/** printTimes prints times in ascending order and returns the one in the middle. */
function printTimes(what: string, promise: number, times: readonly number[]): number {
  const sorted = [...times].sort((a, b) => a - b);
  print(`first of ${String(pins)} pins on the screen, ${what}, slowed down ${String(slowdown)} times (promise ${String(promise)})`, `${sorted.map((ms) => ms.toFixed(0)).join(" ")} ms`);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

const here = `/?at=${String(town.lat)},${String(town.lng)}`;

test("first pins", async () => {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const opened = await open(here, { drawing: true, slow: slowdown });
    times.push(opened.firstPins);
    await opened.page.context().close();
  }
  expect(printTimes("cold", 2500, times)).toBeLessThanOrEqual(2500);
});

test("first pins of the second visit", async () => {
  const context = await newContext();
  const first = await openIn(context, here, { drawing: true, slow: 1 });
  await first.page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined)); // it has stored all files by then
  await first.page.close();
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const opened = await openIn(context, here, { drawing: true, slow: slowdown });
    times.push(opened.firstPins);
    await opened.page.close();
  }
  await context.close();
  expect(printTimes("second visit", 1000, times)).toBeLessThanOrEqual(1000);
});

test.each([
  [true, 1],
  [true, slowdown],
  [false, slowdown],
])("frames while driving: drawing %s, slowed down %d times", async (drawing, slow) => {
  const opened = await open("/?drive=loop", { drawing, slow });
  const frames = await countFrames(opened);
  if (drawing) {
    mkdirSync("shots", { recursive: true });
    await opened.page.screenshot({ path: `shots/speed-${String(slow)}.png` });
  }
  await opened.page.context().close();
  const how = `driving past ${String(pins)} pins, slowed down ${String(slow)} times, ${drawing ? "all of it" : "all but WebGL's own drawing"}`;
  print(how, `${frames.perSecond.toFixed(1)} frames/s, p95 ${frames.p95.toFixed(0)} ms`);
  print("  the page's work for a frame", `${frames.work.toFixed(1)} ms`);
  print("  the map's resolution", `${String(Math.round(frames.share * 100))} % of the screen's`);
  print("  long tasks", longest(frames.longTasks));
  expect(frames.perSecond).toBeGreaterThanOrEqual(30);
  expect(Math.max(0, ...frames.longTasks)).toBeLessThanOrEqual(100);
});

test("the heap stays flat", async () => {
  const { page, tools } = await open("/?drive=loop&x=10", { drawing: false, slow: 1 });
  const sizes: number[] = [];
  for (let passed = 0; passed <= fastDrive; passed += fastDrive / 6) {
    await page.waitForTimeout(passed === 0 ? settled : fastDrive / 6);
    sizes.push(await heapSize(tools));
  }
  await page.context().close();
  print("heap in half an hour's drive, at ten times the speed", `${sizes.map((size) => size.toFixed(1)).join(" ")} MB`);
  expect((sizes[6] ?? NaN) - (sizes[1] ?? NaN)).toBeLessThan(3);
});
