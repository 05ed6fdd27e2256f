import { mkdirSync, writeFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { isHidden, pointAt, timetableOf, type DrivePoint, type Timetable } from "../overlay/src/car/demodrive.ts";
import { distance, type Place } from "../overlay/src/geo/geo.ts";
import type { DemoDrives, GuidedDrive } from "../overlay/src/net/wire.ts";
import { startDemo, type Demo } from "./globalsetup.ts";
import { eventually, openCar, type Car } from "./harness.ts";
import { pass } from "./leddrive.ts";
import { read } from "./serviceclient.ts";

let demo: Demo;
beforeAll(async () => {
  demo = await startDemo(inject("program")); // see owndemo.ts
});
afterAll(() => demo.end());

/** Milliseconds of a step of the clock: the voice is as exact. */
const speechStep = 500;

/** Spoken is what the recorded voice was given. Times are milliseconds of the page's clock. */
interface Spoken {
  text: string;
  from: number;
  /** When it ended or was stopped. */
  to: number;
  wasStopped: boolean;
}

declare global {
  interface Window {
    spoken: Spoken[];
    asked: { path: string; at: number }[];
    pending: Promise<unknown>[];
    began: number;
  }
}

/** installVoice runs in the page before its scripts: a voice in the car that takes as long as a person, and a record of requests. */
function installVoice(): void {
  window.spoken = [];
  let current: { one: Spoken; end: () => void; timer: number } | null = null;
  class Utterance {
    voice = null;
    lang = "";
    onstart: (() => void) | null = null;
    onend: (() => void) | null = null;
    onerror: ((event: { error: string }) => void) | null = null;
    readonly text: string;
    constructor(text: string) {
      this.text = text;
    }
  }
  const voice = { lang: "en-GB", localService: true, default: true, name: "Recorder", voiceURI: "recorder" };
  const synthesis = {
    getVoices: () => [voice],
    speak: (utterance: Utterance) => {
      const took = 500 + (utterance.text.length / 14) * 1000;
      const one = { text: utterance.text, from: performance.now(), to: performance.now() + took, wasStopped: false };
      window.spoken.push(one);
      const end = (): void => {
        current = null;
        utterance.onend?.();
      };
      current = { one, end, timer: window.setTimeout(end, took) };
      utterance.onstart?.();
    },
    cancel: () => {
      if (current === null) return;
      clearTimeout(current.timer);
      current.one.to = performance.now();
      current.one.wasStopped = true;
      current = null;
    },
  };
  Object.defineProperty(window, "speechSynthesis", { value: synthesis });
  Object.defineProperty(window, "SpeechSynthesisUtterance", { value: Utterance });
  const ask = window.fetch.bind(window);
  window.asked = [];
  window.pending = [];
  window.fetch = (input, init) => {
    const path = new URL(typeof input === "string" ? input : input instanceof URL ? input.href : input.url, location.href).pathname;
    window.asked.push({ path, at: performance.now() });
    const answer = ask(input, init);
    if (path === "/demo/drive.json") {
      void answer.then(() => {
        window.began = performance.now();
      });
    }
    if (/^\/v2\/(alerts|navigation)/.test(path) && !path.endsWith("/events")) window.pending.push(answer.catch(() => undefined));
    return answer;
  };
}

/** Step is one second of the drive. */
interface Step {
  /** Seconds since the drive began. */
  second: number;
  car: DrivePoint;
  hidden: boolean;
  phase: string;
  figure: string;
  name: string;
  lanes: number;
  news: string;
  spoken: Spoken[];
}

/** lookAt waits until the service has answered, and reads the page. */
const lookAt = (page: Page): Promise<Pick<Step, "phase" | "figure" | "name" | "lanes" | "news" | "spoken"> & { ms: number }> =>
  page.evaluate(async () => {
    await Promise.all(window.pending.splice(0));
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel(); // the page's timers are stopped
        port1.onmessage = resolve;
        port2.postMessage(null);
      });
    }
    const text = (selector: string): string => {
      const node = document.querySelector<HTMLElement>(selector);
      return node?.closest("[hidden]") === null ? node.textContent : "";
    };
    return {
      ms: performance.now() - window.began,
      phase: document.querySelector<HTMLElement>(".panels")?.dataset["nav"] ?? "",
      figure: text(".maneuver .figure"),
      name: text(".maneuver .what > .name"),
      lanes: document.querySelectorAll(".maneuver .lanes:not([hidden]) .lane").length,
      news: text(".news"),
      spoken: window.spoken.map((one) => ({ ...one, from: one.from - window.began, to: one.to - window.began })),
    };
  });

interface GuidedPage {
  car: Car;
  guided: GuidedDrive;
  timetable: Timetable;
}

async function openGuided(): Promise<GuidedPage> {
  const car = await openCar(null, { baseURL: demo.address, place: null, stopped: true, map: "blank", locale: "en-IE" });
  await car.page.addInitScript(installVoice);
  await car.page.goto("/?drive=demo");
  const { guided } = await read<DemoDrives>("/demo/drive.json", car.service);
  if (guided === undefined) throw new Error("the demo has no drive to a destination");
  await eventually("the page leads", async () => {
    await pass(car.page, 50);
    return (await lookAt(car.page)).figure !== "";
  });
  return { car, guided, timetable: timetableOf(guided) };
}

async function driveOneSecond({ car, guided, timetable }: GuidedPage): Promise<Step> {
  await pass(car.page, 1000, speechStep);
  const { ms, ...seen } = await lookAt(car.page);
  const second = Math.min(ms / 1000, timetable.duration - 0.01);
  const at = pointAt(timetable, second);
  if (at === null) throw new Error("the drive leads nowhere");
  return { second: ms / 1000, car: at, hidden: isHidden(timetable, guided.tunnels, second), ...seen };
}

/** metres parses "350 m" and "1.2 km". */
function metres(figure: string): number {
  const [, value, unit] = /([\d.]+) (k?m)/.exec(figure) ?? [];
  return Number(value) * (unit === "km" ? 1000 : 1);
}

const bridge: Place = { lat: 52.00359, lng: 5 };

/** pushClosure closes the bridge ahead, or opens it. */
async function pushClosure(seconds: number): Promise<void> {
  const rows = [{ external_id: "drive-closure", kind: "alert.road_closed", ...bridge, properties: { street: "13th Avenue" }, ttl_seconds: seconds }];
  const answer = await fetch(demo.address + demo.push, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(rows) });
  expect(answer.status).toBe(200);
}

/** writeLog saves what was said, for people. */
function writeLog(spoken: readonly Spoken[], timetable: Timetable): void {
  const folder = new URL("../shots/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  const rows = spoken.map(({ text, from, wasStopped }) => {
    const at = pointAt(timetable, Math.min(from / 1000, timetable.duration - 0.01));
    return [`${(from / 1000).toFixed(0)} s`, `${((at?.speed ?? 0) * 3.6).toFixed(0)} km/h`, at?.lat.toFixed(5), at?.lng.toFixed(5), wasStopped ? "stopped" : "", text].join("\t");
  });
  writeFileSync(new URL("navigation-drive.tsv", folder), `${rows.join("\n")}\n`);
}

/** turns are the announcements right before maneuvers, in their order, with what the driver does there. */
const turns: readonly RegExp[] = [
  /^Take the ramp on the right toward Motorway 7/,
  /^Merge left onto Motorway 7/,
  /^Take exit 12 on the right toward Demo Town Centre/,
  /^Turn right onto South Road/,
  /^At South Circus, take the second exit/,
  /^Exit the roundabout/,
  /^Turn left onto 14th Avenue/, // behind the wrong turn
  /^Turn left onto 7th Street/,
  /^Turn right onto 13th Avenue/,
  /^Turn slightly right onto Bridge Road/, // around the bridge
  /^Turn left onto North Quay/,
  /^Turn right onto 13th Avenue/,
  /destination/,
];

const isAlert = ({ text }: Spoken): boolean => /camera|accident|construction|jam|police|hazard|road works|stopped|object|pothole/i.test(text);

test("the demo drive is told each turn once and in time, in one voice with alerts, and is led around the bridge that closes", async () => {
  const opened = await openGuided();
  const { car, timetable } = opened;
  const steps: Step[] = [];
  let closed = false;
  try {
    for (;;) {
      const step = await driveOneSecond(opened);
      steps.push(step);
      if (step.phase === "arrived" || step.second > timetable.duration + 30) break;
      if (!closed && step.second > 380) {
        closed = true;
        await pushClosure(600);
        await eventually("the closure changes the route", async () => {
          await pass(car.page, 10);
          return (await lookAt(car.page)).news !== "";
        });
      }
    }
  } finally {
    await pushClosure(1);
  }
  const last = steps[steps.length - 1];
  const spoken = last?.spoken ?? [];
  writeLog(spoken, timetable);
  expect(last?.phase, "it arrives").toBe("arrived");

  // One thing at a time, each once.
  spoken.forEach((one, i) => {
    const next = spoken[i + 1];
    if (next !== undefined) expect(next.from, `${one.text} and then ${next.text}`).toBeGreaterThanOrEqual(one.to - 1);
  });
  const guidance = spoken.filter((one) => !isAlert(one));
  let at = 0;
  for (const turn of turns) {
    const found = guidance.findIndex(({ text }, i) => i >= at && turn.test(text));
    expect(found, `${String(turn)} after ${guidance[at - 1]?.text ?? "the start"}:\n${guidance.map(({ text }) => text).join("\n")}`).toBeGreaterThanOrEqual(0);
    at = found + 1;
  }
  expect(guidance.filter(({ text }) => /recalculat|wrong|turn around|u-turn/i.test(text)), "no complaint about the wrong turn").toEqual([]);
  expect(guidance.filter(({ text }) => text.includes("New route")).map(({ text }) => text)).toEqual([expect.stringMatching(/^Road closed, 13th Avenue(, reported \d+ min ago)?\. New route(, \d+ min longer)?\.$/)]);

  // The camera of the opposite carriageway is not announced, that of the car's own is.
  const onMotorway = spoken.filter(({ text }) => /camera/i.test(text) && text.includes("Motorway 7"));
  const town = await read<{ entities: { id: string; lat: number; lng: number }[] }>("/v2/entities/nearby?lat=51.97&lng=5.02&radius=3000&kinds=camera.speed", car.service);
  expect(town.entities.length, "both are there").toBeGreaterThanOrEqual(2);
  const eastbound = 5.0243; // degrees of longitude
  expect(onMotorway.length).toBeGreaterThan(0);
  for (const { text, from } of onMotorway) expect(pointAt(timetable, from / 1000)?.lng, text).toBeLessThan(eastbound);

  // Lanes before the exit; the way goes on in the tunnel, and its distances only shrink.
  expect(steps.some(({ lanes, name }) => lanes === 3 && /Demo Town Centre|South Road|exit/i.test(name)), "lanes before the exit").toBe(true);
  const inTunnel = steps.filter(({ hidden }) => hidden);
  expect(inTunnel.length).toBeGreaterThan(10);
  const figures = inTunnel.map(({ figure }) => metres(figure));
  expect(figures[0] ?? 0, "it goes on without fixes").toBeGreaterThan((figures[figures.length - 1] ?? 0) + 150);

  // What was asked of the service, but for streams: the page's clock is faster than their heartbeats.
  const asked = await car.page.evaluate(() => window.asked.filter(({ path }) => /^\/v2\/(navigation|alerts|geocode)/.test(path) && !path.endsWith("/events")).map(({ path, at: when }) => ({ path, at: when - window.began })));
  for (let from = 0; from < 280; from += 20) {
    const minute = asked.filter(({ at: when }) => when >= from * 1000 && when < (from + 60) * 1000);
    expect(minute.length, `requests from ${String(from)} s: ${minute.map(({ path }) => path).join(" ")}`).toBeLessThanOrEqual(12);
  }
  expect(distance(last?.car ?? bridge, { lng: opened.guided.to[0], lat: opened.guided.to[1] })).toBeLessThan(60);
});

test("one touch chooses between all, alerts only and nothing", async () => {
  const opened = await openGuided();
  const { page } = opened.car;
  const button = page.locator("#nav-voice");
  const names: string[] = [];
  for (let i = 0; i < 3; i++) {
    names.push((await button.getAttribute("aria-label")) ?? "");
    const box = await button.boundingBox();
    expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(60);
    if (i < 2) await button.click();
  }
  expect(names).toEqual(["Voice: all", "Voice: alerts only", "Voice: off"]);
  const { spoken } = await lookAt(page);
  for (let i = 0; i < 25; i++) await driveOneSecond(opened);
  expect((await lookAt(page)).spoken.length, "nothing is said").toBe(spoken.length);
});
