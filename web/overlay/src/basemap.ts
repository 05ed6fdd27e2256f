// The style of the base map: the operator's, or a plain background.

import type { StyleSpecification } from "maplibre-gl";
import type { Theme } from "./sun.ts";
import type { OverlayConfig } from "./wire.ts";

const grounds: Record<Theme, string> = { day: "#eceae4", night: "#11161c" };

/** MapLook is what the driver chooses of the base map. */
export interface MapLook {
  theme: Theme;
  /** Language of the names; missing: local names. */
  language?: string;
  names?: boolean;
}

export const isSameLook = (a: MapLook, b: MapLook): boolean => a.theme === b.theme && a.language === b.language && a.names === b.names;

/** plainStyle is a background of one colour. */
export function plainStyle(theme: Theme): StyleSpecification {
  return { version: 8, sources: {}, layers: [{ id: "ground", type: "background", paint: { "background-color": grounds[theme] } }] };
}

/** baseStyle returns what MapLibre takes as style: a URL or the style itself. Only the service's own style has variants. */
export function baseStyle({ base_map }: OverlayConfig, { theme, language, names = true }: MapLook): string | StyleSpecification {
  if (base_map === null) return plainStyle(theme);
  if (!base_map.style_url.startsWith("/")) return base_map.style_url;
  const query = new URLSearchParams();
  if (theme === "night") query.set("theme", theme);
  if (language !== undefined && names) query.set("language", language);
  if (!names) query.set("names", "false");
  const text = query.toString();
  return text === "" ? base_map.style_url : `${base_map.style_url}?${text}`;
}
