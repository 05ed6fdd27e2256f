// Signing in with a phone: the car shows a code and polls until the phone has approved it.

import type { Preferences } from "../state/account.ts";
import { startPairing, pollPairing, qrAddress, HTTPError } from "../net/api.ts";
import type { Observable } from "../browser/observable.ts";
import { element } from "../browser/dom.ts";
import type { Key } from "../i18n/en.ts";
import { setLabel, makeButton, setText, setAttribute, makeIcon, setTextOrHide } from "../browser/widgets.ts";
import type { Locale } from "../i18n/locale.ts";
import type { BegunPairing } from "../net/wire.ts";

/** PairingStatus is the state of a pairing. */
type PairingStatus = "asking" | "waiting" | "done" | "denied" | "expired" | "failed" | "offline";

const texts = {
  asking: "state.loading",
  waiting: "pair.waiting",
  done: "pair.done",
  denied: "pair.denied",
  expired: "pair.expired",
  failed: "pair.failed",
  offline: "pair.offline",
} as const satisfies Record<PairingStatus, Key>;

const tickInterval = 1000; // ms
const closeDelay = 2500; // ms after success

/** Pairing is the panel by which a phone signs this screen in. */
export interface Pairing {
  element: HTMLElement;
  /** open requests a code, unless an account turns out to be signed in. */
  open(): void;
  close(): void;
}

/** spellOut separates a code's letters for screen readers. */
const spellOut = (code: string): string => code.replace(/-/g, "").split("").join(" ");

/** withoutScheme removes a URL's scheme, which people need not type. */
export const withoutScheme = (address: string): string => address.replace(/^https?:\/\//, "");

/** Attempt is one code and its state. */
class Attempt {
  status: PairingStatus = "asking";
  pairing: BegunPairing | null = null;
  /** When the code expires and when to poll next, by performance.now(). */
  endsAt = 0;
  #pollAt = 0;
  #isPolling = false;
  readonly #choosing: Preferences;
  readonly #changed: () => void;

  constructor(preferences: Preferences, changed: () => void) {
    this.#choosing = preferences;
    this.#changed = changed;
  }

  async start(): Promise<void> {
    try {
      if (await this.#choosing.refreshAccount()) {
        this.#setStatus("done");
        return;
      }
      const { started, lifetime } = await startPairing();
      this.pairing = started;
      this.endsAt = performance.now() + lifetime;
      this.#pollAt = performance.now() + started.interval_seconds * 1000;
      this.#setStatus("waiting");
    } catch (error) {
      this.#setStatus(error instanceof HTTPError ? "failed" : "offline");
    }
  }

  /** tick polls when it is due. */
  async tick(): Promise<void> {
    const { pairing } = this;
    if (this.status !== "waiting" || pairing === null || this.#isPolling) return;
    if (performance.now() >= this.endsAt) {
      this.#setStatus("expired");
      return;
    }
    if (performance.now() < this.#pollAt) return;
    this.#isPolling = true;
    let wait = pairing.interval_seconds;
    try {
      const account = await pollPairing(pairing.device_code);
      if (account !== null) {
        await this.#choosing.signedIn(account);
        this.#setStatus("done");
      }
    } catch (error) {
      // Other errors are connection failures, after which the code is still valid.
      if (error instanceof HTTPError && error.status === 410) this.#setStatus(error.type.endsWith("pairing-denied") ? "denied" : "expired");
      else if (error instanceof HTTPError) wait = error.retryAfter ?? wait;
    }
    this.#pollAt = performance.now() + wait * 1000;
    this.#isPolling = false;
  }

  #setStatus(status: PairingStatus): void {
    this.status = status;
    this.#changed();
  }
}

/** makePairing makes a dialog that is closed initially. */
export function makePairing(preferences: Preferences, locale: Observable<Locale>): Pairing {
  const title = element("h2", { id: "pair-title" });
  const closeButton = makeButton({ class: "signed" }, () => {
    close();
  }, makeIcon("close"));
  const qr = element("img", { class: "qr", width: "264", height: "264" });
  const scan = element("p", {});
  const type = element("p", {});
  const code = element("strong", { class: "code" });
  const statusLine = element("p", { role: "status", class: "stand" });
  const timeLeft = element("p", { class: "left" });
  const retry = makeButton({ class: "strong" }, () => {
    open();
  });
  const steps = element("div", { class: "steps" }, scan, type, code, timeLeft);
  const codeView = element("div", { class: "pair-code" }, qr, steps);
  const box = element("section", { class: "pairing panel", role: "dialog", "aria-modal": "true", "aria-labelledby": title.id, hidden: "" });
  box.append(element("header", {}, title, closeButton), codeView, statusLine, retry);
  let attempt: Attempt | null = null;
  let timer: ReturnType<typeof setInterval> | undefined;
  let opener: Element | null = null;

  const draw = (): void => {
    if (attempt === null) return;
    const { status, pairing, endsAt } = attempt;
    const words = locale.get();
    setText(title, words.say("pair.title"));
    setLabel(closeButton, words.say("do.close"));
    codeView.hidden = status !== "waiting";
    retry.hidden = status === "asking" || status === "waiting" || status === "done";
    setText(retry, words.say("pair.again"));
    setText(statusLine, words.say(texts[status]));
    if (pairing === null) return;
    const address = withoutScheme(pairing.verification_url);
    setAttribute(qr, "src", qrAddress(pairing.user_code));
    setAttribute(qr, "alt", words.say("pair.qr", { address }));
    setText(scan, words.say("pair.scan"));
    setText(type, words.say("pair.type", { address }));
    setText(code, pairing.user_code);
    setAttribute(code, "role", "img");
    setLabel(code, words.say("pair.codeSpoken", { letters: spellOut(pairing.user_code) }));
    setTextOrHide(timeLeft, words.say("pair.left", { time: words.format.duration(Math.max(0, endsAt - performance.now())) }));
  };
  const changed = (): void => {
    draw();
    if (attempt?.status === "done") {
      const done = attempt;
      setTimeout(() => {
        if (attempt === done) close();
      }, closeDelay);
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
    const mine = (attempt = new Attempt(preferences, () => {
      if (attempt === mine) changed();
    }));
    box.hidden = false;
    draw();
    closeButton.focus();
    void mine.start();
    timer = setInterval(() => {
      draw();
      void mine.tick();
    }, tickInterval);
  };
  box.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") close();
  });
  locale.watch(draw);
  return { element: box, open, close };
}
