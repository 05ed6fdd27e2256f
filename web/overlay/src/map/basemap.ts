// The style of the base map: the operator's, or the built-in overview of the world; a plain background while neither can be had.

import type { Map as MapLibre, StyleSpecification } from "maplibre-gl";
import type { Theme } from "../geo/sun.ts";
import type { OverlayConfig } from "../net/wire.ts";

const grounds: Record<Theme, string> = { day: "#ebe8e1", night: "#1a222d" };

/** The service's own style: the operator's tiles above the overview of the world, or that alone. */
const ownStyle = "/map/style.json";
/** The overview's source in that style. */
export const worldSource = "world";
/** From this zoom on the overview has no names below an operator's map (internal/roads/basemap). */
const coveredFrom = 11;

/** worldAttribution returns the attribution of the overview of the world where it is in view; null where it is not. */
export function worldAttribution(map: Pick<MapLibre, "getSource" | "getZoom">, { base_map }: Pick<OverlayConfig, "base_map">): string | null {
  if (base_map !== null && map.getZoom() >= coveredFrom) return null;
  return map.getSource(worldSource)?.attribution ?? null;
}

/** MapLook is the driver's choice of the base map. */
export interface MapLook {
  theme: Theme;
  /** Language of the names; missing: local names. */
  language?: string;
  names?: boolean;
}

/** isSameLook reports whether two looks draw the same map. */
export const isSameLook = (a: MapLook, b: MapLook): boolean => a.theme === b.theme && a.language === b.language && a.names === b.names;

/** Id of plainStyle's only layer. */
export const ground = "ground";

/** isOwnStyle reports whether the service itself makes the style. */
export const isOwnStyle = ({ base_map }: OverlayConfig): boolean => (base_map?.style_url ?? ownStyle).startsWith("/");

/** groundColour returns the colour of land, on which the first pins are drawn. */
export const groundColour = (theme: Theme): string => grounds[theme];

/** withoutNames returns a style without the names on the map (pure). */
export const withoutNames = (style: StyleSpecification): StyleSpecification => ({ ...style, layers: style.layers.filter(({ type }) => type !== "symbol") });

/** plainStyle returns a style with a background of one colour. */
export function plainStyle(theme: Theme): StyleSpecification {
  return { version: 8, sources: {}, layers: [{ id: ground, type: "background", paint: { "background-color": groundColour(theme) } }] };
}

/** baseStyle returns the URL of the style. Only the service's own style has variants. */
export function baseStyle({ base_map }: OverlayConfig, { theme, language, names = true }: MapLook): string {
  const url = base_map?.style_url ?? ownStyle;
  if (!url.startsWith("/")) return url;
  const query = new URLSearchParams();
  if (theme === "night") query.set("theme", theme);
  if (language !== undefined && names) query.set("language", language);
  if (!names) query.set("names", "false");
  const text = query.toString();
  return text === "" ? url : `${url}?${text}`;
}
