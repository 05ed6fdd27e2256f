// The frame of one app: mounted when it is first shown, hidden afterwards, watched while it lives.

import { HTTPError } from "../net/api.ts";
import { element } from "../browser/dom.ts";
import { makeButton, replaceChildren } from "../browser/widgets.ts";
import { release } from "./focusguard.ts";
import { postFrame, type Installed, type MountData } from "./api.ts";
import type { AppSay } from "./appwords.ts";
import { Conversation, FloodGuard, isFrom, isReady, isWithin, pageClock, slotOf, type Parts, type Size, type WindowLike } from "./host.ts";

const loadTime = 10_000; // ms
/**
 * Milliseconds after which a page that loaded and says nothing is named. A browser tells a page nothing of what another site's frame
 * loaded: an error of the server, a page of the browser's own in its place, and one that works are the same load. A slow app gets a bar until it speaks.
 */
const silentTime = 3_000;

/** FrameDeps are the dependencies that all frames share. */
export interface FrameDeps {
  say: () => AppSay;
  /** parts returns the inputs of a context, except those of the app. */
  parts: () => Omit<Parts, "slot" | "size" | "config">;
  /** Origins that the page's policy lets in. */
  origins: readonly string[];
}

/**
 * State is how a frame is: not mounted; being mounted; loaded, and heard of or not; failed, which is not loaded in time; stopped, since
 * it flooded the page; grabbed, which is stopped since it took the keyboard; or of an origin that needs a new page.
 */
type State = "none" | "loading" | "silent" | "live" | "failed" | "stopped" | "grabbed" | "foreign";

/** AppFrame is the frame of one app. */
export class AppFrame {
  readonly element: HTMLElement;
  installed: Installed;
  readonly #deps: FrameDeps;
  readonly #card = element("div", { class: "app-card", role: "status", hidden: "" });
  #frame: HTMLIFrameElement | null = null;
  #mounted: MountData | null = null;
  #conversation: Conversation | null = null;
  #guard = new FloodGuard();
  #state: State = "none";
  #cancelTimer: (() => void) | null = null;
  #size: Size = { width: 0, height: 0 };
  #attempt = 0;

  constructor(installed: Installed, deps: FrameDeps) {
    this.installed = installed;
    this.#deps = deps;
    this.element = element("div", { class: "app", role: "tabpanel", id: `app-${installed.app.id}`, "aria-label": installed.app.name, hidden: "" }, this.#card);
  }

  /** show mounts the frame when it is first shown. */
  show(isShown: boolean): void {
    this.element.hidden = !isShown;
    if (!isShown) release(this.#frame);
    if (isShown && this.#state === "none") void this.#mount();
  }

  /** update takes over the account's present state of the app: a new version closes the frame, a new config is sent to it. */
  update(installed: Installed): void {
    const before = this.installed;
    this.installed = installed;
    this.element.setAttribute("aria-label", installed.app.name);
    if (this.#state === "none") return;
    if (installed.app.version !== before.app.version) {
      this.restart();
    } else if (JSON.stringify(installed.config) !== JSON.stringify(before.config)) void this.reconfigure();
  }

  /** reconfigure reads the config again and sends it to the app, if it has changed. */
  async reconfigure(): Promise<void> {
    if (this.#conversation === null) return;
    const attempt = this.#attempt;
    try {
      const { config, src } = await postFrame(this.installed.app.id);
      if (attempt === this.#attempt && src === this.#mounted?.src) this.#conversation.change({ config });
    } catch (error) {
      console.warn(error); // the next look finds the frame as it was
    }
  }

  /** changed sends the look if it has changed. */
  changed(): void {
    this.#conversation?.change(this.#deps.parts());
    if (!this.#card.hidden) this.#enter(this.#state); // in another language
  }

  resized(size: Size): void {
    if (this.element.hidden || size.width === 0 || size.height === 0) return;
    this.#size = size;
    this.#conversation?.resize(size);
  }

  /** receive takes a message, if it comes from this frame or one nested in it. */
  receive(event: MessageEvent): boolean {
    const window = this.#frame?.contentWindow ?? null;
    if (window === null || this.#mounted === null || !isWithin(event.source as WindowLike | null, window)) return false;
    const start = performance.now();
    const verdict = this.#guard.judge(start);
    if (verdict === "suspend") {
      this.unmount();
      this.#enter("stopped");
    }
    if (verdict !== "read" || !isFrom(event, { window, origin: this.#mounted.origin })) return true;
    const isAsked = isReady(event.data); // the browser decodes the message here
    const end = performance.now();
    this.#guard.spent(end - start, end);
    if (!isAsked) return true;
    if (this.#state !== "live") this.#enter("live");
    this.#conversation?.ready();
    return true;
  }

  /** stopGrabbing ends the app, if the frame is its own: it took the keyboard. */
  stopGrabbing(frame: HTMLIFrameElement): void {
    if (frame !== this.#frame) return;
    this.unmount();
    this.#enter("grabbed");
  }

  /** unmount removes the frame with all that it holds. */
  unmount(): void {
    this.#attempt++;
    this.#cancelTimer?.();
    this.#conversation?.close();
    this.#frame?.remove();
    this.#conversation = this.#frame = this.#mounted = this.#cancelTimer = null;
    this.#enter("none");
  }

  async #mount(): Promise<void> {
    const attempt = ++this.#attempt;
    this.#enter("loading");
    this.#cancelTimer = pageClock.after(loadTime, () => {
      this.#enter(this.#state === "loading" ? "failed" : this.#state);
    });
    let mounted: MountData;
    try {
      mounted = await postFrame(this.installed.app.id);
    } catch (error) {
      if (attempt === this.#attempt) this.#enter("failed");
      if (!(error instanceof HTTPError)) console.warn(error);
      return;
    }
    if (attempt !== this.#attempt) return;
    if (this.#deps.origins.includes(mounted.origin)) this.#open(mounted);
    else this.#enter("foreign");
  }

  #open(mounted: MountData): void {
    const slot = slotOf(this.installed.app.kinds) ?? "widget";
    const frame = element("iframe", { title: this.installed.app.name, sandbox: "allow-scripts allow-same-origin allow-forms", allow: "", referrerpolicy: "no-referrer", loading: "eager", src: mounted.src });
    const parts = { ...this.#deps.parts(), slot, size: this.#size, config: mounted.config };
    const conversation = new Conversation(parts, (context) => {
      frame.contentWindow?.postMessage(context, mounted.origin);
    }, pageClock);
    this.#mounted = mounted;
    this.#guard = new FloodGuard();
    this.#conversation = conversation;
    this.#frame = frame;
    frame.addEventListener("load", () => {
      if (frame !== this.#frame) return;
      conversation.loaded();
      if (this.#state === "live") return;
      this.#cancelTimer?.();
      this.#enter("loading");
      this.#cancelTimer = pageClock.after(silentTime, () => {
        if (this.#state === "loading") this.#enter("silent");
      });
    });
    this.element.insertBefore(frame, this.#card);
  }

  /** restart loads the page anew, now or when it is next shown. No browser tells when the process of a frame ends. */
  restart(): void {
    this.unmount();
    if (!this.element.hidden) void this.#mount();
  }

  /** #enter shows the card of a state. A silent app stays visible below it: it may be one that never posts. */
  #enter(state: State): void {
    this.#state = state;
    const say = this.#deps.say();
    const { name } = this.installed.app;
    const texts = {
      failed: [say("slot.failed", { name }), say("slot.again")],
      silent: [say("slot.silent", { name }), say("slot.again")],
      stopped: [say("slot.suspended", { name }), say("slot.restart")],
      grabbed: [say("slot.grabbed", { name }), say("slot.restart")],
      foreign: [say("slot.reload", { name }), say("slot.reload.do")],
    } as const;
    this.#card.hidden = !(state in texts);
    this.#card.classList.toggle("bar", state === "silent");
    if (!(state in texts)) return;
    const [text, action] = texts[state as keyof typeof texts];
    const button = makeButton({ class: "strong" }, () => {
      if (state === "foreign") location.reload();
      else this.restart();
    }, action);
    replaceChildren(this.#card, [element("p", { dir: "auto" }, text), button]);
  }
}
