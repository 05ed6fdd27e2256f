// Whose data is shown.

import { element } from "./dom.ts";
import type { OverlayConfig } from "./wire.ts";

/** attribute makes the line at the bottom of the map. */
export function attribute(config: OverlayConfig): HTMLElement {
  const text = config.base_map?.attribution ?? "";
  return element("p", { class: "attribution", ...(text === "" && { hidden: "" }) }, text);
}
