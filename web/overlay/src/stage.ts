// The map with everything that is on it: opened once, and kept as the state wants it.

import type { Map as MapLibre } from "maplibre-gl";
import { Camera } from "./camera.ts";
import { makeCar } from "./car.ts";
import type { Cell } from "./cell.ts";
import type { Place } from "./geo.ts";
import { Icons } from "./icons.ts";
import { openMap, Presence, setTheme, type Library } from "./map.ts";
import { Pins } from "./pins.ts";
import type { Look } from "./pixels.ts";
import { keepResolution } from "./resolution.ts";
import { creditsOf, type Shown } from "./sights.ts";
import { placeOf } from "./shapes.ts";
import type { Actions, State } from "./state.ts";

const creditsEvery = 1000; // ms

/** Stage is what panels may do with the map. */
export interface Stage {
  show(place: Place): void;
  zoomBy(levels: number): void;
}

export interface StageOptions {
  library: Library;
  container: HTMLElement;
  state: State;
  actions: Actions;
  /** What is shown, and how old it looks. */
  shown: Cell<readonly Shown[]>;
  /** Whether pins have lost their colour. */
  isGrey: () => boolean;
}

/** openStage returns when the pins can be drawn. */
export async function openStage({ library, container, state, actions, shown, isGrey }: StageOptions): Promise<Stage> {
  const config = state.config.get();
  if (config === null) throw new Error("the map is opened before its configuration is known");
  let drawn = state.theme.get();
  const map = await openMap({ library, container, config, theme: drawn, center: state.fix.get() });
  const presence = new Presence(map, state);
  const car = makeCar();
  map.getCanvasContainer().append(car.element);
  new Camera(map, state, car);
  keepResolution(map, presence);
  const look = (): Look => (isGrey() ? "lost" : state.theme.get());
  const icons = new Icons(map, presence, state.kinds.get(), Math.min(Math.max(window.devicePixelRatio, 1), 2));
  const pins = new Pins(map, presence, icons, look());
  shown.watch((all) => {
    pins.setLook(look());
    pins.show(all);
  });
  state.selected.watch((id) => {
    pins.choose(id);
  });
  const light = (): void => {
    pins.setLook(look());
    if (!presence.isHere() || drawn === state.theme.get()) return;
    drawn = state.theme.get();
    setTheme(map, config, drawn);
  };
  state.theme.watch(light);
  map.on("style.load", light);
  takeTouches(map, pins, state, actions);
  keepCredits(map, state);
  return {
    show(place) {
      state.following.set(false);
      map.jumpTo({ center: place });
    },
    zoomBy(levels) {
      state.following.set(false);
      map.jumpTo({ zoom: map.getZoom() + levels });
    },
  };
}

/** takeTouches opens cards and clusters, and lets a driver say where they are. */
function takeTouches(map: MapLibre, pins: Pins, state: State, actions: Actions): void {
  map.on("click", ({ point, lngLat }) => {
    const finding = state.finding.get();
    if (state.fix.get() === null && (finding === "refused" || finding === "missing")) {
      actions.namePlace({ lat: lngLat.lat, lng: lngLat.lng });
      return;
    }
    const touched = pins.find(point);
    if (touched !== null && "cluster" in touched) {
      state.following.set(false);
      map.jumpTo({ center: touched.cluster, zoom: touched.apart });
      return;
    }
    actions.select(touched?.entity.id ?? null);
  });
}

/** keepCredits keeps state.attributions. */
function keepCredits(map: MapLibre, state: State): void {
  const look = (): void => {
    const bounds = map.getBounds();
    const inView = state.entities.get().filter((entity) => bounds.contains(placeOf(entity)));
    const credits = creditsOf(inView, state.sources.get(), state.config.get()?.base_map?.attribution ?? null);
    const before = state.attributions.get();
    if (credits.length !== before.length || credits.some((text, i) => text !== before[i])) state.attributions.set(credits);
  };
  state.entities.watch(look);
  state.sources.watch(look);
  setInterval(look, creditsEvery);
}
