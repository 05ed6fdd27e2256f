// The map itself. Controls, attribution and what is drawn on it are others' business.

import type { Map as MapLibre, StyleSpecification } from "maplibre-gl";
import type { Place } from "./geo.ts";

export interface MapOptions {
  container: HTMLElement;
  style: string | StyleSpecification;
  center: Place | null;
}

/** canDraw says whether the browser can draw a map at all. */
export function canDraw(): boolean {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("webgl2") ?? canvas.getContext("webgl");
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return context !== null;
}

/** openMap returns once the style is there. MapLibre is loaded here, so that a browser that cannot draw does without it. */
export async function openMap({ container, style, center }: MapOptions): Promise<MapLibre> {
  const { Map, setWorkerCount } = await import("maplibre-gl");
  setWorkerCount(1); // cars have few cores, and one source needs no more
  const map = new Map({
    container,
    style,
    center: center ?? { lat: 0, lng: 0 },
    zoom: center ? 14 : 2,
    attributionControl: false, // ours shows the sources too
    maplibreLogo: false,
    fadeDuration: 0,
    pitchWithRotate: false,
    maxPitch: 0,
  });
  await map.once("style.load");
  return map;
}
