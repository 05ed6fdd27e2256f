// The map below the pins: the operator's style, or a plain ground.

import type { StyleSpecification } from "maplibre-gl";
import type { OverlayConfig } from "./wire.ts";

/** plainStyle is a ground of one colour. */
export function plainStyle(ground: string): StyleSpecification {
  return { version: 8, sources: {}, layers: [{ id: "ground", type: "background", paint: { "background-color": ground } }] };
}

/** baseStyle is what MapLibre takes as style: an address or the style itself. */
export function baseStyle(config: OverlayConfig, ground: string): string | StyleSpecification {
  return config.base_map?.style_url ?? plainStyle(ground);
}
