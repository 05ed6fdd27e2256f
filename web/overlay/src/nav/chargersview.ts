// The chargers on the way, with their detour and with the range that is left there. One touch makes one a stop.

import { watchAll } from "../browser/observable.ts";
import { cleanText, entityLabel, iconOf } from "../pins/entitylabels.ts";
import { element } from "../browser/dom.ts";
import type { Entity } from "../net/wire.ts";
import { keyedList, makeButton, setAttribute, setText, setTextOrHide, type KeyedItem } from "../browser/widgets.ts";
import { arrangeChargers, isReachable, parseRange, rangeAt, type AlongRoute } from "./chargers.ts";
import { chargerTexts, findChargers } from "./chargerfinder.ts";
import type { ChoiceDeps } from "./deps.ts";
import { routeLineOf, type RouteLine } from "./routeline.ts";
import { insertStop } from "./stops.ts";
import { leftText } from "./triptexts.ts";
import { troubleOf } from "./trouble.ts";

const metresPerMile = 1609.344;
const longest = 80; // characters of a name

/** ChargersView lists chargers on the route; it is hidden until it is opened. */
export interface ChargersView {
  element: HTMLElement;
  open(): void;
  close(): void;
}

/** makeChargersView calls added after a charger became a stop of a drive that is led. */
export function makeChargersView(deps: ChoiceDeps, added: () => void): ChargersView {
  const { host, nav, api } = deps;
  let asking: AbortController | null = null;
  let found: readonly AlongRoute<Entity>[] = [];
  let range: number | null = null;
  let way: { line: RouteLine; from: number } | null = null;
  const label = element("label", { for: "nav-range" });
  const input = element("input", { id: "nav-range", inputmode: "numeric", maxlength: "4", autocomplete: "off" });
  const end = element("p", { class: "range-end", role: "status", hidden: "" });
  const status = element("p", { role: "status", class: "trouble", hidden: "" });
  const list = element("ul", { class: "found" });
  const box = element("div", { class: "scroll", hidden: "" }, element("div", { class: "range" }, label, input), end, status, list);
  const perUnit = (): number => (host.state.settings.get().units === "metric" ? 1000 : metresPerMile);
  const show = keyedList<AlongRoute<Entity>>(list, ({ value }) => value.id, (one) => makeCharger(deps, () => range, () => {
    addStop(deps, one);
    if (nav.phase.get() === "led") added();
  }));
  const draw = (): void => {
    const { say, format } = host.locale.get();
    setText(label, say("nav.range", { unit: perUnit() === 1000 ? "km" : "mi" }));
    show(arrangeChargers(found, range));
    const left = way === null ? null : rangeAt(range, way.line.length - way.from);
    setTextOrHide(end, left === null ? "" : left >= 0 ? say("nav.range.end", { distance: format.distance(left).text }) : say("nav.range.short", { distance: format.distance(-left).text }));
  };
  const say = (text: string): void => {
    setTextOrHide(status, text);
  };
  input.addEventListener("input", () => {
    range = parseRange(input.value, perUnit());
    setAttribute(input, "aria-invalid", String(input.value.trim() !== "" && range === null));
    draw();
  });
  const find = async (): Promise<void> => {
    const route = nav.phase.get() === "led" ? nav.led.get()?.route : nav.routes.get()[nav.chosen.get()];
    const words = host.locale.get();
    found = [];
    way = null;
    if (route === undefined) {
      say(words.say("nav.searching"));
      draw();
      return;
    }
    const line = routeLineOf(route);
    const from = nav.phase.get() === "led" ? (nav.progress.get()?.metres ?? 0) : 0;
    way = { line, from };
    const own = (asking = new AbortController());
    say(words.say("state.loading"));
    draw();
    try {
      found = await findChargers({ api, networks: host.state.settings.get().networks }, line, from, own.signal);
      if (own.signal.aborted) return;
      say(arrangeChargers(found, range).length === 0 ? words.say("nav.chargers.none") : "");
    } catch (error) {
      if (own.signal.aborted) return;
      say(words.say(`nav.trouble.${troubleOf(error)}`));
    }
    draw();
  };
  const close = (): void => {
    asking?.abort();
    asking = null;
  };
  watchAll([host.locale, host.state.settings], () => {
    if (!box.hidden) draw();
  });
  return {
    element: box,
    open() {
      close();
      void find();
    },
    close,
  };
}

/** addStop makes a charger a stop. */
function addStop({ host, nav, actions }: ChoiceDeps, { value, place }: AlongRoute<Entity>): void {
  const words = host.locale.get();
  const { name } = chargerTexts(value, words.format);
  const kind = entityLabel(value, host.state.kinds.get(), words);
  const stops = insertStop(nav.stops.get(), { place, name: name === "" ? kind : name, detail: name === "" ? "" : kind }, host.state.pose());
  if (nav.phase.get() === "led") actions.changeStops(stops);
  else actions.choose(stops);
}

function makeCharger({ host }: ChoiceDeps, range: () => number | null, add: () => void): KeyedItem<AlongRoute<Entity>> {
  const icon = element("img", { alt: "", class: "icon" });
  const [name, facts, left] = [element("strong", {}), element("small", {}), element("small", { class: "left-there" })];
  const [detour, at] = [element("strong", {}), element("small", {})];
  const button = makeButton({ class: "result" }, add, icon, element("span", { class: "what" }, name, facts, left), element("span", { class: "figures" }, detour, at));
  return {
    element: element("li", {}, button),
    update(one) {
      const words = host.locale.get();
      const { say, format } = words;
      const texts = chargerTexts(one.value, format);
      const kind = entityLabel(one.value, host.state.kinds.get(), words);
      setAttribute(icon, "src", iconOf(one.value, host.state.kinds.get()));
      setText(name, cleanText(texts.name, longest) || kind);
      setTextOrHide(facts, texts.facts);
      const isShort = !isReachable(range(), one.metres);
      const there = rangeAt(range(), one.metres);
      setTextOrHide(left, there === null ? "" : isShort ? say("nav.range.out") : say("nav.range.there", { distance: format.distance(there).text }));
      setAttribute(button, "data-short", String(isShort));
      setText(detour, one.detour < 30 ? say("nav.detour.none") : `+${leftText(one.detour, format)}`);
      setText(at, format.distance(one.metres).text);
    },
  };
}
