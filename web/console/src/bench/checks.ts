// The checks of an app's page. They are the same on the bench and in `wayside app check`, which runs this script in a browser of its
// own (internal/people/apps/appcheck).

import type { Context, Parts } from "../../../overlay/src/apps/host.ts";
import { AppFrame, type FrameEvent } from "./appframe.ts";
import { describe } from "./describe.ts";
import { blankConfig, fullConfig, parseConfig, parseSchema, type Field } from "./samples.ts";

/** Finding is the result of one check. */
export interface Finding {
  check: string;
  seen: string;
  result: "pass" | "fail";
}

/** Report is the report of a submission (GET /v2/schemas/app-report.json). */
export interface Report {
  version: 1;
  url: string;
  made_by: "bench" | "command";
  made_at: string;
  passed: boolean;
  checks: Finding[];
}

/** Plan lists the checks. */
export interface Plan {
  url: string;
  slot: Parts["slot"];
  /** config_schema, and values for it. */
  schema?: unknown;
  config?: unknown;
  madeBy: Report["made_by"];
  /** Errors in the frame arrive as events "wayside:problem": a page alone cannot see them in a frame of another site. */
  watched?: boolean;
}

/** Times in milliseconds. */
export interface Times {
  /** How long a page may take until it has loaded, and until it posts its first ready. */
  load: number;
  /** How long an app is watched after each message. */
  settle: number;
  /** How long the frame is hidden, so that the browser throttles its timers. */
  hidden: number;
}

const usualTimes: Times = { load: 10_000, settle: 400, hidden: 2500 };

/** More of ready within one check is a loop: the app answers each context. */
const mostReady = 3;

const longestSeen = 500; // characters, as the service takes it

/** Reports name at most this many errors of one check. */
const mostProblems = 3;

const longestProblem = 140; // characters

/** printable replaces characters that the service rejects in texts: control characters, lone surrogates, and marks that change the direction of writing. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/gu, " ");

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    window.setTimeout(resolve, milliseconds);
  });

/** Watch records the behaviour of an app since a check began. */
export class Watch {
  loads = 0;
  ready = 0;
  sent = 0;
  /** Other messages than ready, and the first of them. */
  others = 0;
  firstOther = "";
  /** Errors in the frame, with how often each came. */
  readonly problems = new Map<string, number>();
  /** Messages that were not read, since there were too many. */
  floods = 0;
  suspended = false;

  take(event: FrameEvent): void {
    switch (event.kind) {
      case "load":
      case "away":
        this.loads++;
        break;
      case "sent":
        this.sent++;
        break;
      case "ready":
        this.ready++;
        break;
      case "other":
        if (this.others++ === 0) this.firstOther = describe(event.message);
        break;
      case "flood":
        this.floods++;
        this.suspended ||= event.suspended;
        break;
    }
  }

  problem(text: string): void {
    this.problems.set(text, (this.problems.get(text) ?? 0) + 1);
  }

  /** errors returns the errors as texts. */
  errors(): string[] {
    const all = [...this.problems].map(([text, times]) => (times > 1 ? `${text} (${String(times)} times)` : text));
    return all.length > mostProblems ? [...all.slice(0, mostProblems), `${String(all.length - mostProblems)} more errors`] : all;
  }

  /** wrong lists actions that an app must not take while it is shown; empty: none. */
  wrong(): string[] {
    return this.loads > 0 ? [...this.wrongAtStart(), "the page navigated away or reloaded itself"] : this.wrongAtStart();
  }

  /** wrongAtStart lists actions that an app must not take, also while it begins. */
  wrongAtStart(): string[] {
    const wrong = this.errors();
    if (this.others > 0) wrong.push(`${count(this.others, "message")} other than {"type":"ready"}, such as ${this.firstOther}`);
    if (this.ready > mostReady) wrong.push(`${String(this.ready)} ready messages: the app answers each context with ready, which never ends`);
    if (this.floods > 0) wrong.push(`${count(this.floods, "message")} more than a page in a car reads${this.suspended ? "; it suspended the app" : ""}`);
    return wrong;
  }

  finding(check: string): Finding {
    const wrong = this.wrong();
    const said = this.sent === 0 ? "nothing to send: no field may be left blank" : `${count(this.sent, "context")} sent${this.ready > 0 ? `, ${String(this.ready)} ready` : ""}`;
    return { check, seen: wrong.length > 0 ? wrong.join("; ") : said, result: wrong.length > 0 ? "fail" : "pass" };
  }
}

const count = (n: number, what: string): string => `${String(n)} ${what}${n === 1 ? "" : "s"}`;

/** addressFinding judges the text of the URL; the service judges the URL again when the app is submitted. */
export function addressFinding(url: string): Finding {
  const { protocol, hostname } = new URL(url);
  const local = hostname === "localhost" || hostname === "127.0.0.1" || hostname.endsWith(".localhost");
  if (protocol === "https:" && !local) return { check: "address", seen: "https", result: "pass" };
  if (local) return { check: "address", seen: "this machine: only for a service that lists the origin in apps.dev_origins", result: "pass" };
  return { check: "address", seen: `${protocol.slice(0, -1)}: an app's page needs https`, result: "fail" };
}

/** step is one check of a running page, with its action. */
interface Step {
  check: string;
  run: (frame: AppFrame, times: Times, schema: readonly Field[], config: Parts["config"]) => Promise<void> | void;
}

/** Sizes of slots in CSS pixels: beside a car's map, below a phone's, and the extremes between. */
const sizes = [
  { width: 240, height: 400 },
  { width: 390, height: 180 },
  { width: 800, height: 240 },
  { width: 480, height: 900 },
  { width: 320, height: 480 },
];

async function each<T>(values: readonly T[], times: Times, change: (value: T) => void): Promise<void> {
  for (const value of values) {
    change(value);
    await pause(times.settle);
  }
}

/** withUnknown returns a context of a later version, with members that no app knows yet. */
export function withUnknown(context: Context): object {
  return {
    ...context,
    device: { ...context.device, seats: 5 },
    size: { ...context.size, depth: 1 },
    config: { ...context.config, field_of_a_later_version: "x" },
    season: "winter",
    lanes: [1, 2],
  };
}

/** The checks of a page that runs, in their order. */
const steps: readonly Step[] = [
  { check: "theme", run: (frame, times) => each(["night", "day"] as const, times, (theme) => { frame.change({ theme }); }) },
  { check: "units", run: (frame, times) => each(["imperial", "metric"] as const, times, (units) => { frame.change({ units }); }) },
  { check: "density", run: (frame, times) => each([0, 10, 5], times, (uiSize) => { frame.change({ uiSize }); }) },
  { check: "size", run: (frame, times) => each(sizes, times, (size) => { frame.change({ size }); }) },
  {
    check: "hidden",
    run: async (frame, times) => {
      frame.show(false);
      await pause(times.hidden);
      frame.change({ theme: "night" }); // arrives while it is hidden
      await pause(times.settle);
      frame.show(true);
      await pause(times.settle);
      frame.change({ theme: "day" });
    },
  },
  {
    check: "blanks",
    run: (frame, times, schema, config) =>
      each([blankConfig(schema, config), fullConfig(schema, config)], times, (next) => { frame.change({ config: next }); }),
  },
  {
    check: "unknown-fields",
    run: (frame) => { frame.send(withUnknown(frame.context)); },
  },
  {
    check: "double-ready",
    run: (frame) => {
      // The answers to an app that posts ready twice in a row.
      frame.send(frame.context);
      frame.send(frame.context);
    },
  },
];

/** firstParts are the inputs of the first context, in all checks. */
export function firstParts(slot: Parts["slot"], config: Parts["config"]): Parts {
  return { theme: "day", units: "metric", uiSize: 5, slot, size: { width: 320, height: 480 }, device: { kind: "car", input: "touch" }, config };
}

/** Start holds when a page had loaded and posted its first ready, in milliseconds; null: not in time. */
interface Start {
  loaded: number | null;
  ready: number | null;
}

const took = (milliseconds: number): string => `after ${String(Math.round(milliseconds))} ms`;

/** startFindings judges how a page began. */
export function startFindings({ loaded, ready }: Start, watch: Watch, times: Times, suffix = ""): Finding[] {
  const within = `within ${String(times.load / 1000)} s`;
  const problems = watch.wrongAtStart().join("; ");
  const fine = loaded !== null && problems === "";
  return [
    { check: `loads${suffix}`, seen: fine ? took(loaded) : problems || `the page did not load ${within}`, result: fine ? "pass" : "fail" },
    ready === null
      ? { check: `ready${suffix}`, seen: `no {"type":"ready"} ${within}: it is how a page shows that it runs`, result: "fail" }
      : { check: `ready${suffix}`, seen: took(ready), result: "pass" },
  ];
}

/** Observer receives findings as their checks end, and the messages between page and app. */
export interface Observer {
  onFinding?: (finding: Finding) => void;
  onEvent?: (event: FrameEvent) => void;
}

/** Run is one run of the checks. */
class Run {
  /** The behaviour since the current check began. */
  watch = new Watch();

  readonly checks: Finding[] = [];

  constructor(
    private readonly plan: Plan,
    private readonly into: HTMLElement,
    private readonly times: Times,
    private readonly observer: Observer,
  ) {}

  tell({ check, seen, result }: Finding): void {
    const finding = { check, seen: printable(seen.slice(0, longestSeen)), result };
    this.checks.push(finding);
    this.observer.onFinding?.(finding);
  }

  /** mount makes a frame and waits until it has loaded and posted ready, at most as long as a page may take. */
  async mount(parts: Parts): Promise<{ frame: AppFrame; start: Start }> {
    this.watch = new Watch();
    const start: Start = { loaded: null, ready: null };
    const began = performance.now();
    const frame = new AppFrame(this.plan.url, parts, this.into, (event) => {
      this.watch.take(event);
      this.observer.onEvent?.(event);
      if (event.kind === "load") start.loaded ??= performance.now() - began;
      if (event.kind === "ready") start.ready ??= performance.now() - began;
    });
    while ((start.loaded === null || start.ready === null) && performance.now() - began < this.times.load) await pause(50);
    await pause(this.times.settle);
    return { frame, start };
  }

  async all(): Promise<void> {
    const schema = parseSchema(this.plan.schema);
    const config = parseConfig(this.plan.config);
    this.tell(addressFinding(this.plan.url));
    const { frame, start } = await this.mount(firstParts(this.plan.slot, fullConfig(schema, config)));
    try {
      for (const finding of startFindings(start, this.watch, this.times)) this.tell(finding);
      if (start.ready === null || this.watch.suspended) return; // nobody could tell how such a page takes what is sent
      for (const step of steps) {
        this.watch = new Watch();
        await step.run(frame, this.times, schema, config);
        await pause(this.times.settle);
        this.tell(this.watch.finding(step.check));
        if (this.watch.suspended) return;
      }
    } finally {
      frame.close();
    }
    const again = await this.mount({ ...frame.parts, theme: "night", config: blankConfig(schema, config) });
    for (const finding of startFindings(again.start, this.watch, this.times, "-again")) this.tell(finding);
    again.frame.close();
  }
}

/** check shows the app in a frame within an element, performs the actions of drivers, and reports. */
export async function check(plan: Plan, into: HTMLElement, observer: Observer = {}, times = usualTimes): Promise<Report> {
  const run = new Run(plan, into, times, observer);
  const problem = (event: Event): void => {
    run.watch.problem(String((event as CustomEvent<unknown>).detail).slice(0, longestProblem));
  };
  if (plan.watched === true) window.addEventListener("wayside:problem", problem);
  try {
    await run.all();
  } finally {
    window.removeEventListener("wayside:problem", problem);
  }
  const passed = run.checks.every(({ result }) => result === "pass");
  return { version: 1, url: plan.url, made_by: plan.madeBy, made_at: new Date().toISOString(), passed, checks: run.checks };
}
