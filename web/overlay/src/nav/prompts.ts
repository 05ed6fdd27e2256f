// Questions and notices of a drive: a better route, a kept drive, the arrival, and changes of the route.

import { watchAll } from "../browser/observable.ts";
import { cleanText } from "../pins/entitylabels.ts";
import { element } from "../browser/dom.ts";
import { makeButton, setLabel, setText, setTextOrHide } from "../browser/widgets.ts";
import { endsOnMotorway, sideOf, walkTo } from "./arrival.ts";
import type { NavDeps } from "./deps.ts";
import { leftText, turnDistanceText } from "./triptexts.ts";

const longest = 80; // characters of a name
const arrivedDuration = 60_000; // ms
const noticeDuration = 10_000; // ms

/** Prompt is a text with two buttons, one of which is the default without a touch. */
function makePrompt(className: string, onYes: () => void, onNo: () => void): { box: HTMLElement; text: HTMLElement; small: HTMLElement; yes: HTMLButtonElement; no: HTMLButtonElement } {
  const [text, small] = [element("strong", {}), element("small", {})];
  const yes = makeButton({ class: "strong" }, onYes);
  const no = makeButton({}, onNo);
  const box = element("section", { class: `panel nav-prompt ${className}`, hidden: "" }, element("p", { class: "what" }, text, small), element("div", { class: "buttons" }, yes, no));
  return { box, text, small, yes, no };
}

/** mountPrompts shows them below the maneuver and at the bottom. */
export function mountPrompts(deps: NavDeps): void {
  mountOffer(deps);
  mountAsking(deps);
  mountArrived(deps);
  mountNotice(deps);
}

function mountOffer({ host, nav, actions }: NavDeps): void {
  const { box, text, small, yes, no } = makePrompt("offer", () => {
    actions.accept();
  }, () => {
    actions.decline();
  });
  host.slots.foot.append(box);
  let timer: ReturnType<typeof setInterval> | undefined;
  const draw = (): void => {
    const offer = nav.offer.get();
    const { say, format } = host.locale.get();
    clearInterval(timer);
    box.hidden = offer === null;
    if (offer === null) return;
    setText(text, say("nav.offer", { gain: leftText(offer.gain, format) }));
    setText(no, say("nav.offer.no"));
    const count = (): void => {
      setText(yes, say("nav.offer.yes", { seconds: format.number(Math.max(0, Math.ceil((offer.until - performance.now()) / 1000))) }));
    };
    setTextOrHide(small, "");
    count();
    timer = setInterval(count, 1000);
  };
  watchAll([nav.offer, host.locale], draw);
}

function mountAsking({ host, nav, actions }: NavDeps): void {
  const answer = (goesOn: boolean) => (): void => {
    actions.answer(goesOn);
  };
  const { box, text, small, yes, no } = makePrompt("asking", answer(true), answer(false));
  host.slots.foot.append(box);
  watchAll([nav.asking, host.locale], () => {
    const kept = nav.asking.get();
    const { say } = host.locale.get();
    box.hidden = kept === null;
    const last = kept?.stops[kept.stops.length - 1];
    if (last === undefined) return;
    const name = cleanText(last.name, longest);
    setText(text, name === "" ? say("nav.continue.drive") : say("nav.continue.to", { name }));
    setTextOrHide(small, cleanText(last.detail, longest));
    setText(yes, say("nav.continue.yes"));
    setText(no, say("nav.continue.no"));
  });
}

function mountArrived({ host, nav, actions }: NavDeps): void {
  const name = element("strong", {});
  const note = element("span", {});
  const title = element("h2", {});
  const done = makeButton({ class: "strong", id: "nav-done" }, () => {
    actions.end();
  });
  const box = element("section", { class: "panel arrived", role: "status", hidden: "" }, element("div", { class: "what" }, title, name, note), done);
  host.slots.head.prepend(box);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const draw = (): void => {
    const arrived = nav.phase.get() === "arrived" ? nav.arrived.get() : null;
    const { say, format } = host.locale.get();
    box.hidden = arrived === null;
    if (arrived === null) return;
    const { destination, line } = arrived;
    const side = sideOf(line, line.legEnds.length - 1);
    const walk = walkTo(line, destination.place);
    setText(title, say("nav.arrived"));
    setTextOrHide(name, cleanText(destination.name, longest));
    const metres = turnDistanceText(walk, host.state.settings.get().units, format);
    setTextOrHide(note, endsOnMotorway(line.steps.map(({ step }) => step)) ? say("nav.end.motorway") : walk > 0 ? say("nav.walk", { distance: metres }) : side === null ? "" : say(side === "left" ? "nav.side.left" : "nav.side.right"));
    setText(done, say("nav.done"));
  };
  watchAll([nav.phase, nav.arrived, host.locale], draw);
  nav.phase.watch((phase) => {
    clearTimeout(timer);
    if (phase === "arrived") {
      timer = setTimeout(() => {
        actions.end();
      }, arrivedDuration);
    }
  });
}

function mountNotice({ host, nav }: NavDeps): void {
  const text = element("p", {});
  const box = element("section", { class: "panel news", role: "status", hidden: "" }, text);
  host.slots.foot.append(box);
  let timer: ReturnType<typeof setTimeout> | undefined;
  nav.notice.watch((notice) => {
    clearTimeout(timer);
    box.hidden = notice === null;
    if (notice === null) return;
    setText(text, notice.text);
    timer = setTimeout(() => {
      nav.notice.set(null);
    }, noticeDuration);
  });
  host.locale.watch(({ say }) => {
    setLabel(box, say("nav.news"));
  });
}
