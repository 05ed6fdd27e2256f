// Signing in with a phone: the car shows a code and waits until the phone says yes.

import type { Choosing } from "./account.ts";
import { startPairing, pollPairing, qrAddress, HTTPError } from "./api.ts";
import type { Cell } from "./cell.ts";
import { element } from "./dom.ts";
import type { Key } from "./i18n/words.ts";
import { label, press, say, setAttribute, sign, tell } from "./parts.ts";
import type { Speech } from "./speech.ts";
import type { BegunPairing } from "./wire.ts";

/** Stand is how far a pairing is. */
type Stand = "asking" | "waiting" | "done" | "denied" | "expired" | "failed" | "offline";

const texts = {
  asking: "state.loading",
  waiting: "pair.waiting",
  done: "pair.done",
  denied: "pair.denied",
  expired: "pair.expired",
  failed: "pair.failed",
  offline: "pair.offline",
} as const satisfies Record<Stand, Key>;

const every = 1000; // ms
const closesAfter = 2500; // ms after it is done

export interface Pairing {
  element: HTMLElement;
  /** open asks for a code, unless somebody is signed in after all. */
  open(): void;
  close(): void;
}

/** spelt is a code letter by letter, for screen readers. */
const spelt = (code: string): string => code.replace(/-/g, "").split("").join(" ");

/** hostOf is an address as people type it. */
export const hostOf = (address: string): string => address.replace(/^https?:\/\//, "");

/** Attempt is one code and what has become of it. */
class Attempt {
  stand: Stand = "asking";
  begun: BegunPairing | null = null;
  /** When the code ends and when to ask again, by performance.now(). */
  endsAt = 0;
  #askAt = 0;
  #asking = false;
  readonly #choosing: Choosing;
  readonly #changed: () => void;

  constructor(choosing: Choosing, changed: () => void) {
    this.#choosing = choosing;
    this.#changed = changed;
  }

  async begin(): Promise<void> {
    try {
      if (await this.#choosing.ask()) {
        this.#become("done");
        return;
      }
      const { started, lifetime } = await startPairing();
      this.begun = started;
      this.endsAt = performance.now() + lifetime;
      this.#askAt = performance.now() + started.interval_seconds * 1000;
      this.#become("waiting");
    } catch (error) {
      this.#become(error instanceof HTTPError ? "failed" : "offline");
    }
  }

  /** tick asks when it is time. */
  async tick(): Promise<void> {
    const { begun } = this;
    if (this.stand !== "waiting" || begun === null || this.#asking) return;
    if (performance.now() >= this.endsAt) {
      this.#become("expired");
      return;
    }
    if (performance.now() < this.#askAt) return;
    this.#asking = true;
    let wait = begun.interval_seconds;
    try {
      const account = await pollPairing(begun.device_code);
      if (account !== null) {
        await this.#choosing.welcome(account);
        this.#become("done");
      }
    } catch (error) {
      // What is neither an end nor a reason to wait longer is a connection that breaks: the code is still good.
      if (error instanceof HTTPError && error.status === 410) this.#become(error.type.endsWith("pairing-denied") ? "denied" : "expired");
      else if (error instanceof HTTPError) wait = error.retryAfter ?? wait;
    }
    this.#askAt = performance.now() + wait * 1000;
    this.#asking = false;
  }

  #become(stand: Stand): void {
    this.stand = stand;
    this.#changed();
  }
}

/** makePairing is closed at first. */
export function makePairing(choosing: Choosing, speech: Cell<Speech>): Pairing {
  const title = element("h2", { id: "pair-title" });
  const away = press({ class: "signed" }, () => {
    close();
  }, sign("close"));
  const qr = element("img", { class: "qr", width: "264", height: "264" });
  const scan = element("p", {});
  const type = element("p", {});
  const code = element("strong", { class: "code" });
  const status = element("p", { role: "status", class: "stand" });
  const left = element("p", { class: "left" });
  const again = press({ class: "strong" }, () => {
    open();
  });
  const steps = element("div", { class: "steps" }, scan, type, code, left);
  const whole = element("div", { class: "pair-code" }, qr, steps);
  const box = element("section", { class: "pairing panel", role: "dialog", "aria-modal": "true", "aria-labelledby": title.id, hidden: "" });
  box.append(element("header", {}, title, away), whole, status, again);
  let attempt: Attempt | null = null;
  let timer: ReturnType<typeof setInterval> | undefined;
  let opener: Element | null = null;

  const draw = (): void => {
    if (attempt === null) return;
    const { stand, begun, endsAt } = attempt;
    const words = speech.get();
    say(title, words.say("pair.title"));
    label(away, words.say("do.close"));
    whole.hidden = stand !== "waiting";
    again.hidden = stand === "asking" || stand === "waiting" || stand === "done";
    say(again, words.say("pair.again"));
    say(status, words.say(texts[stand]));
    if (begun === null) return;
    const address = hostOf(begun.verification_url);
    setAttribute(qr, "src", qrAddress(begun.user_code));
    setAttribute(qr, "alt", words.say("pair.qr", { address }));
    say(scan, words.say("pair.scan"));
    say(type, words.say("pair.type", { address }));
    say(code, begun.user_code);
    setAttribute(code, "role", "img");
    label(code, words.say("pair.codeSpoken", { letters: spelt(begun.user_code) }));
    tell(left, words.say("pair.left", { time: words.format.duration(Math.max(0, endsAt - performance.now())) }));
  };
  const changed = (): void => {
    draw();
    if (attempt?.stand === "done") {
      const done = attempt;
      setTimeout(() => {
        if (attempt === done) close();
      }, closesAfter);
    }
  };
  const close = (): void => {
    clearInterval(timer);
    attempt = null;
    box.hidden = true;
    if (opener instanceof HTMLElement) opener.focus();
  };
  const open = (): void => {
    if (box.hidden) opener = document.activeElement;
    clearInterval(timer);
    const mine = (attempt = new Attempt(choosing, () => {
      if (attempt === mine) changed();
    }));
    box.hidden = false;
    draw();
    away.focus();
    void mine.begin();
    timer = setInterval(() => {
      draw();
      void mine.tick();
    }, every);
  };
  box.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") close();
  });
  speech.watch(draw);
  return { element: box, open, close };
}
