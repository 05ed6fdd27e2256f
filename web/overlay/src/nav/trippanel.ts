// The drive as a whole: arrival, remaining distance and time, the overview, and its end.

import { watchAll } from "../browser/observable.ts";
import { element } from "../browser/dom.ts";
import { makeButton, makeIcon, setAttribute, setLabel, setText, setTextOrHide } from "../browser/widgets.ts";
import type { NavDeps } from "./deps.ts";
import { clockText, leftText } from "./triptexts.ts";

/** Trip is the panel to which other parts of navigation add their buttons. */
export interface Trip {
  buttons: HTMLElement;
}

/** mountTripPanel shows it at the bottom. */
export function mountTripPanel({ host, nav, actions }: NavDeps): Trip {
  const clock = element("strong", { class: "clock" });
  const [time, metres] = [element("span", {}), element("span", {})]; // narrow screens break the line between them alone
  const left = element("span", { class: "left" }, time, " · ", metres);
  const via = element("span", { class: "via" });
  const overview = makeButton({ class: "signed", id: "nav-overview" }, () => {
    nav.overview.set(!nav.overview.get());
  }, makeOverviewIcon());
  const endText = element("span", {}); // small screens show the cross alone
  const end = makeButton({ class: "end", id: "nav-end" }, () => {
    actions.end();
  }, makeIcon("close"), endText);
  const buttons = element("div", { class: "buttons" }, overview, end);
  const trip = element("section", { class: "trip panel", hidden: "" }, element("div", { class: "times" }, clock, left, via), buttons);
  host.slots.foot.append(trip);
  const draw = (): void => {
    const { say, format, language } = host.locale.get();
    trip.hidden = nav.phase.get() !== "led";
    if (trip.hidden) return;
    setLabel(trip, say("nav.trip"));
    setLabel(overview, say("nav.overview"));
    setAttribute(overview, "aria-pressed", String(nav.overview.get()));
    overview.hidden = !host.state.drawable.get();
    setLabel(end, say("nav.end"));
    setText(endText, say("nav.end"));
    const arrivals = nav.arrivals.get();
    const last = arrivals[arrivals.length - 1];
    const next = arrivals.length > 1 ? arrivals[0] : undefined;
    setTextOrHide(clock, last === undefined ? "" : clockText(last.at, language));
    left.hidden = last === undefined;
    setText(time, last === undefined ? "" : leftText(last.seconds, format));
    setText(metres, last === undefined ? "" : format.distance(last.metres).text);
    setTextOrHide(via, next === undefined ? "" : say("nav.via", { time: clockText(next.at, language), left: leftText(next.seconds, format) }));
  };
  watchAll([nav.phase, nav.arrivals, nav.overview, host.locale, host.state.drawable], draw);
  return { buttons };
}

function makeOverviewIcon(): SVGElement {
  const namespace = "http://www.w3.org/2000/svg";
  const icon = document.createElementNS(namespace, "svg");
  for (const [name, value] of [["viewBox", "0 0 24 24"], ["class", "sign"], ["aria-hidden", "true"]] as const) icon.setAttribute(name, value);
  const path = document.createElementNS(namespace, "path");
  path.setAttribute("d", "M6 19a2 2 0 1 0 .01 0M8 19h7a4 4 0 0 0 0-8H9a3.5 3.5 0 0 1 0-7h6M18 2a2 2 0 1 0 .01 0");
  icon.append(path);
  return icon;
}
