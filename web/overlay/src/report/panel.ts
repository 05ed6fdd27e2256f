// The panel of reports: large tiles of kinds, then what became of the report, with an undo. Three touches at most: the button, a tile,
// and for a hazard the tile of its type.

import { castVote, HTTPError, send } from "../net/api.ts";
import type { Pose } from "../car/deadreckoning.ts";
import { element } from "../browser/dom.ts";
import { kindLabel } from "../pins/entitylabels.ts";
import { makeButton, makeIcon, replaceChildren, setAttribute, setLabel, setText, setTextOrHide } from "../browser/widgets.ts";
import styleURL from "./report.css?url";
import { bodyOf, choiceDuration, choices, failureOf, hazard, outcomeText, undoDuration, undoneDuration, undoOf, type ReportAnswer } from "./rules.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Preferences } from "../state/account.ts";
import type { State, Actions } from "../state/state.ts";
import type { Observable } from "../browser/observable.ts";

/** ReportDeps are the dependencies of reports. */
export interface ReportDeps {
  state: State;
  actions: Actions;
  locale: Observable<Locale>;
  preferences: Preferences;
}

/** Seen is the car's pose and the time when the driver touched the button. */
export interface Seen {
  pose: Pose | null;
  /** By performance.now(). */
  at: number;
}

/** ReportPanel is the panel of reports. */
export interface ReportPanel {
  open(seen: Seen): void;
}

/** loadStyle returns when the panel's style is there, or cannot be had. */
export function loadStyle(): Promise<void> {
  const link = element("link", { rel: "stylesheet", href: styleURL });
  const loaded = new Promise<void>((resolve) => {
    link.onload = link.onerror = () => {
      resolve();
    };
  });
  document.head.append(link);
  return loaded;
}

/** makeReportPanel fills the panel; button gets the focus back when it closes. */
export function makeReportPanel(panel: HTMLElement, button: HTMLElement, deps: ReportDeps): ReportPanel {
  return new Panel(panel, button, deps);
}

class Panel implements ReportPanel {
  readonly #panel: HTMLElement;
  readonly #button: HTMLElement;
  readonly #deps: ReportDeps;
  readonly #title = element("h2", {});
  readonly #away = makeButton({ class: "signed away" }, () => {
    this.#close();
  }, makeIcon("close"));
  readonly #tiles = element("div", { class: "tiles", role: "group" });
  readonly #outcome = element("p", { role: "status", class: "outcome" });
  readonly #undo = makeButton({ class: "undo" }, () => void this.#takeBack());
  #seen: Seen = { pose: null, at: 0 };
  #answer: ReportAnswer | null = null;
  #ticking: ReturnType<typeof setInterval> | undefined;
  /** Counts requests, so that an answer that comes after the panel was closed changes nothing. */
  #sent = 0;

  constructor(panel: HTMLElement, button: HTMLElement, deps: ReportDeps) {
    this.#panel = panel;
    this.#button = button;
    this.#deps = deps;
    panel.append(element("header", {}, this.#title, this.#away), this.#tiles, this.#outcome, this.#undo);
    panel.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.#close();
    });
  }

  open(seen: Seen): void {
    if (seen.pose === null) return;
    this.#seen = seen;
    this.#panel.hidden = false;
    this.#ask("first");
  }

  #close(): void {
    clearInterval(this.#ticking);
    const held = this.#panel.contains(document.activeElement);
    this.#panel.hidden = true;
    this.#answer = null;
    this.#sent++;
    if (!held) return;
    setTimeout(() => {
      this.#button.focus({ preventScroll: true }); // it is shown again by then
    });
  }

  #closeAfter(duration: number, tick?: (left: number) => void): void {
    clearInterval(this.#ticking);
    const ends = performance.now() + duration;
    const step = (): void => {
      const left = Math.ceil((ends - performance.now()) / 1000);
      if (left <= 0) this.#close();
      else tick?.(left);
    };
    this.#ticking = setInterval(step, 250);
    step();
  }

  /** #ask shows the tiles of a page. */
  #ask(page: "first" | "hazards"): void {
    const { state, locale } = this.#deps;
    const words = locale.get();
    const kinds = state.kinds.get();
    const made = choices(page, kinds, state.hidden.get()).map((kind) => {
      const asks = page === "first" && kind.id === hazard;
      const name = page === "hazards" && kind.id === hazard ? words.say("report.other") : kindLabel(kind.id, kinds, words);
      return makeButton({ class: "tile" }, () => {
        if (asks) this.#ask("hazards");
        else void this.#report(kind.id);
      }, element("img", { class: "icon", alt: "", src: kind.icon_url }), element("span", {}, name));
    });
    setText(this.#title, words.say(page === "first" ? "report.what" : "report.which"));
    setLabel(this.#panel, words.say("report.what"));
    setLabel(this.#tiles, words.say("report.what"));
    setLabel(this.#away, words.say("do.close"));
    replaceChildren(this.#tiles, made);
    this.#tiles.hidden = false;
    this.#undo.hidden = true;
    setTextOrHide(this.#outcome, "");
    setAttribute(this.#tiles, "data-page", page);
    made[0]?.focus({ preventScroll: true });
    this.#closeAfter(choiceDuration);
  }

  /** #tell shows a text instead of the tiles. */
  #tell(text: string): void {
    clearInterval(this.#ticking);
    setText(this.#title, this.#deps.locale.get().say("report.open"));
    this.#tiles.hidden = true;
    this.#undo.hidden = true;
    setTextOrHide(this.#outcome, text);
    this.#away.focus({ preventScroll: true });
  }

  /** #submit sends something, and calls done with the answer unless the panel was closed meanwhile. */
  async #submit<T>(request: () => Promise<T>, done: (answer: T) => void): Promise<void> {
    const { locale, actions, preferences } = this.#deps;
    this.#tell(locale.get().say("report.sending"));
    const mine = ++this.#sent;
    try {
      const answer = await request();
      actions.refresh();
      if (mine === this.#sent) done(answer);
    } catch (error) {
      if (error instanceof HTTPError && error.status === 401) preferences.signedOut();
      if (mine !== this.#sent) return;
      this.#tell(locale.get().say(failureOf(error)));
      this.#closeAfter(undoDuration);
    }
  }

  async #report(kind: string): Promise<void> {
    const { pose, at } = this.#seen;
    if (pose === null) return;
    const clock = this.#deps.state.clock.get();
    const body = bodyOf(kind, pose, clock === null ? null : at + clock);
    await this.#submit(async () => (await (await send("POST", "/v2/reports", body)).json()) as ReportAnswer, (answer) => {
      this.#thank(answer);
    });
  }

  #thank(answer: ReportAnswer): void {
    const { state, locale } = this.#deps;
    const words = locale.get();
    this.#tell(outcomeText(answer, kindLabel(answer.entity.kind_id, state.kinds.get(), words), words.say));
    this.#answer = answer;
    this.#undo.hidden = undoOf(answer) === null;
    this.#closeAfter(undoDuration, (left) => {
      setText(this.#undo, words.say("report.undo", { seconds: words.format.number(left) }));
    });
    if (!this.#undo.hidden) this.#undo.focus({ preventScroll: true });
  }

  async #takeBack(): Promise<void> {
    if (this.#answer === null) return;
    const { id } = this.#answer.entity;
    const how = undoOf(this.#answer);
    this.#answer = null;
    const request = async (): Promise<void> => {
      if (how === "vote") await castVote(id, null);
      else await send("DELETE", `/v2/reports/${encodeURIComponent(id)}`);
    };
    await this.#submit(request, () => {
      this.#tell(this.#deps.locale.get().say("report.undone"));
      this.#closeAfter(undoneDuration);
    });
  }
}
