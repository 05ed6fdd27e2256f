// The line of attributions at the bottom of the map.

import { element } from "./dom.ts";
import { setTextOrHide } from "./widgets.ts";
import type { State } from "./state.ts";

/** makeAttribution makes the line at the bottom of the map. */
export function makeAttribution({ attributions }: State): HTMLElement {
  const made = element("p", { class: "attribution" });
  attributions.watch((texts) => {
    setTextOrHide(made, texts.join(" · "));
  });
  return made;
}
