// The map below the pins: the operator's style, or a plain ground.

import type { StyleSpecification } from "maplibre-gl";
import type { Theme } from "./sun.ts";
import type { OverlayConfig } from "./wire.ts";

const grounds: Record<Theme, string> = { day: "#eceae4", night: "#11161c" };

/** plainStyle is a ground of one colour. */
export function plainStyle(theme: Theme): StyleSpecification {
  return { version: 8, sources: {}, layers: [{ id: "ground", type: "background", paint: { "background-color": grounds[theme] } }] };
}

/** baseStyle is what MapLibre takes as style: an address or the style itself. A style of somebody else's has but one look. */
export function baseStyle({ base_map }: OverlayConfig, theme: Theme): string | StyleSpecification {
  if (base_map === null) return plainStyle(theme);
  const isOurs = base_map.style_url.startsWith("/");
  return isOurs && theme === "night" ? `${base_map.style_url}?theme=night` : base_map.style_url;
}
