// The choice of the way: what is offered, what is avoided, and the start, which comes by itself.

import { getJSON } from "../api.ts";
import { cleanText, entityLabel, sourceLabel, streetOf } from "../entitylabels.ts";
import { sourcesOf } from "../card.ts";
import { element } from "../dom.ts";
import type { Fix } from "../position.ts";
import { backoff } from "../reconnect.ts";
import { serverTime } from "../serverclock.ts";
import type { Entity } from "../wire.ts";
import { keyedList, makeButton, makeIcon, setAttribute, setLabel, setText, setTextOrHide, type KeyedItem } from "../widgets.ts";
import { isDue, isOver, startsIn, stopped, type AutoStart } from "./autostart.ts";
import { makeChargersView } from "./chargersview.ts";
import { routeOptionsOf } from "./drive.ts";
import type { NavDeps } from "./navigation.ts";
import type { PlaceKeeper } from "./placekeeper.ts";
import { makeStopsView } from "./stopsview.ts";
import { leftText } from "./triptexts.ts";
import { troubleOf } from "./trouble.ts";
import type { Avoided } from "./types.ts";
import { watchAll } from "./watchall.ts";
import { mountWayLayers } from "./waylayers.ts";
import { avoidedOf, factsOf, type WayFacts } from "./waywords.ts";

const longest = 80; // characters of a name

/** Choice offers ways. */
export interface Choice {
  /** offer finds ways over nav.stops and lets the driver choose. */
  offer(): void;
  /** showStops and showChargers open what concerns a drive that is led, too. */
  showStops(): void;
  showChargers(): void;
}

/** ChoiceDeps are what the panel is mounted with. */
export interface ChoiceDeps extends NavDeps {
  keeper: PlaceKeeper;
  /** addStop asks for a place on the way. */
  addStop: () => void;
}

type View = "ways" | "stops" | "chargers";

/** Finder finds the ways, again and again until there are some. */
class Finder {
  readonly #deps: NavDeps;
  readonly #onFound: () => void;
  #asking: AbortController | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  constructor(deps: NavDeps, onFound: () => void) {
    this.#deps = deps;
    this.#onFound = onFound;
  }

  /** find replaces what was being found before. */
  find(): void {
    this.stop();
    const { host, nav } = this.#deps;
    const asking = (this.#asking = new AbortController());
    nav.isSearching.set(true);
    let unwatch = (): void => undefined;
    const begin = (fix: Fix | null): void => {
      if (asking.signal.aborted) return;
      if (fix === null) {
        nav.trouble.set("noPosition");
        return;
      }
      setTimeout(() => {
        unwatch();
      });
      if (nav.trouble.get() === "noPosition") nav.trouble.set(null);
      void this.#ask(fix, asking);
    };
    let isAsked = false;
    unwatch = host.state.fix.watch((fix) => {
      if (isAsked) return;
      isAsked = fix !== null;
      begin(fix);
    });
  }

  stop(): void {
    this.#asking?.abort();
    this.#asking = null;
    clearTimeout(this.#retry);
    this.#deps.nav.isSearching.set(false);
  }

  async #ask(fix: Fix, { signal }: AbortController): Promise<void> {
    const { host, nav, api } = this.#deps;
    try {
      const { routes } = await api.routes([fix, ...nav.stops.get().map(({ place }) => place)], routeOptionsOf(host, nav), signal);
      if (signal.aborted) return;
      this.#failures = 0;
      nav.isSearching.set(false);
      nav.trouble.set(null);
      nav.chosen.set(0);
      nav.routes.set(routes);
      this.#onFound();
    } catch (error) {
      if (signal.aborted) return;
      const trouble = troubleOf(error);
      nav.isSearching.set(false);
      nav.trouble.set(trouble);
      if (trouble === "noRoute" || trouble === "noRoad" || trouble === "noRegion") return;
      this.#retry = setTimeout(() => {
        this.find();
      }, backoff(++this.#failures, Math.random()));
    }
  }
}

/** Way is a way with what is told of it. */
interface Way {
  number: number;
  facts: WayFacts;
}

/** mountChoice adds the panel beside the map. */
export function mountChoice(deps: ChoiceDeps): Choice {
  const { host, nav, actions, keeper } = deps;
  let autoStart: AutoStart = stopped;
  let view: View = "ways";
  const title = element("h2", { id: "nav-choice-title" });
  const detail = element("small", {});
  const close = makeButton({ class: "signed", id: "nav-choice-close" }, () => {
    if (view !== "ways") show("ways");
    else actions.end();
  }, makeIcon("close"));
  const ways = element("ul", { class: "ways" });
  const trouble = element("p", { class: "trouble", role: "status", hidden: "" });
  const avoids = element("ul", { class: "avoids" });
  const toggles = makeToggles(deps, () => {
    actions.choose(nav.stops.get());
  });
  const [stopsButton, chargersButton] = (["stops", "chargers"] as const).map((name) => makeButton({ id: `nav-show-${name}` }, () => {
    show(name);
  })) as [HTMLButtonElement, HTMLButtonElement];
  const start = makeButton({ class: "strong start", id: "nav-start" }, () => {
    begin();
  });
  const sending = makeSendButton(deps, () => {
    autoStart = stopped;
    count();
  });
  const main = element("div", { class: "scroll" }, trouble, ways, avoids, toggles.element, element("div", { class: "pair" }, stopsButton, chargersButton), sending.element);
  const stops = makeStopsView(deps);
  const chargers = makeChargersView(deps);
  const box = element("section", { class: "panel choosing", hidden: "", "aria-labelledby": title.id }, element("header", {}, element("div", { class: "what" }, title, detail), close), main, stops.element, chargers.element, element("footer", {}, start));
  host.slots.side.prepend(box);

  const begin = (): void => {
    const destination = nav.destination.get();
    if (nav.routes.get().length === 0) return;
    autoStart = stopped;
    if (destination !== null) keeper.visited(destination);
    actions.start(nav.chosen.get());
  };
  const finder = new Finder(deps, () => {
    if (view === "ways") autoStart = { since: performance.now() };
    count();
  });
  const choose = (way: number): void => {
    nav.chosen.set(way);
    autoStart = { since: performance.now() };
    count();
  };
  const showWays = keyedList<Way>(ways, ({ number }) => String(number), ({ number }) => makeWay(deps, () => {
    choose(number);
  }));
  const count = (): void => {
    const { say, format } = host.locale.get();
    const seconds = startsIn(autoStart, performance.now());
    setText(start, seconds === null ? say("nav.start") : say("nav.startIn", { seconds: format.number(seconds) }));
    setAttribute(start, "aria-disabled", String(nav.routes.get().length === 0));
  };
  setInterval(() => {
    if (nav.phase.get() !== "choosing" || autoStart === stopped) return;
    const now = performance.now();
    if (isDue(autoStart, now)) begin();
    else {
      if (isOver(autoStart, now)) autoStart = stopped;
      count();
    }
  }, 250);
  const show = (next: View): void => {
    view = next;
    autoStart = next === "ways" && nav.routes.get().length > 0 && nav.phase.get() === "choosing" ? { since: performance.now() } : stopped;
    if (next === "stops") stops.open();
    if (next === "chargers") chargers.open();
    else chargers.close();
    draw();
  };
  const draw = (): void => {
    const phase = nav.phase.get();
    const { say } = host.locale.get();
    const isChoosing = phase === "choosing" && nav.destination.get() !== null && nav.stops.get().length > 0;
    box.hidden = !(isChoosing || (phase === "led" && view !== "ways"));
    setAttribute(host.slots.all, "data-nav-view", box.hidden ? "" : view);
    if (box.hidden) return;
    const destination = nav.destination.get();
    const name = cleanText(destination?.name, longest);
    setText(title, view === "stops" ? say("nav.stops") : view === "chargers" ? say("nav.chargers") : name === "" ? say("nav.pinned") : name);
    setTextOrHide(detail, view === "ways" ? cleanText(destination?.detail, longest) : "");
    setLabel(close, say(view === "ways" ? "do.close" : "do.back"));
    main.hidden = view !== "ways";
    stops.element.hidden = view !== "stops";
    chargers.element.hidden = view !== "chargers";
    start.hidden = phase !== "choosing";
    const routes = nav.routes.get();
    showWays(routes.map((route, number) => ({ number, facts: factsOf(route) })));
    const troubled = nav.trouble.get();
    setTextOrHide(trouble, troubled !== null ? say(`nav.trouble.${troubled}`) : nav.isSearching.get() && routes.length === 0 ? say("nav.searching") : "");
    setText(stopsButton, say("nav.stops"));
    setText(chargersButton, say("nav.chargers"));
    toggles.update();
    sending.update();
    count();
  };
  watchAll([nav.phase, nav.routes, nav.chosen, nav.trouble, nav.isSearching, nav.destination, nav.stops, nav.avoid, host.locale, host.preferences.person], draw);
  nav.phase.watch((phase) => {
    if (phase === "choosing") return;
    finder.stop();
    autoStart = stopped;
    if (phase !== "led") show("ways");
    else if (view !== "ways") show("ways");
  });
  nav.routes.watch((routes) => {
    void showAvoided(deps, avoids, routes.map(factsOf));
  });
  mountWayLayers(deps, choose);
  return {
    offer() {
      autoStart = stopped;
      if (box.hidden || view === "chargers") show("ways"); // the view of the stops stays while they are ordered
      finder.find();
    },
    showStops() {
      show("stops");
    },
    showChargers() {
      show("chargers");
    },
  };
}

/** makeWay is a way as a button. */
function makeWay({ host, nav }: NavDeps, choose: () => void): KeyedItem<Way> {
  const [time, length, via, notes] = [element("strong", { class: "time" }), element("span", { class: "length" }), element("span", { class: "via" }), element("span", { class: "notes" })];
  const button = makeButton({ class: "way" }, choose, element("span", { class: "figures" }, time, length), element("span", { class: "what" }, via, notes));
  return {
    element: element("li", {}, button),
    update({ number, facts }) {
      const { say, format } = host.locale.get();
      setAttribute(button, "aria-pressed", String(number === nav.chosen.get()));
      setAttribute(button, "id", `nav-way-${String(number)}`);
      setText(time, leftText(facts.seconds, format));
      setText(length, format.distance(facts.metres).text);
      setTextOrHide(via, cleanText(facts.via, longest));
      const words = [
        facts.isClosed ? say("nav.closedWay") : "",
        facts.delay > 0 ? say("nav.delay", { time: leftText(facts.delay, format) }) : "",
        facts.hasToll ? say("nav.toll") : "",
        facts.hasFerry ? say("nav.ferry") : "",
      ];
      setTextOrHide(notes, words.filter((text) => text !== "").join(" · "));
    },
  };
}

/** makeToggles are what the driver does not want to drive on. */
function makeToggles({ host, nav }: NavDeps, changed: () => void): { element: HTMLElement; update(): void } {
  const names: readonly Avoided[] = ["motorway", "toll", "ferry"];
  const buttons = names.map((name) => makeButton({ id: `nav-avoid-${name}` }, () => {
    const now = nav.avoid.get();
    nav.avoid.set(now.includes(name) ? now.filter((one) => one !== name) : [...now, name]);
    changed();
  }));
  const group = element("div", { class: "choice avoid", role: "group" }, ...buttons);
  return {
    element: group,
    update() {
      const { say } = host.locale.get();
      setLabel(group, say("nav.avoid"));
      names.forEach((name, i) => {
        const button = buttons[i];
        if (button === undefined) return;
        setText(button, say(`nav.avoid.${name}`));
        setAttribute(button, "aria-pressed", String(nav.avoid.get().includes(name)));
      });
    },
  };
}

/** showAvoided tells what the ways are led around, with its age and its source. */
async function showAvoided({ host, nav }: NavDeps, list: HTMLElement, ways: readonly WayFacts[]): Promise<void> {
  const routes = nav.routes.get();
  const ids = avoidedOf(ways);
  const texts = [];
  while (list.firstChild) list.removeChild(list.firstChild);
  for (const id of ids) {
    const entity = host.state.known.get().find((one) => one.id === id) ?? (await readEntity(id, () => host.budget.tryTake()));
    if (nav.routes.get() !== routes) return;
    if (entity !== null) texts.push(avoidedText(entity, host));
  }
  list.append(...texts.map((text) => element("li", {}, text)));
}

async function readEntity(id: string, mayAsk: () => boolean): Promise<Entity | null> {
  if (!mayAsk()) return null;
  try {
    return (await getJSON<{ entity: Entity }>(`/v2/entities/${encodeURIComponent(id)}`)).entity;
  } catch {
    return null; // it may be gone, or the connection is
  }
}

function avoidedText(entity: Entity, { state, locale }: NavDeps["host"]): string {
  const words = locale.get();
  const age = serverTime(state.clock.get(), performance.now(), Date.now()) - Date.parse(entity.first_seen_at);
  const { own } = sourcesOf(entity, state.sources.get());
  const what = [entityLabel(entity, state.kinds.get(), words), cleanText(streetOf(entity), longest)].filter((text) => text !== "").join(", ");
  const when = Number.isNaN(age) ? "" : words.say("nav.ago", { age: words.format.duration(Math.max(0, age)) });
  return words.say("nav.avoids", { what: [what, when, own === null ? "" : sourceLabel(own, words)].filter((text) => text !== "").join(" · ") });
}

/** makeSendButton sends the destination to the driver's cars, from a browser that is no car's. */
function makeSendButton({ host, nav, keeper }: ChoiceDeps, pressed: () => void): { element: HTMLElement; update(): void } {
  const said = element("p", { role: "status", hidden: "" });
  const button = makeButton({ id: "nav-send" }, () => {
    pressed();
    const destination = nav.destination.get();
    if (destination === null) return;
    void keeper.send(destination).then((answer) => {
      setTextOrHide(said, host.locale.get().say(`nav.send.${answer}`));
    });
  });
  const box = element("div", { class: "send", hidden: "" }, button, said);
  nav.destination.watch(() => {
    said.hidden = true;
  });
  return {
    element: box,
    update() {
      box.hidden = !keeper.maySend();
      setText(button, host.locale.get().say("nav.send"));
    },
  };
}
