// The card of the selected pin, as text.

import { element } from "../../overlay/src/browser/dom.ts";
import type { Item } from "./features.ts";
import type { Words } from "./words.ts";

/** Card shows an item or is hidden. */
export interface Card {
  element: HTMLElement;
  show(item: Item | null, nth: string): void;
}

/** momentOf formats a time of the service in the page's language. */
export function momentOf(text: string, language = document.documentElement.lang): string {
  const at = Date.parse(text);
  return Number.isNaN(at) ? text : `${new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone: "UTC" }).format(at)} UTC`;
}

/** makeCard makes the card of an entity. */
export function makeCard(words: Words, close: () => void): Card {
  const box = element("section", { class: "map-card", "aria-live": "polite", hidden: "" });
  const button = element("button", { type: "button", class: "second" }, words("map.close"));
  button.addEventListener("click", close);
  const isolated = (text: string): HTMLElement => element("bdi", {}, text);
  return {
    element: box,
    show(item, nth) {
      box.hidden = item === null;
      if (item === null) {
        box.replaceChildren();
        return;
      }
      const { entity, externalID, street, facts } = item;
      const rows = facts.map(({ name, ours, value }) => [element("dt", {}, ours ? words(name) : isolated(name)), element("dd", {}, ours ? momentOf(value) : isolated(value))]);
      box.replaceChildren(
        element(
          "header",
          {},
          element("img", { src: `/v2/icons/${encodeURIComponent(entity.kind_id)}.svg`, width: "40", height: "40", alt: "" }),
          element("strong", {}, words(`kind.${entity.kind_id}`)),
          element("span", { class: "quiet" }, nth),
        ),
        ...(street === "" ? [] : [element("p", {}, isolated(street))]),
        element("dl", { class: "facts-of" }, element("dt", {}, words("map.id")), element("dd", {}, isolated(externalID)), ...rows.flat()),
        button,
      );
    },
  };
}
