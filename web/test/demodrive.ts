// Drives the demo's drive second by second. The page's clock only advances when the test steps it, so that the result does not depend
// on the machine's speed.

import type { Page } from "playwright-core";
import { timetableOf, pointAt, type Timetable, type DrivePoint } from "../overlay/src/car/demodrive.ts";
import type { Drive } from "../overlay/src/net/wire.ts";
import { eventually, openCar, type Car, type CarOptions } from "./harness.ts";
import { read } from "./serviceclient.ts";

/** Factor by which the car is faster than its own clock, so that a step costs little time. */
export const speedUp = 20;
const fixInterval = 1000 / speedUp; // ms of the page's clock per second of the drive

/** PageSnapshot is what the page shows at one moment. */
export interface PageSnapshot {
  /** Milliseconds since the drive began, by the page's clock. */
  ms: number;
  /** The latest announcement for screen readers. */
  spoken: string;
  banner: { kind: string; street: string; figure: string; stage: string } | null;
  lines: { kind: string; street: string; figure: string }[];
}

/** DriveStep is one second of the drive. */
export interface DriveStep extends PageSnapshot {
  car: DrivePoint;
}

declare global {
  interface Window {
    /** When the drive began: when the page set the timer of its fixes. */
    driveStartedAt: number;
    /** The page's pending requests of alerts. */
    alertRequests: Promise<unknown>[];
  }
}

/** recordRequests runs in the page before its scripts. */
function recordRequests(every: number): void {
  const set = window.setInterval.bind(window);
  window.setInterval = ((handler: () => void, timeout?: number) => {
    if (timeout === every) window.driveStartedAt = performance.now();
    return set(handler, timeout);
  }) as typeof window.setInterval;
  const ask = window.fetch.bind(window);
  window.alertRequests = [];
  window.fetch = (input, init) => {
    const answer = ask(input, init);
    if (typeof input !== "string" || !input.startsWith("/v2/alerts")) return answer;
    const whole = answer.then(async (got) => new Response(await got.text(), got));
    window.alertRequests.push(whole);
    return whole;
  };
}

/** readPage runs in the page and waits until its requests of alerts are answered. */
async function readPage(): Promise<PageSnapshot> {
  await Promise.allSettled(window.alertRequests.splice(0));
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel(); // the page's timers are stopped
      port1.onmessage = resolve;
      port2.postMessage(null);
    });
  }
  const text = (node: Element | null): string => (node instanceof HTMLElement && !node.hidden ? node.textContent : "");
  const banner = document.querySelector<HTMLElement>(".banner");
  const parts = (node: Element, figure: string): { kind: string; street: string; figure: string } => ({
    kind: text(node.querySelector(".kind")),
    street: text(node.querySelector(".street")),
    figure: text(node.querySelector(figure)),
  });
  return {
    ms: performance.now() - window.driveStartedAt,
    spoken: text(document.querySelector('[role="alert"]')),
    banner: banner === null || banner.hidden ? null : { ...parts(banner, ".figure"), stage: banner.dataset["stage"] ?? "" },
    lines: [...document.querySelectorAll(".list ul.ahead .line, .list ul.beside .line")].map((line) => parts(line, ".figures strong")),
  };
}

/** disableCanvas runs in the page before its scripts: rendering is the most expensive part of a test. */
function disableCanvas(): void {
  HTMLCanvasElement.prototype.getContext = () => null;
}

/** DemoDrive is a page on the demo's drive. */
export interface DemoDrive {
  car: Car;
  timetable: Timetable;
}

/** openDemoDrive opens the demo's drive and drives until the list is filled, which ends at a fix. prepare is called with a page before. */
export async function openDemoDrive(withMap: boolean, options: CarOptions = {}, prepare: (page: Page) => Promise<void> = () => Promise.resolve()): Promise<DemoDrive> {
  const car = await openCar(null, { place: null, stopped: true, locale: "en-IE", ...options });
  const { page } = car;
  await prepare(page);
  await page.addInitScript(recordRequests, fixInterval);
  if (!withMap) await page.addInitScript(disableCanvas);
  const streamed = page.waitForResponse((answer) => new URL(answer.url()).pathname === "/v2/stream");
  await page.goto(`/?drive=loop&x=${String(speedUp)}`);
  const timetable = timetableOf(await read<Drive>("/demo/drive.json", car.service));
  await eventually("the drive has begun", async () => {
    await page.clock.fastForward(1);
    return (await page.evaluate(readPage)).ms >= 0;
  });
  await streamed; // otherwise the car would drive past pins while the service answers
  await eventually("the list is filled", async () => {
    const { ms } = await page.evaluate(readPage);
    await page.clock.fastForward(fixInterval - (Math.round(ms) % fixInterval));
    return (await page.evaluate(readPage)).lines.length > 3;
  });
  return { car, timetable };
}

/** driveOneSecond advances the drive by a second. */
export async function driveOneSecond(page: Page, timetable: Timetable): Promise<DriveStep> {
  await page.clock.fastForward(fixInterval);
  const seen = await page.evaluate(readPage);
  const car = pointAt(timetable, (seen.ms * speedUp) / 1000);
  if (car === null) throw new Error("the drive leads nowhere");
  return { ...seen, car };
}

/** Milliseconds for a drive: each of its seconds is drawn by a processor that may be busy with other tests. */
const driveTimeout = 240_000;

/** driveUntil drives until a condition holds. */
export async function driveUntil(what: string, { car, timetable }: DemoDrive, isThere: (step: DriveStep) => boolean | Promise<boolean>): Promise<DriveStep> {
  return eventually(what, async () => {
    const step = await driveOneSecond(car.page, timetable);
    return (await isThere(step)) ? step : null;
  }, driveTimeout, 0);
}
