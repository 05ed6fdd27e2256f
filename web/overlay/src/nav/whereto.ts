// Where to: one field, places that the driver keeps, categories, and what the search finds.

import { attributionNodes } from "../attributionline.ts";
import { networkName, textOf, cleanText, entityLabel, iconOf } from "../entitylabels.ts";
import { element } from "../dom.ts";
import { bearing, distance, type Place } from "../geo.ts";
import { placeOf } from "../shapes.ts";
import { keyedList, makeButton, makeIcon, makeSwitch, replaceChildren, setAttribute, setLabel, setText, setTextOrHide, type Item, type KeyedItem } from "../widgets.ts";
import { chargerTexts } from "./chargerfinder.ts";
import type { Slot } from "./keptplaces.ts";
import { makeNavIcon, type NavIcon } from "./navicons.ts";
import type { NavDeps } from "./navigation.ts";
import type { PlaceKeeper } from "./placekeeper.ts";
import { idle, PlaceSearch, type SearchState } from "./placesearch.ts";
import { categories, mayType, octantOf, type Category } from "./results.ts";
import { insertStop, maxStops } from "./stops.ts";
import type { Destination, Found } from "./types.ts";
import { watchAll } from "./watchall.ts";

const longest = 80; // characters of a name
const chargerRadius = 20_000; // metres
const maxChargers = 12;
const maxWhileDriving = 4; // results and places: choices are few while the car moves

const compassKeys = ["compass.0", "compass.1", "compass.2", "compass.3", "compass.4", "compass.5", "compass.6", "compass.7"] as const;

/** Purpose is what becomes of the place that the driver chooses. */
type Purpose = "drive" | "stop" | Slot;

export interface WhereTo {
  /** open asks where to. */
  open: () => void;
  /** addStop asks for a place on the way. */
  addStop: () => void;
}

/** WhereToDeps are what the panel is mounted with. */
export interface WhereToDeps extends NavDeps {
  keeper: PlaceKeeper;
}

/** Line is a place that can be chosen. */
interface Line {
  id: string;
  icon: NavIcon;
  destination: Destination;
  /** Image of the kind of an entity; "" for others. */
  image: string;
  /** Home and work say so. */
  slot: Slot | null;
  isRecent: boolean;
}

/** mountWhereTo adds the panel, which covers the page's left side. */
export function mountWhereTo(deps: WhereToDeps): WhereTo {
  const { host, nav, api, actions, keeper } = deps;
  let purpose: Purpose = "drive";
  let category: Category | null = null;
  let state: SearchState = idle;
  let typing = true;
  const images = new Map<string, string>();
  const title = element("h2", { id: "where-to-title" });
  const close = makeButton({ class: "signed", id: "where-to-close" }, () => {
    shut();
  }, makeIcon("close"));
  const field = element("input", { id: "where-to-field", type: "search", enterkeyhint: "search", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: "200" });
  const put = element("p", { class: "put-away", role: "status", hidden: "" });
  const kinds = element("div", { class: "categories", role: "group" });
  const status = element("p", { class: "trouble", role: "status", hidden: "" });
  const list = element("ul", { class: "found" });
  const slots = element("div", { class: "pair", id: "where-to-slots" });
  const inAccount = makeAccountSwitch(deps);
  const credit = element("p", { class: "attribution", hidden: "" });
  const box = element("section", { class: "panel where", hidden: "", role: "dialog", "aria-labelledby": title.id }, element("header", {}, field, put, close), element("div", { class: "scroll" }, title, kinds, status, list, slots, inAccount.element, credit));
  host.slots.all.append(box);

  const from = (): Place | null => host.state.pose();
  const search = new PlaceSearch(api, from, () => host.locale.get().language, (place, signal) => chargersNear(deps, images, place, signal), (next) => {
    state = next;
    draw();
  });
  const shut = (): void => {
    if (purpose === "home" || purpose === "work") {
      open("drive");
      return;
    }
    hide();
    if (nav.phase.get() === "choosing" && nav.stops.get().length === 0) actions.end();
  };
  const hide = (): void => {
    search.stop();
    box.hidden = true;
    setAttribute(host.slots.all, "data-asking", "");
  };
  const open = (next: Purpose): void => {
    purpose = next;
    category = null;
    state = idle;
    field.value = "";
    box.hidden = false;
    setAttribute(host.slots.all, "data-asking", "yes");
    typing = mayType(host.state.pose()?.speed ?? null, true);
    draw();
    void keeper.refresh();
    if (typing) field.focus({ preventScroll: true });
    else close.focus({ preventScroll: true });
  };
  const choose = (destination: Destination): void => {
    const { place, name, detail } = destination;
    const chosen = { place, name, detail };
    if (purpose === "home" || purpose === "work") {
      keeper.set(purpose, chosen);
      open("drive");
      return;
    }
    hide();
    if (purpose === "drive") {
      actions.choose([chosen]);
      return;
    }
    const stops = insertStop(nav.stops.get(), chosen, from());
    keeper.visited(chosen);
    if (nav.phase.get() === "led") actions.changeStops(stops);
    else actions.choose(stops);
  };
  field.addEventListener("input", () => {
    category = null;
    search.type(field.value);
  });
  field.addEventListener("keydown", (event) => {
    const [first] = state.found;
    if (event.key === "Enter" && state.how === "found" && first !== undefined) choose(first);
  });
  box.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") shut();
  });
  const categoryButtons = categories.map((name) => {
    const text = element("span", {});
    const button = makeButton({ class: "category", id: `where-to-${name}` }, () => {
      field.value = "";
      category = category === name ? null : name;
      if (category === null) search.type("");
      else search.look(category);
    }, makeNavIcon(name), text);
    kinds.append(button);
    return { name, button, text };
  });
  const slotButtons = (["home", "work"] as const).map((slot) => {
    const button = makeButton({ id: `where-to-set-${slot}` }, () => {
      open(slot);
    });
    slots.append(button);
    return { slot, button };
  });
  const showLines = keyedList<Line>(list, ({ id }) => id, (line) => makeLine(deps, line, choose));
  const linesOf = (): Line[] => {
    if (state.how !== "idle") return state.found.map((found) => ({ id: found.id, icon: category ?? "pin", image: images.get(found.id) ?? "", destination: found, slot: null, isRecent: false }));
    const { home, work, recent } = keeper.places.get();
    const own = ([["home", home], ["work", work]] as const).flatMap(([slot, one]): Line[] => (one === null ? [] : [{ id: slot, icon: slot, image: "", destination: one, slot, isRecent: false }]));
    return [...own, ...recent.map((one): Line => ({ id: `${one.name}@${String(one.place.lat)},${String(one.place.lng)}`, icon: "recent", image: "", destination: one, slot: null, isRecent: true }))];
  };
  const draw = (): void => {
    if (box.hidden) return;
    const { say } = host.locale.get();
    setText(title, purpose === "drive" ? say("nav.whereTo") : purpose === "stop" ? say("nav.addStop") : say(`nav.set.${purpose}`));
    setAttribute(field, "placeholder", say("nav.search"));
    setLabel(field, say("nav.search"));
    setLabel(close, say("do.close"));
    setLabel(kinds, say("nav.categories"));
    field.hidden = !typing;
    setTextOrHide(put, typing ? "" : say("nav.driving"));
    for (const { name, button, text } of categoryButtons) {
      setText(text, say(`nav.category.${name}`));
      setAttribute(button, "aria-pressed", String(category === name));
    }
    const places = keeper.places.get();
    const isIdle = state.how === "idle" && typing;
    for (const { slot, button } of slotButtons) {
      setText(button, say(`nav.set.${slot}`));
      button.hidden = places[slot] !== null;
    }
    slots.hidden = !isIdle || (purpose !== "drive" && purpose !== "stop") || (places.home !== null && places.work !== null);
    inAccount.element.hidden = !isIdle || !keeper.isSignedIn || purpose !== "drive";
    inAccount.update();
    const lines = linesOf();
    showLines(typing ? lines : lines.slice(0, maxWhileDriving));
    setTextOrHide(status, state.how === "failed" ? say("nav.search.failed") : state.how === "found" && lines.length === 0 ? say("nav.search.none") : state.how === "searching" && lines.length === 0 ? say("state.loading") : "");
    credit.hidden = state.attribution === "" || lines.length === 0;
    replaceChildren(credit, attributionNodes(state.attribution));
  };
  watchAll([keeper.places, host.locale, host.preferences.person], draw);
  host.state.motion.watch((motion) => {
    const now = mayType(motion?.speed ?? null, typing);
    if (now === typing || box.hidden) return;
    typing = now;
    if (!now) field.blur();
    draw();
  });
  return {
    open() {
      open(nav.phase.get() === "led" ? "stop" : "drive");
    },
    addStop() {
      if (nav.stops.get().length < maxStops) open("stop");
    },
  };
}

/** chargersNear returns chargers as results of a search, and their images. */
async function chargersNear({ host, api }: NavDeps, images: Map<string, string>, place: Place, signal: AbortSignal): Promise<Found[]> {
  const { networks } = host.state.settings.get();
  const entities = await api.chargers(place, chargerRadius, maxChargers, networks, signal);
  const words = host.locale.get();
  images.clear();
  return entities.map((entity): Found => {
    const { name, facts } = chargerTexts(entity, words.format);
    const kind = entityLabel(entity, host.state.kinds.get(), words);
    const at = placeOf(entity);
    images.set(entity.id, iconOf(entity, host.state.kinds.get()));
    const network = textOf(entity, "network");
    return { id: entity.id, key: "amenity", value: "charging_station", place: at, name: name === "" ? (network === "" ? kind : networkName(network)) : name, detail: facts === "" ? kind : facts, metres: distance(place, at), bearing: bearing(place, at) };
  });
}

/** makeLine is a place as a button, with a button that forgets it where the driver keeps it. */
function makeLine({ host, keeper }: WhereToDeps, first: Line, choose: (destination: Destination) => void): KeyedItem<Line> {
  let line = first;
  const [name, detail] = [element("strong", {}), element("small", {})];
  const [away, direction] = [element("strong", {}), element("small", {})];
  const icon = first.image === "" ? makeNavIcon(first.icon) : element("img", { class: "icon", alt: "", src: first.image });
  const button = makeButton({ class: "result" }, () => {
    choose(line.destination);
  }, icon, element("span", { class: "what" }, name, detail), element("span", { class: "figures" }, away, direction));
  const forget = makeButton({ class: "signed forget" }, () => {
    if (line.slot === null) keeper.forget(line.destination);
    else keeper.set(line.slot, null);
  }, makeIcon("close"));
  return {
    element: element("li", {}, button, forget),
    update(next) {
      line = next;
      const { say, format } = host.locale.get();
      const own = cleanText(next.destination.name, longest) || say("nav.pinned");
      setText(name, next.slot === null ? own : say(`nav.${next.slot}`));
      setTextOrHide(detail, next.slot === null ? cleanText(next.destination.detail, longest) : own);
      const pose = host.state.pose();
      setText(away, pose === null ? "" : format.distance(distance(pose, next.destination.place)).text);
      setText(direction, pose === null ? "" : say(compassKeys[octantOf(bearing(pose, next.destination.place))]));
      forget.hidden = next.slot === null && !next.isRecent;
      setLabel(forget, say("nav.remove", { name: own }));
    },
  };
}

/** makeAccountSwitch keeps the places in the account, too. */
function makeAccountSwitch({ host, keeper }: WhereToDeps): Item {
  const box = element("div", { hidden: "" });
  let item: Item | null = null;
  let language = "";
  return {
    element: box,
    update() {
      const { say, language: now } = host.locale.get();
      if (item === null || now !== language) {
        language = now;
        item = makeSwitch("where-to-account", { name: say("nav.inAccount"), on: say("state.on"), off: say("state.off") }, () => keeper.places.get().inAccount, (wanted) => {
          keeper.keepInAccount(wanted).catch((error: unknown) => {
            console.warn(error);
          });
        });
        replaceChildren(box, [item.element]);
      }
      item.update();
    },
  };
}
