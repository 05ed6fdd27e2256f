// The style of the base map: the operator's, or a plain background.

import type { StyleSpecification } from "maplibre-gl";
import type { Theme } from "./sun.ts";
import type { OverlayConfig } from "./wire.ts";

const grounds: Record<Theme, string> = { day: "#eceae4", night: "#11161c" };

/** plainStyle is a background of one colour. */
export function plainStyle(theme: Theme): StyleSpecification {
  return { version: 8, sources: {}, layers: [{ id: "ground", type: "background", paint: { "background-color": grounds[theme] } }] };
}

/** baseStyle returns what MapLibre takes as style: a URL or the style itself. Only the service's own style has a night variant. */
export function baseStyle({ base_map }: OverlayConfig, theme: Theme): string | StyleSpecification {
  if (base_map === null) return plainStyle(theme);
  const isOurs = base_map.style_url.startsWith("/");
  return isOurs && theme === "night" ? `${base_map.style_url}?theme=night` : base_map.style_url;
}
