// The demo's drive, second by second: the page's clock stands still between two steps, so that nothing depends on how fast a
// machine is.

import type { Page } from "playwright-core";
import { timetableOf, pointAt, type Timetable, type DrivePoint } from "../overlay/src/demodrive.ts";
import type { Drive } from "../overlay/src/wire.ts";
import { eventually, openCar, type Car, type CarOptions } from "./harness.ts";
import { read } from "./service.ts";

/** So much faster than by its own clock the car drives: a step costs little, whatever the page does each second besides. */
export const faster = 20;
const fixEvery = 1000 / faster; // ms of the page's clock: a second of the drive

/** Seen is what the page shows at one moment. */
export interface Seen {
  /** Since the drive began, by the page's clock. */
  ms: number;
  /** What was said last to a screen reader. */
  spoken: string;
  banner: { kind: string; street: string; figure: string; stage: string } | null;
  lines: { kind: string; street: string; figure: string }[];
}

/** Step is a second of the drive. */
export interface Step extends Seen {
  car: DrivePoint;
}

declare global {
  interface Window {
    /** When the drive began: when the page set the timer of its fixes. */
    began: number;
    /** What the page asks the service about a warning. */
    inquiries: Promise<unknown>[];
  }
}

/** note runs in the page before its scripts. */
function note(every: number): void {
  const set = window.setInterval.bind(window);
  window.setInterval = ((handler: () => void, timeout?: number) => {
    if (timeout === every) window.began = performance.now();
    return set(handler, timeout);
  }) as typeof window.setInterval;
  const ask = window.fetch.bind(window);
  window.inquiries = [];
  window.fetch = (input, init) => {
    const answer = ask(input, init);
    if (typeof input !== "string" || !input.startsWith("/v2/alerts")) return answer;
    const whole = answer.then(async (got) => new Response(await got.text(), got));
    window.inquiries.push(whole);
    return whole;
  };
}

/** see runs in the page, and waits until what the page has asked about a warning is answered. */
async function see(): Promise<Seen> {
  await Promise.allSettled(window.inquiries.splice(0));
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel(); // the page's timers stand still
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
    ms: performance.now() - window.began,
    spoken: text(document.querySelector('[role="alert"]')),
    banner: banner === null || banner.hidden ? null : { ...parts(banner, ".figure"), stage: banner.dataset["stage"] ?? "" },
    lines: [...document.querySelectorAll(".list ul:first-of-type .line")].map((line) => parts(line, ".figures strong")),
  };
}

/** drawNothing runs in the page before its scripts: frames cost a test more than anything else. */
function drawNothing(): void {
  HTMLCanvasElement.prototype.getContext = () => null;
}

/** Driven is a car on the demo's drive. */
export interface Driven {
  car: Car;
  timetable: Timetable;
}

/** openDrive opens the demo's drive, and drives until there is something in the list. */
export async function openDrive(withMap: boolean, options: CarOptions = {}): Promise<Driven> {
  const car = await openCar("/about", { place: null, stopped: true, locale: "en-IE", ...options });
  const { page } = car;
  await page.addInitScript(note, fixEvery);
  if (!withMap) await page.addInitScript(drawNothing);
  await page.goto(`/?drive=demo&x=${String(faster)}`);
  const timetable = timetableOf(await read<Drive>("/demo/drive.json", car.service));
  await eventually("the list is filled", async () => {
    await page.clock.runFor(1);
    const { ms, lines } = await page.evaluate(see);
    return ms >= 0 && lines.length > 3;
  });
  return { car, timetable };
}

/** goOn drives a second. */
export async function goOn(page: Page, timetable: Timetable): Promise<Step> {
  await page.clock.runFor(fixEvery);
  const seen = await page.evaluate(see);
  const car = pointAt(timetable, (seen.ms * faster) / 1000);
  if (car === null) throw new Error("the drive leads nowhere");
  return { ...seen, car };
}

/** goOnUntil drives until something is seen. */
export async function goOnUntil(what: string, { car, timetable }: Driven, isThere: (step: Step) => boolean | Promise<boolean>): Promise<Step> {
  return eventually(what, async () => {
    const step = await goOn(car.page, timetable);
    return (await isThere(step)) ? step : null;
  }, 30_000);
}
