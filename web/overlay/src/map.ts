// The map itself. Controls, attribution and what is drawn on it are others' business.

import type { Map as MapLibre, StyleSpecification } from "maplibre-gl";
import { baseStyle, plainStyle } from "./basemap.ts";
import type { Place } from "./geo.ts";
import type { State } from "./state.ts";
import type { Theme } from "./sun.ts";
import type { OverlayConfig } from "./wire.ts";

/** So long a style may take before the pins are drawn on a plain ground. */
const styleTimeout = 8000;
/** So long a lost drawing may take to come back before the list takes the map's place. */
const restoreTimeout = 4000;

/**
 * mayDraw says whether the browser knows how to draw a map. Whether it lets us is seen when the map is opened: to try it before
 * would cost a slow processor a fifth of a second.
 */
export const mayDraw = (): boolean => typeof WebGLRenderingContext === "function";

/** Library is MapLibre, as far as the page uses it. */
export interface Library {
  Map: typeof MapLibre;
}

/** loadLibrary also starts the library's worker, which takes as long to load as the library itself. */
export async function loadLibrary(): Promise<Library> {
  const { Map, prewarm, setWorkerCount } = await import("maplibre-gl");
  setWorkerCount(1); // cars have few cores, and two sources need no more
  prewarm();
  return { Map };
}

export interface MapOptions {
  library: Library;
  container: HTMLElement;
  config: OverlayConfig;
  theme: Theme;
  center: Place | null;
}

/** openMap returns once a style is there; it fails where the browser does not let it draw. */
export async function openMap({ library, container, config, theme, center }: MapOptions): Promise<MapLibre> {
  const map = new library.Map({
    container,
    style: baseStyle(config, theme),
    ...(center && { center, zoom: 15 }), // else where the style begins, which is the operator's part of the world
    attributionControl: false, // ours shows the sources too
    maplibreLogo: false,
    fadeDuration: 0,
    pitchWithRotate: false,
    touchPitch: false,
    maxPitch: 0,
    pixelRatio: Math.min(window.devicePixelRatio, 2),
  });
  await new Promise<void>((resolve) => {
    const usePlainStyle = (): void => {
      if (!map.isStyleLoaded()) map.setStyle(plainStyle(theme), { diff: false });
    };
    const timeout = setTimeout(usePlainStyle, styleTimeout);
    map.on("error", usePlainStyle);
    void map.once("style.load", () => {
      clearTimeout(timeout);
      map.off("error", usePlainStyle);
      resolve();
    });
  });
  // A tile that does not come is no news in a tunnel.
  map.on("error", ({ error }: { error: Error }) => {
    console.warn(error.message);
  });
  return map;
}

/** setTheme draws the map by day or night; whatever lies on it stays. */
export function setTheme(map: MapLibre, config: OverlayConfig, theme: Theme): void {
  map.setStyle(baseStyle(config, theme), { transformStyle: (before, next) => withPinLayers(before, next) });
}

/** withPinLayers takes the pins, which are all that has GeoJSON of the page, over into another style. */
export function withPinLayers(before: StyleSpecification | undefined, next: StyleSpecification): StyleSpecification {
  if (before === undefined) return next;
  const sources = Object.entries(before.sources).filter(([id, source]) => source.type === "geojson" && !(id in next.sources));
  const ours = new Set(sources.map(([id]) => id));
  const layers = before.layers.filter((layer) => "source" in layer && ours.has(layer.source));
  return { ...next, sources: { ...next.sources, ...Object.fromEntries(sources) }, layers: [...next.layers, ...layers] };
}

/** ContextState says whether there is anything to draw on: while the graphics are lost, MapLibre has no style at all. */
export class ContextState {
  #available = true;

  /** Must be made before whatever else listens to the map's style. */
  constructor(map: MapLibre, state: Pick<State, "drawable">) {
    let timeout: ReturnType<typeof setTimeout> | undefined;
    map.on("webglcontextlost", () => {
      this.#available = false;
      clearTimeout(timeout);
      timeout = setTimeout(() => {
        state.drawable.set(false); // the list takes the map's place
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
