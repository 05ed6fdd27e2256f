// The next maneuver: its arrow, distance and road, the lanes before it, and the one that follows shortly after.

import { watchAll } from "../browser/observable.ts";
import { element } from "../browser/dom.ts";
import { angleBetween, bearing } from "../geo/geo.ts";
import { cleanText } from "../pins/entitylabels.ts";
import { replaceChildren, setLabel, setText, setTextOrHide } from "../browser/widgets.ts";
import { aheadAt, nameBehind, type Ahead, type Upcoming } from "./maneuver.ts";
import { drawingOf, makeLaneIcon, makeManeuverIcon } from "./maneuvericon.ts";
import type { NavDeps } from "./deps.ts";
import { troubleText } from "./trouble.ts";
import { turnDistanceText } from "./triptexts.ts";
import type { Component } from "./types.ts";

const longest = 80; // characters of a name

/** changed calls draw only if the content has changed, so that elements stay. */
function changed(draw: (value: string) => void): (value: string) => void {
  let last: string | null = null;
  return (value) => {
    if (value === last) return;
    last = value;
    draw(value);
  };
}

/** arrowOf draws the arrow of a maneuver again when it is another one. */
function arrowIn(box: HTMLElement): (upcoming: Upcoming | null) => void {
  let next: Upcoming | null = null;
  const draw = changed(() => {
    replaceChildren(box, next === null ? [] : [makeManeuverIcon(drawingOf(next.maneuver, next.primary))]);
  });
  return (upcoming) => {
    next = upcoming;
    draw(upcoming === null ? "" : JSON.stringify([upcoming.maneuver.type, upcoming.maneuver.modifier, upcoming.maneuver.exit, upcoming.primary?.degrees, upcoming.primary?.driving_side]));
  };
}

/** lanesIn draws lanes from left to right, also where texts are written from right to left. */
function lanesIn(box: HTMLElement): (lanes: readonly Component[]) => void {
  let now: readonly Component[] = [];
  const draw = changed(() => {
    box.hidden = now.length === 0;
    replaceChildren(box, now.map((lane) => {
      const made = element("li", { class: lane.active === true ? "lane active" : "lane" });
      made.append(makeLaneIcon(lane.directions ?? [], lane.active === true ? (lane.active_direction ?? lane.directions?.[0] ?? null) : null));
      return made;
    }));
  });
  return (lanes) => {
    now = lanes;
    draw(JSON.stringify(lanes));
  };
}

/** nameOf returns the road that a maneuver leads onto, or the instruction. */
const nameOf = (upcoming: Upcoming): string => cleanText(nameBehind(upcoming), longest);

/** mountManeuverPanel shows it above the alerts. */
export function mountManeuverPanel({ host, nav }: NavDeps): void {
  const arrow = element("div", { class: "turn" });
  const figure = element("strong", { class: "figure" });
  const exit = element("span", { class: "exit" });
  const refs = element("span", { class: "refs" });
  const name = element("span", { class: "name" });
  const towards = element("span", { class: "towards" });
  const lanes = element("ul", { class: "lanes", dir: "ltr", hidden: "" });
  const thenArrow = element("span", { class: "turn" });
  const thenWord = element("span", {});
  const thenName = element("span", { class: "name" });
  const then = element("p", { class: "then", hidden: "" }, thenWord, thenArrow, thenName);
  const what = element("div", { class: "what" }, element("p", { class: "first" }, figure, exit, refs), name, towards);
  const panel = element("section", { class: "maneuver", hidden: "" }, element("div", { class: "now" }, arrow, what), lanes, then);
  host.slots.head.prepend(panel);
  const [drawArrow, drawThen, drawLanes] = [arrowIn(arrow), arrowIn(thenArrow), lanesIn(lanes)];
  const drawRefs = changed((text) => {
    replaceChildren(refs, text === "" ? [] : text.split("\n").map((ref) => element("span", { class: "shield" }, ref)));
  });

  const message = (text: string): void => {
    drawArrow(null);
    drawThen(null);
    drawLanes([]);
    drawRefs("");
    for (const one of [figure, exit, towards]) setTextOrHide(one, "");
    setText(name, text);
    then.hidden = true;
  };
  const drawAhead = ({ next, after, lanes: shown }: Ahead): void => {
    if (next === null) return;
    const { say, format } = host.locale.get();
    drawArrow(next);
    setTextOrHide(figure, turnDistanceText(next.distance, host.state.settings.get().units, format));
    setTextOrHide(exit, next.exit === "" ? "" : say("nav.exit", { number: cleanText(next.exit, 12) }));
    drawRefs(next.refs.map((ref) => cleanText(ref, 12)).join("\n"));
    setText(name, nameOf(next));
    const second = cleanText(next.secondary?.text, longest);
    setTextOrHide(towards, next.refs.join(";") === second ? "" : second);
    drawLanes(shown);
    then.hidden = after === null;
    drawThen(after);
    if (after === null) return;
    setText(thenWord, say("nav.then"));
    setText(thenName, nameOf(after));
  };
  const draw = (): void => {
    const words = host.locale.get();
    const [led, progress, trouble] = [nav.led.get(), nav.progress.get(), nav.trouble.get()];
    panel.hidden = nav.phase.get() !== "led";
    if (panel.hidden) return;
    setLabel(panel, words.say("nav.panel"));
    panel.classList.toggle("off", progress?.isOff === true);
    if (led === null || progress === null) {
      message(trouble === null ? words.say("nav.searching") : troubleText(trouble, words));
    } else if (progress.isOff) {
      message(trouble === null ? words.say("nav.searching") : words.say("nav.backToRoute"));
      if (trouble === null) return;
      const pose = host.state.pose();
      setTextOrHide(figure, turnDistanceText(progress.offset, host.state.settings.get().units, words.format));
      if (pose !== null) replaceChildren(arrow, [needle(angleBetween(pose.heading ?? 0, bearing(pose, progress.nearest)))]);
    } else {
      drawAhead(aheadAt(led.line, progress.metres));
    }
  };
  watchAll([nav.phase, nav.led, nav.progress, nav.trouble, host.locale], draw);
}

/** needle points to a place, in degrees clockwise from ahead. */
function needle(degrees: number): SVGElement {
  const icon = makeManeuverIcon(drawingOf({ type: "turn", modifier: "straight" }));
  icon.style.transform = `rotate(${degrees.toFixed(0)}deg)`;
  return icon;
}
