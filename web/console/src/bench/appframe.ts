// The frame of an app on the bench: the rules of the page for cars (web/overlay/src/apps/host.ts), with a report of all that passes.

import { Conversation, FloodGuard, isFrom, isReady, makeContext, pageClock, type Context, type Parts } from "../../../overlay/src/apps/host.ts";

/** FrameEvent is an event between the page and the app. */
export type FrameEvent =
  | { kind: "load" }
  /** The app's page led elsewhere, where the policy of the page lets no frame go. */
  | { kind: "away" }
  | { kind: "sent"; message: object }
  | { kind: "ready"; message: unknown }
  /** Any other message of the app. */
  | { kind: "other"; message: unknown }
  /** A message that is not read because there are too many; for too long, and the frame is closed. */
  | { kind: "flood"; suspended: boolean };

/** The attributes of the frame, which are the same in cars (D16). */
const attributes = { sandbox: "allow-scripts allow-same-origin allow-forms", allow: "", referrerpolicy: "no-referrer", loading: "eager" };

const isExactlyReady = (message: unknown): boolean => isReady(message) && Object.keys(message as object).length === 1;

/** AppFrame is the frame of the app on the bench. */
export class AppFrame {
  readonly #element: HTMLIFrameElement;

  readonly #origin: string;

  readonly #talk: Conversation;

  readonly #guard = new FloodGuard();

  readonly #report: (event: FrameEvent) => void;

  #parts: Parts;

  constructor(url: string, parts: Parts, into: HTMLElement, report: (event: FrameEvent) => void) {
    this.#origin = new URL(url).origin;
    this.#parts = parts;
    this.#report = report;
    this.#talk = new Conversation(parts, (context) => { this.send(context); }, pageClock);
    this.#element = document.createElement("iframe");
    for (const [name, value] of Object.entries(attributes)) this.#element.setAttribute(name, value);
    this.#element.style.border = "0";
    this.#fit();
    this.#element.addEventListener("load", () => {
      report({ kind: "load" });
      this.#talk.loaded();
    });
    window.addEventListener("message", this.#message);
    document.addEventListener("securitypolicyviolation", this.#violation);
    this.#element.src = url;
    into.append(this.#element);
  }

  get parts(): Parts {
    return this.#parts;
  }

  get context(): Context {
    return makeContext(this.#parts);
  }

  /** change takes over other parts and sends the app the messages that the page for cars would send. */
  change(parts: Partial<Parts>): void {
    this.#parts = { ...this.#parts, ...parts };
    const { size, ...others } = this.#parts;
    this.#fit();
    this.#talk.change(others);
    this.#talk.resize(size);
  }

  /** show shows or hides the frame. Browsers throttle the timers of hidden frames. */
  show(shown: boolean): void {
    this.#element.style.display = shown ? "" : "none";
  }

  /** send posts any message to the app, if the frame still shows its page. */
  send(message: object): void {
    this.#element.contentWindow?.postMessage(message, this.#origin);
    this.#report({ kind: "sent", message });
  }

  close(): void {
    window.removeEventListener("message", this.#message);
    document.removeEventListener("securitypolicyviolation", this.#violation);
    this.#talk.close();
    this.#element.remove();
  }

  #fit(): void {
    const { width, height } = this.#parts.size;
    this.#element.style.width = `${String(width)}px`;
    this.#element.style.height = `${String(height)}px`;
  }

  readonly #violation = ({ effectiveDirective }: SecurityPolicyViolationEvent): void => {
    if (effectiveDirective === "frame-src") this.#report({ kind: "away" });
  };

  readonly #message = (event: MessageEvent): void => {
    if (!isFrom(event, { window: this.#element.contentWindow, origin: this.#origin })) return;
    const began = performance.now();
    const verdict = this.#guard.judge(began);
    if (verdict !== "read") {
      if (verdict === "suspend") this.close();
      this.#report({ kind: "flood", suspended: verdict === "suspend" });
      return;
    }
    const message: unknown = event.data;
    this.#report({ kind: isExactlyReady(message) ? "ready" : "other", message });
    if (isReady(message)) this.#talk.ready();
    const end = performance.now();
    this.#guard.spent(end - began, end);
  };
}
