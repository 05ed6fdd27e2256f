// The search for a destination: one field, kept places, categories, and results.

import { watchAll } from "../browser/observable.ts";
import { attributionNodes } from "../map/attributionline.ts";
import { networkName, textOf, cleanText, entityLabel, iconOf } from "../pins/entitylabels.ts";
import { element } from "../browser/dom.ts";
import { bearing, distance, type Place } from "../geo/geo.ts";
import { placeOf } from "../pins/shapes.ts";
import { keyedList, makeButton, makeIcon, replaceChildren, setAttribute, setLabel, setText, setTextOrHide, type KeyedItem } from "../browser/widgets.ts";
import { chargerTexts } from "./chargerfinder.ts";
import type { Slot } from "./keptplaces.ts";
import { listen, localRecognition, type Recognition } from "./speechrecognition.ts";
import { makeNavIcon, type NavIcon } from "./navicons.ts";
import type { NavDeps } from "./deps.ts";
import type { PlaceKeeper } from "./placekeeper.ts";
import { idle, PlaceSearch, type SearchState } from "./placesearch.ts";
import { categories, mayType, octantOf, type Category } from "./results.ts";
import { insertStop, maxStops } from "./stops.ts";
import type { Destination } from "../state/state.ts";
import type { Found } from "./types.ts";

const longest = 80; // characters of a name
const chargerRadius = 20_000; // metres
const maxChargers = 12;
const maxWhileDriving = 4; // results and places: choices are few while the car moves

const compassKeys = ["compass.0", "compass.1", "compass.2", "compass.3", "compass.4", "compass.5", "compass.6", "compass.7"] as const;

/** Purpose is the use of the place that the driver chooses. */
type Purpose = "drive" | "stop" | Slot;

/** WhereTo is the panel of the search for a destination. */
export interface WhereTo {
  /** open asks where to. */
  open: () => void;
  /** addStop asks for a place on the way. */
  addStop: () => void;
}

/** WhereToDeps are the dependencies of the panel. */
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
  const panel = new WhereToPanel(deps);
  const { host, nav, keeper } = deps;
  watchAll([keeper.places, keeper.inAccount, host.locale], () => {
    panel.draw();
  });
  host.state.motion.watch((motion) => {
    panel.move(motion?.speed ?? null);
  });
  return {
    open: () => {
      panel.open(nav.phase.get() === "led" ? "stop" : "drive");
    },
    addStop: () => {
      if (nav.stops.get().length < maxStops) panel.open("stop");
    },
  };
}

class WhereToPanel {
  readonly #deps: WhereToDeps;
  readonly #search: PlaceSearch;
  readonly #box: HTMLElement;
  readonly #title = element("h2", { id: "where-to-title" });
  readonly #close: HTMLButtonElement;
  readonly #field = element("input", { id: "where-to-field", type: "text", enterkeyhint: "search", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: "200" });
  readonly #account: HTMLButtonElement;
  readonly #accountFailed = element("p", { class: "trouble", role: "status", hidden: "" });
  readonly #speak: HTMLButtonElement;
  #makeRecognition: (() => Recognition) | null = null;
  #stopListening: (() => void) | null = null;
  readonly #putAway = element("p", { class: "put-away", role: "status", hidden: "" });
  readonly #kinds = element("div", { class: "categories", role: "group" });
  readonly #categories: readonly { name: Category; button: HTMLButtonElement; text: HTMLElement }[];
  readonly #status = element("p", { class: "trouble", role: "status", hidden: "" });
  readonly #showLines: (lines: readonly Line[]) => void;
  readonly #slots = element("div", { class: "pair", id: "where-to-slots" });
  readonly #slotButtons: readonly { slot: Slot; button: HTMLButtonElement }[];
  readonly #credit = element("p", { class: "attribution", hidden: "" });
  readonly #images = new Map<string, string>();
  #purpose: Purpose = "drive";
  #category: Category | null = null;
  #state: SearchState = idle;
  #mayType = true;

  constructor(deps: WhereToDeps) {
    this.#deps = deps;
    const { host, api } = deps;
    const list = element("ul", { class: "found" });
    this.#close = makeButton({ class: "signed", id: "where-to-close" }, () => {
      this.#shut();
    }, makeIcon("close"));
    this.#search = new PlaceSearch(api, () => host.state.pose(), () => host.locale.get().language, (place, signal) => chargersNear(deps, this.#images, place, signal), (state) => {
      this.#state = state;
      this.draw();
    });
    this.#categories = categories.map((name) => {
      const text = element("span", {});
      const button = makeButton({ class: "category", id: `where-to-${name}` }, () => {
        this.#findCategory(name);
      }, makeNavIcon(name), text);
      return { name, button, text };
    });
    this.#slotButtons = (["home", "work"] as const).map((slot) => ({
      slot,
      button: makeButton({ id: `where-to-set-${slot}` }, () => {
        this.open(slot);
      }),
    }));
    this.#account = makeButton({ class: "account-places", id: "where-to-account" }, () => {
      void deps.keeper.keepInAccount(deps.keeper.inAccount.get() !== true).then((done) => {
        setTextOrHide(this.#accountFailed, done ? "" : host.locale.get().say("nav.account.failed"));
      });
    });
    this.#speak = makeButton({ class: "signed", id: "where-to-speak", hidden: "" }, () => {
      this.#listenTo();
    }, makeNavIcon("microphone"));
    this.#showLines = keyedList<Line>(list, ({ id }) => id, (line) => makeLine(deps, line, (destination) => {
      this.#choose(destination);
    }));
    this.#kinds.append(...this.#categories.map(({ button }) => button));
    this.#slots.append(...this.#slotButtons.map(({ button }) => button));
    const scroll = element("div", { class: "scroll" }, this.#title, this.#kinds, this.#status, list, this.#slots, this.#account, this.#accountFailed, this.#credit);
    this.#box = element("section", { class: "panel where", hidden: "", role: "dialog", "aria-labelledby": this.#title.id }, element("header", {}, this.#field, this.#putAway, this.#speak, this.#close), scroll);
    host.slots.all.append(this.#box);
    this.#listen();
  }

  #listen(): void {
    this.#field.addEventListener("input", () => {
      this.#type();
    });
    this.#field.addEventListener("keydown", (event) => {
      const [first] = this.#state.found;
      if (event.key === "Enter" && this.#state.how === "found" && first !== undefined) this.#choose(first);
    });
    this.#box.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.#shut();
    });
  }

  #type(): void {
    const { value } = this.#field;
    // Typed text keeps the direction of its script; the empty field has the page's.
    if (value === "") this.#field.removeAttribute("dir");
    else this.#field.dir = "auto";
    this.#category = null;
    this.#search.type(value);
  }

  /** #listenTo searches for spoken text, or stops listening. */
  #listenTo(): void {
    if (this.#stopListening !== null) {
      this.#stopListening();
      return;
    }
    if (this.#makeRecognition === null) return;
    this.#stopListening = listen(this.#makeRecognition, (text) => {
      this.#field.value = text;
      this.#type();
    }, () => {
      this.#stopListening = null;
      this.draw();
    });
    this.draw();
  }

  /** #findRecognition offers the microphone where the browser recognises the page's language on the device. */
  async #findRecognition(): Promise<void> {
    const browser = window as { SpeechRecognition?: unknown; webkitSpeechRecognition?: unknown };
    this.#makeRecognition = await localRecognition(this.#deps.host.locale.get().language, browser.SpeechRecognition ?? browser.webkitSpeechRecognition);
    this.draw();
  }

  open(purpose: Purpose): void {
    const { host } = this.#deps;
    this.#purpose = purpose;
    this.#category = null;
    this.#state = idle;
    this.#field.value = "";
    this.#field.removeAttribute("dir");
    this.#accountFailed.hidden = true;
    this.#box.hidden = false;
    void this.#findRecognition();
    this.#mayType = mayType(host.state.pose()?.speed ?? null, true);
    this.draw();
    (this.#mayType ? this.#field : this.#close).focus({ preventScroll: true });
  }

  /** move puts typing away in a car that drives, and brings it back. */
  move(speed: number | null): void {
    const now = mayType(speed, this.#mayType);
    if (now === this.#mayType || this.#box.hidden) return;
    this.#mayType = now;
    if (!now) this.#field.blur();
    this.draw();
  }

  #hide(): void {
    this.#search.stop();
    this.#stopListening?.();
    this.#box.hidden = true;
  }

  #shut(): void {
    const { nav, actions } = this.#deps;
    if (this.#purpose === "home" || this.#purpose === "work") {
      this.open("drive");
      return;
    }
    this.#hide();
    if (nav.phase.get() === "choosing" && (this.#purpose === "drive" || nav.stops.get().length === 0)) actions.end();
  }

  #findCategory(name: Category): void {
    this.#field.value = "";
    this.#category = this.#category === name ? null : name;
    if (this.#category === null) this.#search.type("");
    else this.#search.findCategory(this.#category);
  }

  #choose({ place, name, detail }: Destination): void {
    const { host, nav, actions, keeper } = this.#deps;
    const chosen = { place, name, detail };
    if (this.#purpose === "home" || this.#purpose === "work") {
      keeper.set(this.#purpose, chosen);
      this.open("drive");
      return;
    }
    this.#hide();
    if (this.#purpose === "drive") {
      actions.choose([chosen]);
      return;
    }
    keeper.visited(chosen);
    const stops = insertStop(nav.stops.get(), chosen, host.state.pose());
    if (nav.phase.get() === "led") actions.changeStops(stops);
    else actions.choose(stops);
  }

  #lines(): Line[] {
    const { found, how } = this.#state;
    if (how !== "idle") return found.map((one) => ({ id: one.id, icon: this.#category ?? "pin", image: this.#images.get(one.id) ?? "", destination: one, slot: null, isRecent: false }));
    const { home, work, recent } = this.#deps.keeper.places.get();
    const own = ([["home", home], ["work", work]] as const).flatMap(([slot, one]): Line[] => (one === null ? [] : [{ id: slot, icon: slot, image: "", destination: one, slot, isRecent: false }]));
    return [...own, ...recent.map((one): Line => ({ id: `${one.name}@${String(one.place.lat)},${String(one.place.lng)}`, icon: "recent", image: "", destination: one, slot: null, isRecent: true }))];
  }

  draw(): void {
    if (this.#box.hidden) return;
    const { host, keeper } = this.#deps;
    const { say } = host.locale.get();
    const purpose = this.#purpose;
    setText(this.#title, purpose === "drive" ? say("nav.whereTo") : purpose === "stop" ? say("nav.addStop") : say(`nav.set.${purpose}`));
    setAttribute(this.#field, "placeholder", say("nav.search"));
    setLabel(this.#field, say("nav.search"));
    setLabel(this.#close, say("do.close"));
    setLabel(this.#kinds, say("nav.categories"));
    this.#field.hidden = !this.#mayType;
    setTextOrHide(this.#putAway, this.#mayType ? "" : say("nav.driving"));
    for (const { name, button, text } of this.#categories) {
      setText(text, say(`nav.category.${name}`));
      setAttribute(button, "aria-pressed", String(this.#category === name));
    }
    const places = keeper.places.get();
    const isIdle = this.#state.how === "idle" && this.#mayType && (purpose === "drive" || purpose === "stop");
    for (const { slot, button } of this.#slotButtons) {
      setText(button, say(`nav.set.${slot}`));
      button.hidden = places[slot] !== null;
    }
    this.#slots.hidden = !isIdle || (places.home !== null && places.work !== null);
    const { inAccount } = keeper;
    this.#account.hidden = !isIdle || inAccount.get() === null || (inAccount.get() === true && !keeper.mayLeaveAccount());
    setText(this.#account, say("nav.account"));
    setAttribute(this.#account, "aria-pressed", String(inAccount.get() === true));
    this.#speak.hidden = this.#makeRecognition === null;
    setLabel(this.#speak, say(this.#stopListening === null ? "nav.speak" : "nav.listening"));
    setAttribute(this.#speak, "aria-pressed", String(this.#stopListening !== null));
    this.#drawLines();
  }

  #drawLines(): void {
    const { say } = this.#deps.host.locale.get();
    const { how, attribution } = this.#state;
    const lines = this.#lines();
    this.#showLines(this.#mayType ? lines : lines.slice(0, maxWhileDriving));
    const isEmpty = lines.length === 0;
    setTextOrHide(this.#status, how === "failed" ? say("nav.search.failed") : how === "missing" ? say("nav.search.missing") : isEmpty && how === "found" ? say("nav.search.none") : isEmpty && how === "searching" ? say("state.loading") : "");
    this.#credit.hidden = attribution === "" || isEmpty;
    replaceChildren(this.#credit, attributionNodes(attribution));
  }
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

/** makeLine makes a button for a place, with a second button that forgets a kept place. */
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
