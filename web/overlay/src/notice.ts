// One line of text over the map, for what the driver has to know or do.

import { element } from "./dom.ts";

export interface Notice {
  element: HTMLElement;
  /** say shows a text; null takes it away. */
  say(text: string | null): void;
}

export function makeNotice(): Notice {
  const made = element("p", { class: "notice panel", role: "status", hidden: "" });
  return {
    element: made,
    say(text) {
      made.textContent = text ?? "";
      made.hidden = text === null;
    },
  };
}
