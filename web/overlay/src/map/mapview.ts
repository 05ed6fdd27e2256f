// The map with everything on it: opened once and updated from the state.

import type { Map as MapLibre } from "maplibre-gl";
import { Camera, pixelsPerMetre } from "./camera.ts";
import { makeCar } from "./car.ts";
import type { Observable } from "../browser/observable.ts";
import { boundsOf, extentOptions } from "./extent.ts";
import { normalizeLongitude, type Place } from "../geo/geo.ts";
import { makeLongPressPrompt } from "./longpressprompt.ts";
import { Icons } from "./icons.ts";
import { BaseLayers, type StyleReader } from "./baselayers.ts";
import { plainStyle, worldAttribution, type MapLook } from "./basemap.ts";
import type { Locale } from "../i18n/locale.ts";
import { openMap, ContextState, type Library } from "./map.ts";
import { Pins, withPins } from "./pinlayers.ts";
import type { Look } from "../pins/icontint.ts";
import { keepResolution } from "./resolution.ts";
import { attributionsOf } from "../pins/attribution.ts";
import type { VisibleEntity } from "../pins/visibility.ts";
import { placeOf } from "../pins/shapes.ts";
import { canTap } from "../car/position.ts";
import { isLookingAround, isWithoutData, type Actions, type State, type Viewport } from "../state/state.ts";

const attributionInterval = 1000; // ms
const zoomFromAbove = 12;
/** Milliseconds for which streets wait for the read of the first pins, and then for their drawing. */
const [readDelay, pinsDelay] = [600, 2000];
/** Milliseconds from the streets to the names where the map never rests, because the car drives. */
const namesDelay = 2500;

/** mapLookOf returns the driver's choice of the base map. */
export const mapLookOf = ({ theme, settings, names }: Pick<State, "theme" | "settings" | "names">): MapLook => ({ theme: theme.get(), language: settings.get().language, names: names.get() });

/** MapView is the interface of the map for panels. */
export interface MapView {
  readonly map: MapLibre;
  show(place: Place): void;
  /** showFromAbove shows a place and its surroundings. */
  showFromAbove(place: Place): void;
  zoomBy(levels: number): void;
  /** showExtent shows the extent of the public data; without one, the map stays where it is. */
  showExtent(): void;
  /** middle returns the place in the middle of the map. */
  middle(): Place;
}

/** MapViewOptions are the dependencies of openMapView. */
export interface MapViewOptions {
  library: Library;
  container: HTMLElement;
  state: State;
  actions: Actions;
  locale: Observable<Locale>;
  /** The visible entities and their appearance. */
  shown: Observable<readonly VisibleEntity[]>;
  styles: StyleReader;
  /** Whether pins are drawn without colour. */
  isGrey: () => boolean;
}

/** openMapView returns when the pins can be drawn. */
export async function openMapView({ library, container, state, actions, locale, shown, styles, isGrey }: MapViewOptions): Promise<MapView> {
  const config = state.config.get();
  if (config === null) throw new Error("the map is opened before its configuration is known");
  const bounds = boundsOf(config.extent);
  const look = (): Look => (isGrey() ? "lost" : state.theme.get());
  const opened = look(); // it may change before the map is open; light() below notices
  const style = withPins(plainStyle(state.theme.get()), opened);
  const map = await openMap({ library, container, style, center: state.fix.get(), bounds, fit: extentOptions(config) });
  const contextState = new ContextState(map, state);
  const car = makeCar();
  map.getCanvasContainer().append(car.element);
  keepResolution(map, contextState, new Camera(map, state, car));
  const icons = new Icons(map, contextState, state.kinds.get(), Math.min(Math.max(window.devicePixelRatio, 1), 2));
  const base = new BaseLayers({ map, contextState, styles, look: () => mapLookOf(state), isPlaced: () => state.fix.get() !== null || bounds !== null });
  const drawRest = drawInStages(map, state, base, () => {
    pins.addShapes();
    keepScale(map, state);
  });
  const pins = new Pins(map, contextState, icons, opened, drawRest);
  state.settings.watch(({ units }) => {
    pins.setUnits(units);
  });
  shown.watch((all) => {
    pins.setLook(look());
    pins.show(all, state.view.get()?.clusters ?? []);
  });
  state.selected.watch((id) => {
    pins.choose(id);
  });
  const light = (): void => {
    pins.setLook(look());
    void base.update();
  };
  for (const observable of [state.theme, state.settings, state.names]) (observable as Observable<unknown>).watch(light);
  map.on("style.load", light);
  state.words.watch(({ say }) => {
    map.getCanvas().setAttribute("aria-label", say("map.label"));
  });
  handleClicks(map, pins, state, actions, locale);
  keepAttributions(map, state);
  keepViewport(map, state);
  return {
    map,
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
      if (bounds !== null) map.fitBounds(bounds, { ...extentOptions(config), animate: false });
    },
    middle() {
      const { lat, lng } = map.getCenter();
      return { lat, lng: normalizeLongitude(lng) };
    },
  };
}

/**
 * drawInStages adds what the first pins need not wait for: first streets and all that addRest adds, then names. It returns a function
 * that ends the wait for the first pins; without pins it ends by itself.
 */
function drawInStages(map: MapLibre, state: State, base: BaseLayers, addRest: () => void): () => void {
  let isDrawn = false;
  let timeout: ReturnType<typeof setTimeout> | undefined;
  const drawNames = (): void => {
    clearTimeout(timeout);
    map.off("idle", drawNames);
    void base.advance("names");
  };
  const drawStreets = (): void => {
    if (isDrawn) return;
    isDrawn = true;
    clearTimeout(timeout);
    stopWatching();
    addRest();
    void base.advance("streets").then(() => {
      map.on("idle", drawNames);
      timeout = setTimeout(drawNames, namesDelay);
    });
  };
  const stopWatching = state.connection.watch(() => {
    setTimeout(() => {
      if (isWithoutData(state)) drawStreets(); // the connection is known before the first pins are
    });
  });
  timeout = setTimeout(
    () => {
      if (state.entities.get().length > 0) timeout = setTimeout(drawStreets, pinsDelay);
      else drawStreets();
    },
    state.fix.get() === null ? 0 : readDelay,
  );
  return drawStreets;
}

/** handleClicks opens cards and clusters, and sets the position of a driver who cannot be located, or who presses for long. */
function handleClicks(map: MapLibre, pins: Pins, state: State, actions: Actions, locale: Observable<Locale>): void {
  const herePrompt = makeLongPressPrompt(map, actions, locale);
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
    const inView = [...state.entities.get(), ...state.viewEntities.get()].filter((entity) => bounds.contains(placeOf(entity)));
    const config = state.config.get();
    const world = config === null ? null : worldAttribution(map, config);
    const attributions = attributionsOf(inView, state.sources.get(), [config?.base_map?.attribution ?? null, world], view?.clusters ? view.sources : []);
    const before = state.attributions.get();
    if (attributions.length !== before.length || attributions.some((text, i) => text !== before[i])) state.attributions.set(attributions);
  };
  for (const observable of [state.entities, state.view, state.viewEntities, state.sources]) (observable as Observable<unknown>).watch(update);
  setInterval(update, attributionInterval);
}
