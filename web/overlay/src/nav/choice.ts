// The choice of a route: offered routes, avoided road classes, and the automatic start.

import { watchAll } from "../browser/observable.ts";
import { getJSON } from "../net/api.ts";
import { cleanText, entityLabel, sourceLabel, streetOf } from "../pins/entitylabels.ts";
import { sourcesOf } from "../pins/attribution.ts";
import { element } from "../browser/dom.ts";
import type { Fix } from "../car/position.ts";
import { backoff } from "../net/reconnect.ts";
import { serverTime } from "../net/serverclock.ts";
import type { Entity } from "../net/wire.ts";
import { keyedList, makeButton, makeIcon, setAttribute, setLabel, setText, setTextOrHide, type KeyedItem } from "../browser/widgets.ts";
import { isDue, isOver, startsIn, stopped, type AutoStart } from "./autostart.ts";
import { makeChargersView, type ChargersView } from "./chargersview.ts";
import { routeOptionsOf } from "./drive.ts";
import type { ChoiceDeps, NavDeps } from "./deps.ts";
import { makeStopsView, type StopsView } from "./stopsview.ts";
import { leftText } from "./triptexts.ts";
import { troubleOf } from "./trouble.ts";
import type { Avoided } from "./types.ts";
import { mountAlternativeLayers } from "./alternativelayers.ts";
import { avoidedOf, endOf, factsOf, type RouteFacts } from "./routefacts.ts";

const longest = 80; // characters of a name

/** Choice offers ways. */
export interface Choice {
  /** offer finds ways over nav.stops and lets the driver choose. */
  offer(): void;
  /** showStops and showChargers open the stops and the chargers, during a led drive as well. */
  showStops(): void;
  showChargers(): void;
}

const tickInterval = 250; // ms

/** Part is a part of the panel. */
interface Part {
  element: HTMLElement;
  update(): void;
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

  /** find searches, in place of an earlier search. */
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

/** Way is a route that is offered, with its facts. */
interface Way {
  number: number;
  facts: RouteFacts;
}

/** mountChoice adds the panel beside the map. */
export function mountChoice(deps: ChoiceDeps): Choice {
  const panel = new ChoicePanel(deps);
  const { nav, host } = deps;
  watchAll([nav.phase, nav.routes, nav.chosen, nav.trouble, nav.isSearching, nav.destination, nav.stops, nav.avoid, host.locale, host.preferences.person], () => {
    panel.draw();
  });
  nav.phase.watch((phase) => {
    if (phase !== "choosing") panel.leave();
  });
  mountAlternativeLayers(deps, panel.element, (way) => {
    panel.choose(way);
  });
  return panel;
}

class ChoicePanel implements Choice {
  readonly element: HTMLElement;
  readonly #deps: ChoiceDeps;
  readonly #finder: Finder;
  readonly #title = element("h2", { id: "nav-choice-title" });
  readonly #detail = element("small", {});
  readonly #close: HTMLButtonElement;
  readonly #ways = element("ul", { class: "ways" });
  readonly #showWays: (ways: readonly Way[]) => void;
  readonly #trouble = element("p", { class: "trouble", role: "status", hidden: "" });
  readonly #avoids = element("ul", { class: "avoids" });
  readonly #toggles: Part;
  readonly #sending: Part;
  readonly #links: readonly HTMLButtonElement[];
  readonly #main: HTMLElement;
  readonly #stops: StopsView;
  readonly #chargers: ChargersView;
  readonly #start: HTMLButtonElement;
  readonly #foot: HTMLElement;
  #autoStart: AutoStart = stopped;
  #view: View = "ways";

  constructor(deps: ChoiceDeps) {
    this.#deps = deps;
    const { host, nav, actions } = deps;
    this.#finder = new Finder(deps, () => {
      if (this.#view === "ways") this.#autoStart = { since: performance.now() };
      this.#count();
    });
    this.#close = makeButton({ class: "signed", id: "nav-choice-close" }, () => {
      if (this.#view === "ways") actions.end();
      else this.#show("ways");
    }, makeIcon("close"));
    this.#showWays = keyedList<Way>(this.#ways, ({ number }) => String(number), ({ number }) => makeWay(deps, () => {
      this.choose(number);
    }));
    this.#toggles = makeToggles(deps, () => {
      actions.choose(nav.stops.get());
    });
    this.#links = (["stops", "chargers"] as const).map((name) => makeButton({ id: `nav-show-${name}` }, () => {
      this.#show(name);
    }));
    this.#start = makeButton({ class: "strong start", id: "nav-start" }, () => {
      this.#begin();
    });
    this.#sending = makeSendButton(deps, () => {
      this.#autoStart = stopped;
      this.#count();
    });
    this.#main = element("div", { class: "scroll" }, this.#trouble, this.#ways, this.#avoids, this.#toggles.element, element("div", { class: "pair" }, ...this.#links), this.#sending.element);
    this.#stops = makeStopsView(deps, () => {
      this.#show("chargers");
    });
    this.#chargers = makeChargersView(deps, () => {
      this.#show("ways"); // which closes the panel
    });
    this.#foot = element("footer", {}, this.#start);
    const head = element("header", {}, element("div", { class: "what" }, this.#title, this.#detail), this.#close);
    this.element = element("section", { class: "panel choosing", hidden: "", "aria-labelledby": this.#title.id }, head, this.#main, this.#stops.element, this.#chargers.element, this.#foot);
    host.slots.side.prepend(this.element);
    setInterval(() => {
      this.#tick();
    }, tickInterval);
    nav.routes.watch((routes) => {
      void showAvoided(deps, this.#avoids, routes.map(factsOf));
    });
  }

  offer(): void {
    this.#autoStart = stopped;
    if (this.element.hidden || this.#view === "chargers") this.#show("ways"); // the view of the stops stays while they are ordered
    this.#finder.find();
  }

  showStops(): void {
    this.#show("stops");
  }

  showChargers(): void {
    this.#show("chargers");
  }

  /** choose takes another way, and gives the driver time to look at it. */
  choose(way: number): void {
    this.#deps.nav.chosen.set(way);
    this.#autoStart = { since: performance.now() };
    this.#count();
  }

  /** leave stops searches and timers when the choice is closed. */
  leave(): void {
    this.#finder.stop();
    this.#show("ways");
  }

  #begin(): void {
    const { nav, keeper, actions } = this.#deps;
    const destination = nav.destination.get();
    if (nav.routes.get().length === 0) return;
    this.#autoStart = stopped;
    if (destination !== null) keeper.visited(destination);
    actions.start(nav.chosen.get());
  }

  #tick(): void {
    if (this.#deps.nav.phase.get() !== "choosing" || this.#autoStart === stopped) return;
    const now = performance.now();
    if (isDue(this.#autoStart, now)) {
      this.#begin();
      return;
    }
    if (isOver(this.#autoStart, now)) this.#autoStart = stopped;
    this.#count();
  }

  #count(): void {
    const { host, nav } = this.#deps;
    const { say, format } = host.locale.get();
    const seconds = startsIn(this.#autoStart, performance.now());
    setText(this.#start, seconds === null ? say("nav.start") : say("nav.startIn", { seconds: format.number(seconds) }));
    setAttribute(this.#start, "aria-disabled", String(nav.routes.get().length === 0));
  }

  #show(view: View): void {
    const { nav } = this.#deps;
    this.#view = view;
    const waits = view === "ways" && nav.routes.get().length > 0 && nav.phase.get() === "choosing";
    this.#autoStart = waits ? { since: performance.now() } : stopped;
    if (view === "stops") this.#stops.open();
    if (view === "chargers") this.#chargers.open();
    else this.#chargers.close();
    this.draw();
  }

  draw(): void {
    const { host, nav } = this.#deps;
    const phase = nav.phase.get();
    const { say } = host.locale.get();
    const isChoosing = phase === "choosing" && nav.destination.get() !== null && nav.stops.get().length > 0;
    const view = this.#view;
    this.element.hidden = !(isChoosing || (phase === "led" && view !== "ways"));
    setAttribute(host.slots.all, "data-nav-view", this.element.hidden ? "" : view);
    if (this.element.hidden) return;
    const destination = nav.destination.get();
    const name = cleanText(destination?.name, longest);
    setText(this.#title, view === "stops" ? say("nav.stops") : view === "chargers" ? say("nav.chargers") : name === "" ? say("nav.pinned") : name);
    setTextOrHide(this.#detail, view === "ways" ? cleanText(destination?.detail, longest) : "");
    setLabel(this.#close, say(view === "ways" ? "do.close" : "do.back"));
    this.#main.hidden = view !== "ways";
    this.#stops.element.hidden = view !== "stops";
    this.#chargers.element.hidden = view !== "chargers";
    this.#foot.hidden = phase !== "choosing";
    const routes = nav.routes.get();
    this.#showWays(routes.map((route, number) => ({ number, facts: factsOf(route) })));
    setTextOrHide(this.#trouble, statusText(this.#deps));
    (["nav.stops", "nav.chargers"] as const).forEach((key, i) => {
      const link = this.#links[i];
      if (link !== undefined) setText(link, say(key));
    });
    this.#toggles.update();
    this.#sending.update();
    this.#count();
  }
}

/** statusText returns why there is no route, or a warning about the end of the chosen one. */
function statusText({ host, nav }: NavDeps): string {
  const { say, format } = host.locale.get();
  const [trouble, destination, route] = [nav.trouble.get(), nav.destination.get(), nav.routes.get()[nav.chosen.get()]];
  if (trouble !== null) return say(`nav.trouble.${trouble}`);
  if (route === undefined) return nav.isSearching.get() ? say("nav.searching") : "";
  if (destination === null) return "";
  const { away, isOnMotorway } = endOf(route, destination.place);
  if (isOnMotorway) return say("nav.end.motorway");
  return away > 0 ? say("nav.end.before", { distance: format.distance(away).text }) : "";
}

/** makeWay makes a button for a route. */
function makeWay({ host, nav }: NavDeps, choose: () => void): KeyedItem<Way> {
  const [time, length, via, notes] = [element("strong", { class: "takes" }), element("span", { class: "length" }), element("span", { class: "via" }), element("span", { class: "notes" })];
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

/** makeToggles makes the switches of road classes that the driver avoids. */
function makeToggles({ host, nav }: NavDeps, changed: () => void): Part {
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

/** showAvoided lists the entities that the routes avoid, with age and source. */
async function showAvoided({ host, nav }: NavDeps, list: HTMLElement, ways: readonly RouteFacts[]): Promise<void> {
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
function makeSendButton({ host, nav, keeper }: ChoiceDeps, pressed: () => void): Part {
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
