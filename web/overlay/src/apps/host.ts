// Messages between the host and the frame of an app (D16.8), without the frame: pure rules over a clock and timers
// that are given. The page for cars and the app bench share this module.
//
// A context is built here and nowhere else, from exactly the parts that are listed: nothing about place, speed, heading, session or
// account can get into one.

import type { Units } from "../settings/settings.ts";
import type { Theme } from "../geo/sun.ts";

/** Slot names a place for apps in the page. */
export type Slot = "widget" | "notifications";

/** Size is the slot's rendered size in CSS pixels. */
export interface Size {
  width: number;
  height: number;
}

/** Device describes the device that shows the page. */
export interface Device {
  kind: "car" | "phone" | "desktop";
  input: "touch" | "pointer";
}

/** ConfigValue is the value of a field of a config. */
export type ConfigValue = string | number | boolean;

/** Look is the part of a context that the driver's settings decide. */
export interface Look {
  theme: Theme;
  units: Units;
  /** The density, 0 to 10. */
  uiSize: number;
}

/** Parts are the inputs of a context. */
export interface Parts extends Look {
  slot: Slot;
  size: Size;
  device: Device;
  config: Readonly<Record<string, ConfigValue>>;
}

/** Context is the message from the host to the app. */
export interface Context extends Parts {
  type: "context";
}

const [lowestUISize, highestUISize] = [0, 10];

const wholePixels = (length: number): number => Math.max(0, Math.round(length));

/** makeContext makes the message of exactly these parts. A blank value of the config is omitted, never null or empty (D16.5). */
export function makeContext({ theme, units, uiSize, slot, size, device, config }: Parts): Context {
  const isSet = (value: unknown): value is ConfigValue => typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value)) || (typeof value === "string" && value !== "");
  return {
    type: "context",
    theme,
    units,
    uiSize: Math.min(highestUISize, Math.max(lowestUISize, Math.round(uiSize))),
    slot,
    size: { width: wholePixels(size.width), height: wholePixels(size.height) },
    device: { kind: device.kind, input: device.input },
    config: Object.fromEntries(Object.entries(config).filter(([, value]) => isSet(value))),
  };
}

/** Phones are smaller than this, in CSS pixels of their shorter side. */
const phoneSide = 500;

/** deviceOf classifies a device by its pointer and screen: a large screen without a mouse is the car's. */
export function deviceOf(isTouch: boolean, { width, height }: Size): Device {
  if (!isTouch) return { kind: "desktop", input: "pointer" };
  return { kind: Math.min(width, height) < phoneSide ? "phone" : "car", input: "touch" };
}

/** slotOf returns the slot of an app; null if it has no page of its own. */
export function slotOf(kinds: readonly string[]): Slot | null {
  if (kinds.includes("widget")) return "widget";
  return kinds.includes("notifications") ? "notifications" : null;
}

/** Sender identifies the sender of a message; MessageEvent is one. */
export interface Sender {
  source: unknown;
  origin: string;
}

/** isFrom reports whether a message comes from the frame's own window, while a page of its approved origin is in it. */
export function isFrom({ source, origin }: Sender, frame: { window: unknown; origin: string }): boolean {
  return source !== null && source !== undefined && source === frame.window && origin === frame.origin;
}

/** isReady reports whether a message is `{ "type": "ready" }`, whatever else it holds. */
export function isReady(message: unknown): boolean {
  return typeof message === "object" && message !== null && (message as { type?: unknown }).type === "ready";
}

const maxNesting = 8;

/** WindowLike is the part of a window that every other window may read. */
export interface WindowLike {
  readonly parent: WindowLike;
}

/** isWithin reports whether a window is the frame's or nested in it, so that messages of nested frames count for the app that holds them. */
export function isWithin(source: WindowLike | null, frame: WindowLike): boolean {
  let at = source;
  for (let depth = 0; at !== null && depth < maxNesting; depth++) {
    if (at === frame) return true;
    if (at === at.parent) return false;
    at = at.parent;
  }
  return false;
}

/** Clock provides the time in milliseconds, and a timer that returns a function to cancel it. */
export interface Clock {
  now(): number;
  after(delay: number, run: () => void): () => void;
}

/** pageClock is the clock of the page. */
export const pageClock: Clock = {
  now: () => performance.now(),
  after: (delay, run) => {
    const timer = setTimeout(run, delay);
    return () => {
      clearTimeout(timer);
    };
  },
};

const second = 1000;
/** Answers to `ready` in any second. */
export const answersPerSecond = 10;
/** Milliseconds between two reports of a size: four a second. */
export const sizeInterval = 250;

/**
 * Conversation decides when a context is sent to one frame: on load, on each `ready`, on a change of the look or the config, and on a
 * change of the size. Nothing is sent before the frame has loaded or said `ready`.
 */
export class Conversation {
  readonly #send: (context: Context) => void;
  readonly #clock: Clock;
  #parts: Parts;
  #isOpen = false;
  #sent: Context | null = null;
  #answered: number[] = []; // times of the last answers
  #owed = 0; // answers that wait: a count, however many there are
  #sizedAt = -Infinity;
  #cancelAnswer: (() => void) | null = null;
  #cancelSize: (() => void) | null = null;

  constructor(parts: Parts, send: (context: Context) => void, clock: Clock) {
    this.#parts = parts;
    this.#send = send;
    this.#clock = clock;
  }

  /** loaded takes each `load` of the frame. */
  loaded(): void {
    this.#isOpen = true;
    this.#sendNow();
  }

  /** ready takes each `ready` of the frame and answers each once, within the rate limit. */
  ready(): void {
    this.#isOpen = true;
    this.#owed++;
    this.#answer();
  }

  /** change takes over parts that have changed, but for the size. */
  change(parts: Partial<Omit<Parts, "size">>): void {
    this.#parts = { ...this.#parts, ...parts };
    if (this.#isOpen && JSON.stringify({ ...this.#sent, size: null }) !== JSON.stringify({ ...makeContext(this.#parts), size: null })) this.#sendNow();
  }

  /** resize takes over the slot's rendered size. The last one of a series is always reported. */
  resize(size: Size): void {
    this.#parts = { ...this.#parts, size };
    if (!this.#isOpen || this.#cancelSize !== null) return;
    this.#cancelSize = this.#clock.after(Math.max(0, this.#sizedAt + sizeInterval - this.#clock.now()), () => {
      this.#cancelSize = null;
      const { width, height } = makeContext(this.#parts).size;
      if (this.#sent?.size.width === width && this.#sent.size.height === height) return;
      this.#sizedAt = this.#clock.now();
      this.#sendNow();
    });
  }

  /** close cancels waiting messages. Nothing is sent afterwards until the frame loads again. */
  close(): void {
    this.#cancelAnswer?.();
    this.#cancelSize?.();
    this.#cancelAnswer = this.#cancelSize = null;
    this.#owed = 0;
    this.#isOpen = false;
  }

  #answer(): void {
    while (this.#owed > 0 && this.#cancelAnswer === null) {
      const now = this.#clock.now();
      const oldest = this.#answered[this.#answered.length - answersPerSecond];
      if (oldest !== undefined && now < oldest + second) {
        this.#cancelAnswer = this.#clock.after(oldest + second - now, () => {
          this.#cancelAnswer = null;
          this.#answer();
        });
        return;
      }
      this.#owed--;
      this.#answered = [...this.#answered.slice(1 - answersPerSecond), now];
      this.#sendNow();
    }
  }

  #sendNow(): void {
    this.#sent = makeContext(this.#parts);
    this.#send(this.#sent);
  }
}

/** Verdict is the decision on a message: it is read, or dropped unread, or the frame is suspended. */
export type Verdict = "read" | "ignore" | "suspend";

/** Messages of a frame that are read in a second. The others are counted alone: a browser decodes a message when it is read. */
const maxReads = 200;
/** Milliseconds in a second that reading a frame's messages may take, which very large ones exceed. */
const maxReadingTime = 50;
/** Seconds in a row with too many messages after which a frame is suspended. */
const maxFloodedSeconds = 3;

/** FloodGuard judges how much one frame posts. */
export class FloodGuard {
  #start = -Infinity; // of the present second
  #count = 0;
  #time = 0;
  #floods = 0; // seconds in a row with too much
  #floodsNow = false;

  /** judge decides on each message before it is read. */
  judge(now: number): Verdict {
    if (now >= this.#start + second) {
      if (!this.#floodsNow || now >= this.#start + 2 * second) this.#floods = 0;
      this.#start = now;
      this.#count = this.#time = 0;
      this.#floodsNow = false;
    }
    this.#count++;
    if (this.#count <= maxReads && this.#time <= maxReadingTime) return "read";
    if (!this.#floodsNow) this.#floods++;
    this.#floodsNow = true;
    return this.#floods >= maxFloodedSeconds ? "suspend" : "ignore";
  }

  /**
   * spent adds the time that reading a message took, which ended now. After too much of it the second begins anew: where one message takes
   * longer than a second, as on a slow processor, the next would be read at once, and the page would do nothing else.
   */
  spent(time: number, now: number): void {
    this.#time += time;
    if (this.#time > maxReadingTime) this.#start = now;
  }
}
