// Draws the base map below the pins in stages, so that a slow processor first draws what is urgent: the first pins on plain ground,
// then streets, then names, whose characters the browser paints one by one.

import type { BackgroundLayerSpecification, Map as MapLibre, StyleSpecification } from "maplibre-gl";
import { baseStyle, ground, groundColour, isOwnStyle, isSameLook, withoutNames, worldSource, type MapLook } from "./basemap.ts";
import { withPinLayers, type ContextState } from "./map.ts";
import { lowestPinLayer } from "./pinlayers.ts";
import type { OverlayConfig } from "../net/wire.ts";

/** Lowest layer of the route, which lies between the base map and the pins (nav/routelayers.ts). */
export const lowestRouteLayer = "route-case";

const readTimeout = 8000; // ms
const retryDelay = 10_000; // ms

/** Stage is the extent to which the base map is drawn. */
export type Stage = "ground" | "streets" | "names";

/** StyleReader reads styles and keeps the last one, so that the first is read while the map's library is being loaded. */
export class StyleReader {
  readonly #config: OverlayConfig;
  #last: { url: string; style: Promise<StyleSpecification> } | null = null;

  constructor(config: OverlayConfig) {
    this.#config = config;
  }

  /** read fails if the style cannot be had in time; the next read requests it again. */
  read(look: MapLook): Promise<StyleSpecification> {
    const url = baseStyle(this.#config, look);
    if (this.#last?.url === url) return this.#last.style;
    const style = fetchStyle(url);
    this.#last = { url, style };
    style.catch(() => {
      if (this.#last?.style === style) this.#last = null;
    });
    return style;
  }

  /** isOwn reports whether the service itself makes the styles. */
  isOwn(): boolean {
    return isOwnStyle(this.#config);
  }
}

async function fetchStyle(url: string): Promise<StyleSpecification> {
  const abort = new AbortController();
  const timeout = setTimeout(() => {
    abort.abort();
  }, readTimeout);
  try {
    const response = await fetch(url, { headers: { Accept: "application/json" }, signal: abort.signal });
    if (!response.ok) throw new Error(`the map's style was answered with ${String(response.status)}`);
    return (await response.json()) as StyleSpecification;
  } finally {
    clearTimeout(timeout);
  }
}

/** BaseLayersOptions are the dependencies of BaseLayers. */
export interface BaseLayersOptions {
  map: MapLibre;
  contextState: ContextState;
  styles: StyleReader;
  /** The present look that the driver wants. */
  look: () => MapLook;
  /** Whether the map shows a place of its own; otherwise it moves to the style's centre. */
  isPlaced: () => boolean;
}

/** BaseLayers draws the base map of a map that openMap has opened. */
export class BaseLayers {
  readonly #options: BaseLayersOptions;
  #stage: Stage = "ground";
  /** The look that is drawn or being read; null: the ground. */
  #drawn: { look: MapLook; stage: Stage } | null = null;

  constructor(options: BaseLayersOptions) {
    this.#options = options;
  }

  /** advance returns when the layers of a stage are added, or their style cannot be had: it is read again later. */
  advance(stage: Stage): Promise<void> {
    this.#stage = stage;
    return this.update();
  }

  /** update draws another look, after a change. */
  async update(): Promise<void> {
    const { map, contextState, styles, look, isPlaced } = this.#options;
    if (!contextState.isAvailable()) return;
    const next = { look: look(), stage: this.#stage };
    if (map.getLayer(ground) !== undefined) map.setPaintProperty(ground, "background-color", groundColour(next.look.theme));
    const before = this.#drawn;
    if (next.stage === "ground" || (before?.stage === next.stage && isSameLook(before.look, next.look))) return;
    this.#drawn = next;
    try {
      const style = await styles.read(next.look);
      if (this.#drawn !== next) return;
      if (!contextState.isAvailable()) throw new Error("the map's style arrived while there was no context");
      const shown = next.stage === "names" ? style : withoutNames(style);
      if (styles.isOwn() && (before === null || isSameLook(before.look, next.look))) this.#add(shown);
      else map.setStyle(shown, { transformStyle: withPinLayers, validate: !styles.isOwn() });
      if (before === null && !isPlaced() && style.center !== undefined) map.jumpTo({ center: style.center, zoom: style.zoom ?? 0 });
    } catch (error) {
      console.warn(error); // the pins stay on what is drawn
      if (this.#drawn !== next) return;
      this.#drawn = before;
      setTimeout(() => {
        void this.update();
      }, retryDelay);
    }
  }

  /** #add adds missing sources and layers. This avoids the comparison of two whole styles with all pins, which is slow on slow processors. */
  #add({ sources, layers }: StyleSpecification): void {
    const { map } = this.#options;
    for (const [id, source] of Object.entries(sources)) if (map.getSource(id) === undefined) map.addSource(id, source);
    let above: string = map.getLayer(lowestRouteLayer) === undefined ? lowestPinLayer : lowestRouteLayer;
    for (const layer of [...layers].reverse()) {
      if (layer.type === "background") {
        this.#replaceGround(layer, above);
        continue;
      }
      if (map.getLayer(layer.id) === undefined) map.addLayer(layer, above);
      above = layer.id;
    }
  }

  /** #replaceGround waits for the land, because the background of our own style is the sea. */
  #replaceGround(background: BackgroundLayerSpecification, above: string): void {
    const { map } = this.#options;
    const replace = (): void => {
      const isReplaced = map.getLayer(ground) === undefined || map.getLayer(background.id) !== undefined;
      if (!isReplaced && map.getSource(worldSource) !== undefined && !map.isSourceLoaded(worldSource)) return;
      map.off("sourcedata", replace);
      if (isReplaced) return;
      map.addLayer(background, above);
      map.removeLayer(ground);
    };
    map.on("sourcedata", replace);
    replace();
  }
}
