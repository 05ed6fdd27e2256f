// The menu button and what it opens.

import { element } from "./dom.ts";
import { words } from "./words.ts";

/** makeMenu returns the menu, closed. */
export function makeMenu(): HTMLElement {
  const links = element(
    "nav",
    { id: "menu-links", hidden: "", "aria-label": words.menu },
    element("a", { class: "button", href: "/about" }, words.about),
    element("a", { class: "button", href: "/docs" }, words.interface),
  );
  const button = element("button", { type: "button", "aria-expanded": "false", "aria-controls": links.id }, words.menu);
  button.addEventListener("click", () => {
    links.hidden = !links.hidden;
    button.setAttribute("aria-expanded", String(!links.hidden));
  });
  return element("div", { class: "menu" }, button, links);
}
