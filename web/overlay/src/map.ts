// Opens and styles the MapLibre map. Controls, attribution and pins belong to other modules.

import type { Map as MapLibre, StyleSpecification } from "maplibre-gl";
import { baseStyle, plainStyle, type MapLook } from "./basemap.ts";
import type { Bounds } from "./extent.ts";
import type { Place } from "./geo.ts";
import type { State } from "./state.ts";
import type { OverlayConfig } from "./wire.ts";

/** Milliseconds to wait for the style before a plain background is used. */
const styleTimeout = 8000;
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

/** loadLibrary also starts the library's worker, which takes as long to load as the library itself. */
export async function loadLibrary(): Promise<Library> {
  const { Map, prewarm, setWorkerCount } = await import("maplibre-gl");
  setWorkerCount(1); // cars have few cores, and one worker is enough for two sources
  prewarm();
  return { Map };
}

export interface MapOptions {
  library: Library;
  container: HTMLElement;
  config: OverlayConfig;
  look: MapLook;
  center: Place | null;
  /** What to show where there is no centre; null for the style's own centre. */
  bounds?: Bounds | null;
}

/** Pixels around the extent, and the closest zoom of a small one. */
export const extentOptions = { padding: 40, maxZoom: 14 } as const;

/** openMap returns once a style is loaded; it fails if the browser allows no WebGL. */
export async function openMap({ library, container, config, look, center, bounds }: MapOptions): Promise<MapLibre> {
  const map = new library.Map({
    container,
    style: baseStyle(config, look),
    ...(center ? { center, zoom: 15 } : bounds && { bounds, fitBoundsOptions: extentOptions }), // otherwise the style's own centre
    attributionControl: false, // attributionline.ts shows the sources as well
    maplibreLogo: false,
    fadeDuration: 0,
    pitchWithRotate: false,
    touchPitch: false,
    maxPitch: 0,
    pixelRatio: Math.min(window.devicePixelRatio, 2),
  });
  await new Promise<void>((resolve) => {
    const usePlainStyle = (): void => {
      if (!map.isStyleLoaded()) map.setStyle(plainStyle(look.theme), { diff: false });
    };
    const timeout = setTimeout(usePlainStyle, styleTimeout);
    map.on("error", usePlainStyle);
    void map.once("style.load", () => {
      clearTimeout(timeout);
      map.off("error", usePlainStyle);
      resolve();
    });
  });
  // Missing tiles are normal in a tunnel.
  map.on("error", ({ error }: { error: Error }) => {
    console.warn(error.message);
  });
  return map;
}

/** setBaseMap switches between day and night and between languages of names; pins stay. */
export function setBaseMap(map: MapLibre, config: OverlayConfig, look: MapLook): void {
  map.setStyle(baseStyle(config, look), { transformStyle: (before, next) => withPinLayers(before, next) });
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
