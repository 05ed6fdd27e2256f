// The map with everything on it: opened once and updated from the state.

import type { Map as MapLibre } from "maplibre-gl";
import { Camera, pixelsPerMetre } from "./camera.ts";
import { makeCar } from "./car.ts";
import type { Observable } from "./observable.ts";
import { boundsOf } from "./extent.ts";
import { normalizeLongitude, type Place } from "./geo.ts";
import { makeHerePrompt } from "./hereprompt.ts";
import { Icons } from "./icons.ts";
import { isSameLook, worldAttribution, type MapLook } from "./basemap.ts";
import type { Locale } from "./locale.ts";
import { openMap, extentOptions, ContextState, setBaseMap, type Library } from "./map.ts";
import { Pins } from "./pins.ts";
import type { Look } from "./icontint.ts";
import { keepResolution } from "./resolution.ts";
import { attributionsOf } from "./attribution.ts";
import type { VisibleEntity } from "./visibility.ts";
import { placeOf } from "./shapes.ts";
import { canTap } from "./position.ts";
import { isLookingAround, type Actions, type State, type Viewport } from "./state.ts";

const attributionInterval = 1000; // ms
const zoomFromAbove = 12;

/** MapView is the interface of the map for panels. */
export interface MapView {
  show(place: Place): void;
  /** showFromAbove shows a place and what is around it. */
  showFromAbove(place: Place): void;
  zoomBy(levels: number): void;
  /** showExtent shows the extent of the public data; without one, the map stays where it is. */
  showExtent(): void;
  /** middle returns the place in the middle of the map. */
  middle(): Place;
}

export interface MapViewOptions {
  library: Library;
  container: HTMLElement;
  state: State;
  actions: Actions;
  locale: Observable<Locale>;
  /** The visible entities and their appearance. */
  shown: Observable<readonly VisibleEntity[]>;
  /** Whether pins are drawn without colour. */
  isGrey: () => boolean;
}

/** openMapView returns when the pins can be drawn. */
export async function openMapView({ library, container, state, actions, locale, shown, isGrey }: MapViewOptions): Promise<MapView> {
  const config = state.config.get();
  if (config === null) throw new Error("the map is opened before its configuration is known");
  const wanted = (): MapLook => ({ theme: state.theme.get(), language: state.settings.get().language, names: state.names.get() });
  let drawn = wanted();
  const map = await openMap({ library, container, config, look: drawn, center: state.fix.get(), bounds: boundsOf(config.extent) });
  const contextState = new ContextState(map, state);
  const car = makeCar();
  map.getCanvasContainer().append(car.element);
  new Camera(map, state, car);
  keepResolution(map, contextState);
  const look = (): Look => (isGrey() ? "lost" : state.theme.get());
  const icons = new Icons(map, contextState, state.kinds.get(), Math.min(Math.max(window.devicePixelRatio, 1), 2));
  const pins = new Pins(map, contextState, icons, look());
  shown.watch((all) => {
    pins.setLook(look());
    pins.show(all, state.view.get()?.clusters ?? []);
  });
  state.selected.watch((id) => {
    pins.choose(id);
  });
  state.settings.watch(({ units }) => {
    pins.setUnits(units);
  });
  const light = (): void => {
    pins.setLook(look());
    if (!contextState.isAvailable() || isSameLook(drawn, wanted())) return;
    drawn = wanted();
    setBaseMap(map, config, drawn);
  };
  for (const observable of [state.theme, state.settings, state.names]) (observable as Observable<unknown>).watch(light);
  map.on("style.load", light);
  state.words.watch(({ say }) => {
    map.getCanvas().setAttribute("aria-label", say("map.label"));
  });
  handleClicks(map, pins, state, actions, locale);
  keepAttributions(map, state);
  keepViewport(map, state);
  keepScale(map, state);
  return {
    show(place) {
      state.following.set(false);
      map.jumpTo({ center: place });
    },
    showFromAbove(place) {
      state.following.set(false);
      map.jumpTo({ center: place, zoom: Math.min(map.getZoom(), zoomFromAbove) });
    },
    zoomBy(levels) {
      state.following.set(false);
      map.jumpTo({ zoom: map.getZoom() + levels });
    },
    showExtent() {
      const bounds = boundsOf(state.config.get()?.extent);
      if (bounds !== null) map.fitBounds(bounds, { ...extentOptions, animate: false });
    },
    middle() {
      const { lat, lng } = map.getCenter();
      return { lat, lng: normalizeLongitude(lng) };
    },
  };
}

/** handleClicks opens cards and clusters, and sets the position of a driver who cannot be located, or who presses for long. */
function handleClicks(map: MapLibre, pins: Pins, state: State, actions: Actions, locale: Observable<Locale>): void {
  const herePrompt = makeHerePrompt(map, actions, locale);
  map.on("click", ({ point, lngLat }) => {
    if (herePrompt.takesClick(point)) return;
    const touched = pins.find(point);
    if (touched === null && state.selected.get() === null && canTap(state.positionStatus.get())) {
      actions.namePlace({ lat: lngLat.lat, lng: normalizeLongitude(lngLat.lng) });
      return;
    }
    if (touched !== null && "cluster" in touched) {
      state.following.set(false);
      map.jumpTo({ center: touched.cluster, zoom: touched.zoom });
      return;
    }
    actions.select(touched?.entity.id ?? null);
  });
}

/** keepViewport sets state.viewport. */
function keepViewport(map: MapLibre, state: State): void {
  const update = (): void => {
    if (!isLookingAround(state)) {
      state.viewport.set(null);
      return;
    }
    const bounds = map.getBounds();
    const now: Viewport = { west: bounds.getWest(), south: bounds.getSouth(), east: bounds.getEast(), north: bounds.getNorth(), zoom: map.getZoom() };
    const before = state.viewport.get();
    if (before === null || (Object.keys(now) as (keyof Viewport)[]).some((key) => before[key] !== now[key])) state.viewport.set(now);
  };
  map.on("moveend", update);
  state.following.watch(update);
  state.fix.watch(update);
}

/** keepScale sets state.metresPerPixel and state.mapBearing. It is called in each frame of a moving map, so it only rounds. */
function keepScale(map: MapLibre, state: State): void {
  const update = (): void => {
    state.metresPerPixel.set(Number((1 / pixelsPerMetre(map.getZoom(), map.getCenter().lat)).toPrecision(3)));
    state.mapBearing.set(Math.round(map.getBearing()));
  };
  map.on("move", update);
  update();
}

/** keepAttributions sets state.attributions to those of the pins in view. */
function keepAttributions(map: MapLibre, state: State): void {
  const update = (): void => {
    const bounds = map.getBounds();
    const view = state.view.get();
    const inView = [...state.entities.get(), ...state.elsewhere.get()].filter((entity) => bounds.contains(placeOf(entity)));
    const config = state.config.get();
    const world = config === null ? null : worldAttribution(map, config);
    const attributions = attributionsOf(inView, state.sources.get(), [config?.base_map?.attribution ?? null, world], view?.clusters ? view.sources : []);
    const before = state.attributions.get();
    if (attributions.length !== before.length || attributions.some((text, i) => text !== before[i])) state.attributions.set(attributions);
  };
  for (const observable of [state.entities, state.view, state.elsewhere, state.sources]) (observable as Observable<unknown>).watch(update);
  setInterval(update, attributionInterval);
}
