// The line of attributions at the bottom of the map.

import { attributionParts } from "../pins/attribution.ts";
import { element } from "../browser/dom.ts";
import { replaceChildren } from "../browser/widgets.ts";
import type { State } from "../state/state.ts";

/** attributionNodes returns an attribution as text and links, which open beside the map. */
export const attributionNodes = (attribution: string): Node[] =>
  attributionParts(attribution).map(({ text, href }) => (href === undefined ? document.createTextNode(text) : element("a", { href, target: "_blank", rel: "noopener noreferrer" }, text)));

/** makeAttribution makes the line at the bottom of the map. */
export function makeAttribution({ attributions }: State): HTMLElement {
  const made = element("p", { class: "attribution" });
  attributions.watch((texts) => {
    made.hidden = texts.length === 0;
    replaceChildren(made, attributionNodes(texts.join(" · ")));
  });
  return made;
}
