// The map of one feed: its pins, a card for the one that is chosen, and buttons for those who use no mouse.

import type { Map as MapLibre } from "maplibre-gl";
import { Cell } from "../../overlay/src/cell.ts";
import { apartFrom } from "../../overlay/src/clusters.ts";
import { element } from "../../overlay/src/dom.ts";
import { Icons } from "../../overlay/src/icons.ts";
import { openMap, Presence, setTheme, type Library } from "../../overlay/src/map.ts";
import { Pins } from "../../overlay/src/pins.ts";
import { placeOf } from "../../overlay/src/shapes.ts";
import type { Theme } from "../../overlay/src/sun.ts";
import type { Kind, OverlayConfig } from "../../overlay/src/wire.ts";
import { makeCard } from "./card.ts";
import { boxOf, type Item } from "./features.ts";
import type { Words } from "./words.ts";

const fresh = { freshness: "fresh", opacity: 1, grey: false } as const;
const padding = { top: 80, right: 48, bottom: 32, left: 48 }; // pixels around the places: a pin stands on its own
const nearest = 15; // zoom to which few pins are shown

export interface FeedMapOptions {
  library: Library;
  /** Where the map is to be; buttons and card come behind it. */
  place: HTMLElement;
  config: OverlayConfig;
  kinds: readonly Kind[];
  items: readonly Item[];
  words: Words;
}

/** openFeedMap returns when the pins are being drawn. It fails where the browser does not let it draw. */
export async function openFeedMap({ library, place, config, kinds, items, words }: FeedMapOptions): Promise<void> {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const theme = (): Theme => (dark.matches ? "night" : "day");
  const map = await openMap({ library, container: place, config, theme: theme(), center: null });
  map.cooperativeGestures.enable(); // one finger, or a wheel without Ctrl, moves the page
  map.getCanvas().setAttribute("aria-label", words("map.label"));
  const presence = new Presence(map, { drawable: new Cell<boolean>(true) });
  const icons = new Icons(map, presence, kinds, Math.min(Math.max(window.devicePixelRatio, 1), 2));
  const pins = new Pins(map, presence, icons, theme());
  pins.show(items.map(({ entity }) => ({ entity, appearance: fresh })));
  const whole = (): void => {
    const box = boxOf(items);
    if (box !== null) map.fitBounds(box, { padding, maxZoom: nearest, animate: false });
  };
  whole();
  dark.addEventListener("change", () => {
    pins.setLook(theme());
    if (presence.isHere()) setTheme(map, config, theme());
  });
  const choose = walk(map, pins, place, items, words, whole);
  map.on("click", ({ point }) => {
    const touched = pins.find(point);
    if (touched !== null && "cluster" in touched) map.jumpTo({ center: touched.cluster, zoom: touched.apart });
    else choose(touched === null ? -1 : Number(touched.entity.id));
  });
}

/** walk adds card and buttons; what it returns chooses the item at an index, or with -1 none. */
function walk(map: MapLibre, pins: Pins, place: HTMLElement, items: readonly Item[], words: Words, whole: () => void): (id: number) => void {
  const order = items.map(({ entity }) => Number(entity.id));
  let at = -1; // in the order
  const card = makeCard(words, () => {
    choose(-1);
    next.focus();
  });
  const choose = (id: number): void => {
    at = order.indexOf(id);
    pins.choose(at < 0 ? null : String(id));
    card.show(items[at] ?? null, words("map.nth", at + 1, items.length));
  };
  const step = (by: number): void => {
    const to = at < 0 ? (by > 0 ? 0 : items.length - 1) : (at + by + items.length) % items.length;
    const item = items[to];
    if (item === undefined) return;
    choose(Number(item.entity.id));
    map.jumpTo({ center: placeOf(item.entity), zoom: Math.max(map.getZoom(), apartFrom) });
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
