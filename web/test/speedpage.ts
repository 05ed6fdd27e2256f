// A page on a slow processor, and what is measured of it: speed.ts and navigationspeed.ts print it.
//
// Mesa renders the map: with a graphics card if there is one, otherwise on the processor (llvmpipe), beside the throttled page;
// without Mesa Chromium's own SwiftShader does, which takes twice as long. This says little about a car, so frames are measured twice:
// as they are, and with WebGL's two draw calls disabled, which leaves all the work of the page and of MapLibre for a
// frame.

import { chromium, type Browser, type BrowserContext, type CDPSession, type Page } from "playwright-core";
import { firstPinsMark } from "../overlay/src/map/pinlayers.ts";
import { findChromium, flags } from "./globalsetup.ts";

/** Factor by which the processor is slowed down. */
export const slowdown = 4;
/** How many pins the page shows. */
export const pins = 500;
/** Milliseconds after the first pins until the start is over. */
export const settled = 5000;
const watched = 20_000; // ms

export interface Frames {
  perSecond: number;
  /** 95th percentile of the time between two frames, in milliseconds. */
  p95: number;
  longTasks: number[];
  /** Milliseconds of throttled main thread time per frame. */
  work: number;
  /** Final resolution of the map along each side, as a share of the screen's. */
  share: number;
}

declare global {
  interface Window {
    drawnAt: number[];
    longTasks: { at: number; lasted: number }[];
  }
}

/** launchDrawing starts a browser whose map is drawn by Mesa if there is one. It is not the tests' browser, which composites without the emulated graphics card and copies each frame twice. */
export async function launchDrawing(): Promise<Browser> {
  const args = flags.filter((flag) => flag !== "--disable-gpu");
  const mesa = await launch([...args, "--use-angle=gl-egl", "--ignore-gpu-blocklist"]);
  const renderer = await drawnBy(mesa);
  if (renderer !== null) {
    print("the map is drawn by", renderer);
    return mesa;
  }
  await mesa.close();
  const own = await launch(args);
  print("the map is drawn by", (await drawnBy(own)) ?? "nothing");
  return own;
}

const launch = (args: string[]): Promise<Browser> => chromium.launch({ executablePath: findChromium(true), args, chromiumSandbox: false });

/** drawnBy returns the name of the renderer; null if there is none. */
async function drawnBy(browser: Browser): Promise<string | null> {
  const page = await browser.newPage();
  const name = await page.evaluate(() => {
    const gl = document.createElement("canvas").getContext("webgl2");
    const names = gl?.getExtension("WEBGL_debug_renderer_info");
    return names ? String(gl?.getParameter(names.UNMASKED_RENDERER_WEBGL)) : null;
  });
  await page.close();
  return name;
}

export interface Opened {
  page: Page;
  tools: CDPSession;
  firstPins: number;
}

export interface OpenOptions {
  /** Whether WebGL draws. */
  drawing: boolean;
  /** How many times the processor is slowed down. */
  slow: number;
}

/** openThrottled opens a URL in a context, which may have its files from an earlier visit, and waits for the first pins. */
export async function openThrottled(context: BrowserContext, url: string, { drawing, slow }: OpenOptions): Promise<Opened> {
  const page = await context.newPage();
  page.on("pageerror", (error) => {
    throw error;
  });
  await page.addInitScript((draws) => {
    window.drawnAt = [];
    window.longTasks = [];
    const frame = (at: number): void => {
      window.drawnAt.push(at);
      if (window.drawnAt.length > 10_000) window.drawnAt = [];
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) window.longTasks.push({ at: startTime, lasted: Math.round(duration) });
    }).observe({ type: "longtask", buffered: true });
    if (draws) return;
    for (const { prototype } of [WebGLRenderingContext, WebGL2RenderingContext]) prototype.drawElements = prototype.drawArrays = () => undefined;
  }, drawing);
  const tools = await context.newCDPSession(page);
  await tools.send("Performance.enable", { timeDomain: "threadTicks" }); // CPU time of the thread, independent of other load
  await tools.send("Emulation.setCPUThrottlingRate", { rate: slow });
  await page.goto(url);
  return { page, tools, firstPins: await markedAt(page, firstPinsMark) };
}

/** markedAt waits for a performance mark and returns its time, in milliseconds since the page was opened. */
export async function markedAt(page: Page, mark: string): Promise<number> {
  const wait = page.waitForFunction((name) => performance.getEntriesByName(name)[0]?.startTime, mark, { timeout: 60_000 });
  return (await (await wait).jsonValue()) ?? NaN;
}

async function busy(tools: CDPSession): Promise<number> {
  const { metrics } = await tools.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? NaN) * 1000;
}

/** countFrames counts once the start is over. */
export async function countFrames({ page, tools }: Opened): Promise<Frames> {
  await page.waitForTimeout(settled);
  const before = await busy(tools);
  const since = await page.evaluate(() => performance.now());
  await page.waitForTimeout(watched);
  const worked = (await busy(tools)) - before;
  return page.evaluate(
    ({ since, worked }) => {
      const frames = window.drawnAt.filter((at) => at >= since);
      const gaps = frames.slice(1).map((at, i) => at - (frames[i] ?? at));
      gaps.sort((a, b) => a - b);
      const time = (frames[frames.length - 1] ?? 0) - (frames[0] ?? 0);
      return {
        perSecond: (gaps.length / time) * 1000,
        p95: gaps[Math.floor(gaps.length * 0.95)] ?? NaN,
        longTasks: window.longTasks.filter(({ at }) => at >= since).map(({ lasted }) => lasted),
        work: worked / frames.length,
        share: (document.querySelector("canvas")?.width ?? NaN) / window.innerWidth,
      };
    },
    { since, worked },
  );
}

/** heapSize returns the megabytes of the page's heap after a garbage collection. */
export async function heapSize(tools: CDPSession): Promise<number> {
  await tools.send("HeapProfiler.collectGarbage");
  return (await tools.send("Runtime.getHeapUsage")).usedSize / 1e6;
}

export const print = (what: string, figure: string): void => {
  process.stdout.write(`${what.padEnd(74)}${figure}\n`);
};

export const longest = (tasks: readonly number[]): string => `${String(tasks.filter((lasted) => lasted > 100).length)} above 100 ms, the longest ${String(Math.max(0, ...tasks))} ms`;
