// Opens and styles the MapLibre map. Controls, attribution and pins belong to other modules.

import type { Map as MapLibre, StyleSpecification } from "maplibre-gl";
import type { Bounds, extentOptions } from "./extent.ts";
import type { Place } from "../geo/geo.ts";
import type { State } from "../state/state.ts";

/** Milliseconds to wait for a lost WebGL context before the list replaces the map. */
const restoreTimeout = 4000;

/**
 * mayDraw reports whether the browser has WebGL at all. Whether it works is only known when the map is opened: creating a context
 * just to try takes a slow processor 200 ms.
 */
export const mayDraw = (): boolean => typeof WebGLRenderingContext === "function";

/** Library is the part of MapLibre that the page uses. */
export interface Library {
  Map: typeof MapLibre;
}

declare global {
  interface Window {
    maplibreWorker?: Worker | undefined;
  }
}

/** startWorker starts the library's worker before the library is there (build/maplibre.ts). folder is the URL of the page's scripts. */
export function startWorker(folder: string): void {
  window.maplibreWorker = new Worker(new URL("map-worker.js", folder));
}

/** loadLibrary also starts the library's worker, unless it was started before: it takes as long to load as the library itself. */
export async function loadLibrary(): Promise<Library> {
  const { Map, prewarm, setWorkerCount } = await import("maplibre-gl");
  setWorkerCount(1); // cars have few cores, and one worker is enough for two sources
  prewarm();
  return { Map };
}

/** MapOptions are the options of openMap. */
export interface MapOptions {
  library: Library;
  container: HTMLElement;
  /** Of our own, so that it is not validated. */
  style: StyleSpecification;
  center: Place | null;
  /** The bounds to show where there is no centre. */
  bounds?: Bounds | null;
  fit?: ReturnType<typeof extentOptions>;
}

/** openMap returns when the style is drawn; it fails if the browser allows no WebGL. */
export async function openMap({ library, container, style, center, bounds, fit }: MapOptions): Promise<MapLibre> {
  const map = new library.Map({
    container,
    style,
    validateStyle: false,
    ...(center ? { center, zoom: 15 } : bounds && { bounds, ...(fit && { fitBoundsOptions: fit }) }),
    attributionControl: false, // attributionline.ts shows the sources as well
    maplibreLogo: false,
    fadeDuration: 0,
    pitchWithRotate: false,
    touchPitch: false,
    maxPitch: 0,
    pixelRatio: Math.min(window.devicePixelRatio, 2),
  });
  await map.once("style.load");
  // Missing tiles are normal in a tunnel.
  map.on("error", ({ error }: { error: Error }) => {
    console.warn(error.message);
  });
  return map;
}

/** withPinLayers copies the pins, the only GeoJSON sources, to another style. */
export function withPinLayers(before: StyleSpecification | undefined, next: StyleSpecification): StyleSpecification {
  if (before === undefined) return next;
  const sources = Object.entries(before.sources).filter(([id, source]) => source.type === "geojson" && !(id in next.sources));
  const ours = new Set(sources.map(([id]) => id));
  const layers = before.layers.filter((layer) => "source" in layer && ours.has(layer.source));
  return { ...next, sources: { ...next.sources, ...Object.fromEntries(sources) }, layers: [...next.layers, ...layers] };
}

/** ContextState tracks the WebGL context: while it is lost, MapLibre has no style. */
export class ContextState {
  #available = true;

  /** Must be constructed before any other listener of the map's style. */
  constructor(map: MapLibre, state: Pick<State, "drawable">) {
    let timeout: ReturnType<typeof setTimeout> | undefined;
    map.on("webglcontextlost", () => {
      this.#available = false;
      clearTimeout(timeout);
      timeout = setTimeout(() => {
        state.drawable.set(false); // the list replaces the map
      }, restoreTimeout);
    });
    map.on("style.load", () => {
      if (this.#available) return;
      this.#available = true;
      clearTimeout(timeout);
      state.drawable.set(true);
    });
  }

  isAvailable(): boolean {
    return this.#available;
  }
}
