// The map of one feed: its pins, a card for the selected one, and buttons for use without a mouse.

import type { Map as MapLibre } from "maplibre-gl";
import { BaseLayers, StyleReader } from "../../overlay/src/map/baselayers.ts";
import { plainStyle, type MapLook } from "../../overlay/src/map/basemap.ts";
import { Observable } from "../../overlay/src/browser/observable.ts";
import { minUnclusteredZoom } from "../../overlay/src/pins/clusters.ts";
import { element } from "../../overlay/src/browser/dom.ts";
import { Icons } from "../../overlay/src/map/icons.ts";
import { openMap, ContextState, type Library } from "../../overlay/src/map/map.ts";
import { Pins, withPins } from "../../overlay/src/map/pinlayers.ts";
import { placeOf } from "../../overlay/src/pins/shapes.ts";
import type { Theme } from "../../overlay/src/geo/sun.ts";
import type { Kind, OverlayConfig } from "../../overlay/src/net/wire.ts";
import { makeCard } from "./card.ts";
import { boxOf, type Item } from "./features.ts";
import type { Words } from "./words.ts";

const fresh = { freshness: "fresh", opacity: 1, grey: false } as const;
const padding = { top: 80, right: 48, bottom: 32, left: 48 }; // pixels; a pin extends upwards from its place
const nearest = 15; // maximum zoom for few pins

/** FeedMapOptions are the dependencies of openFeedMap. */
export interface FeedMapOptions {
  library: Library;
  /** The map's container; buttons and card are inserted after it. */
  place: HTMLElement;
  config: OverlayConfig;
  kinds: readonly Kind[];
  items: readonly Item[];
  words: Words;
}

/** Update shows other items, and keeps the view. */
export type Update = (items: readonly Item[]) => void;

/** openFeedMap returns when the pins are being drawn. It fails if the browser allows no WebGL. */
export async function openFeedMap({ library, place, config, kinds, items: first, words }: FeedMapOptions): Promise<Update> {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const theme = (): Theme => (dark.matches ? "night" : "day");
  const look = (): MapLook => ({ theme: theme(), language: document.documentElement.lang });
  const map = await openMap({ library, container: place, style: withPins(plainStyle(theme()), theme()), center: null });
  map.cooperativeGestures.enable(); // one finger, or a wheel without Ctrl, scrolls the page
  map.getCanvas().setAttribute("aria-label", words("map.label"));
  const contextState = new ContextState(map, { drawable: new Observable<boolean>(true) });
  const icons = new Icons(map, contextState, kinds, Math.min(Math.max(window.devicePixelRatio, 1), 2));
  const pins = new Pins(map, contextState, icons, theme());
  pins.addShapes();
  let items = first;
  const base = new BaseLayers({ map, contextState, styles: new StyleReader(config), look, isPlaced: () => items.length > 0 });
  void base.advance("names");
  const draw = (): void => {
    pins.show(items.map(({ entity }) => ({ entity, appearance: fresh, age: Date.now() - Date.parse(entity.first_seen_at) })));
  };
  draw();
  const whole = (): void => {
    const box = boxOf(items);
    if (box !== null) map.fitBounds(box, { padding, maxZoom: nearest, animate: false });
  };
  whole();
  dark.addEventListener("change", () => {
    pins.setLook(theme());
    void base.update();
  });
  const choose = walk(map, pins, place, () => items, words, whole);
  map.on("click", ({ point }) => {
    const touched = pins.find(point);
    if (touched !== null && "cluster" in touched) map.jumpTo({ center: touched.cluster, zoom: touched.zoom });
    else choose(touched === null ? -1 : Number(touched.entity.id));
  });
  return (next) => {
    choose(-1); // ids are those of the answer
    items = next;
    draw();
  };
}

/** walk adds the card and the buttons, and returns a function that selects the item with an index, or none with -1. */
function walk(map: MapLibre, pins: Pins, place: HTMLElement, itemsNow: () => readonly Item[], words: Words, whole: () => void): (id: number) => void {
  let at = -1; // index of the item
  const card = makeCard(words, () => {
    choose(-1);
    next.focus();
  });
  const choose = (id: number): void => {
    const items = itemsNow();
    at = items.findIndex(({ entity }) => Number(entity.id) === id);
    pins.choose(at < 0 ? null : String(id));
    card.show(items[at] ?? null, words("map.nth", at + 1, items.length));
  };
  const step = (by: number): void => {
    const items = itemsNow();
    const to = at < 0 ? (by > 0 ? 0 : items.length - 1) : (at + by + items.length) % items.length;
    const item = items[to];
    if (item === undefined) return;
    choose(Number(item.entity.id));
    map.jumpTo({ center: placeOf(item.entity), zoom: Math.max(map.getZoom(), minUnclusteredZoom) });
  };
  const button = (key: string, press: () => void): HTMLButtonElement => {
    const made = element("button", { type: "button", class: "second" }, words(key));
    made.addEventListener("click", press);
    return made;
  };
  const zoom = (by: number) => (): void => {
    map.jumpTo({ zoom: map.getZoom() + by });
  };
  const next = button("map.next", () => {
    step(1);
  });
  const bar = element(
    "div",
    { class: "map-bar", role: "group", "aria-label": words("map.label") },
    button("map.previous", () => {
      step(-1);
    }),
    next,
    button("map.nearer", zoom(1)),
    button("map.farther", zoom(-1)),
    button("map.whole", () => {
      choose(-1);
      whole();
    }),
  );
  for (const part of [place, bar, card.element]) {
    part.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") choose(-1);
    });
  }
  place.after(bar, card.element);
  return choose;
}
