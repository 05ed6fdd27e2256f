// Building blocks of panels: buttons, switches, choices and lists that keep their elements.
//
// Elements that can be touched are updated, never replaced while they are shown: a touch on a replaced element is lost.

import { element } from "./dom.ts";

/** setText changes a text only if it differs, so that screen readers do not announce it again. */
export function setText(node: HTMLElement, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

/** setTextOrHide hides the element when the text is empty. */
export function setTextOrHide(node: HTMLElement, text: string): void {
  setText(node, text);
  node.hidden = text === "";
}

/** setAttribute sets an attribute if it has changed. */
export function setAttribute(node: Element, name: string, value: string): void {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** replaceChildren replaces an element's children. The focus stays on the element with the same id. */
export function replaceChildren(parent: HTMLElement, children: readonly Node[]): void {
  const focused = parent.contains(document.activeElement) ? (document.activeElement?.id ?? "") : "";
  while (parent.firstChild) parent.removeChild(parent.firstChild);
  parent.append(...children);
  if (focused !== "") document.getElementById(focused)?.focus();
}

const namespace = "http://www.w3.org/2000/svg";

/** iconPaths are SVG paths of button icons, 24 by 24. */
export const iconPaths = {
  menu: "M3 6h18M3 12h18M3 18h18",
  close: "M5 5l14 14M19 5L5 19",
  back: "M15 4l-8 8 8 8",
  onward: "M9 4l8 8-8 8",
  list: "M8 6h13M8 12h13M8 18h13M3 6h1M3 12h1M3 18h1",
  report: "M12 3v18M3 12h18",
  car: "M12 3l7 17-7-4-7 4z",
  needle: "M12 2l5 10-5 10-5-10zM7 12h10",
  northHalf: "M12 2l5 10h-10z",
  sound: "M4 9.5v5h4l5 4.5v-14l-5 4.5zM16.5 9a4 4 0 0 1 0 6M19 6a8 8 0 0 1 0 12",
  muted: "M4 9.5v5h4l5 4.5v-14l-5 4.5zM16.5 9.5l5 5M21.5 9.5l-5 5",
} as const;

/** makeIcon draws an icon, which screen readers skip. */
export function makeIcon(name: keyof typeof iconPaths): SVGElement {
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", `sign sign-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(namespace, "path");
  path.setAttribute("d", iconPaths[name]);
  svg.append(path);
  return svg;
}

/** makeButton makes a button. */
export function makeButton(attributes: Readonly<Record<string, string>>, onPress: (event: MouseEvent) => void, ...children: (Node | string)[]): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, ...children);
  made.addEventListener("click", onPress);
  return made;
}

/** makeIconButton makes a button with an icon; setLabel gives it a text for screen readers. */
export function makeIconButton(name: keyof typeof iconPaths, className: string, onPress: () => void): HTMLButtonElement {
  return makeButton({ class: `signed ${className}` }, onPress, makeIcon(name));
}

/** setLabel sets an element's accessible name. */
export function setLabel(node: Element, text: string): void {
  setAttribute(node, "aria-label", text);
}

/** LimitSign is a speed limit as a road sign. */
export interface LimitSign {
  element: HTMLElement;
  /** show hides the sign if limit is null; label is its accessible name. */
  show(limit: number | null, label: string): void;
}

/** makeLimitSign makes a hidden sign. */
export function makeLimitSign(): LimitSign {
  const sign = element("span", { class: "limit", role: "img", hidden: "" });
  return {
    element: sign,
    show(limit, label) {
      setTextOrHide(sign, limit === null ? "" : String(limit));
      setLabel(sign, label);
    },
  };
}

/** Item is an element with an update function. */
export interface Item {
  element: HTMLElement;
  update(): void;
}

/** SwitchTexts are the texts of a switch. */
export interface SwitchTexts {
  name: string;
  on: string;
  off: string;
}

/** makeSwitch makes a switch with its name at the left and its state at the right. note is a line below the name. */
export function makeSwitch(id: string, texts: SwitchTexts, isOn: () => boolean, turn: (on: boolean) => void, before: Node[] = [], note: () => string = () => ""): Item {
  const state = element("span", { class: "state" });
  const noted = element("small", { hidden: "" });
  const name = element("span", { class: "name" }, texts.name, noted);
  const made = makeButton({ class: "row", role: "switch", id }, () => {
    turn(!isOn());
  }, ...before, name, state);
  return {
    element: made,
    update() {
      const on = isOn();
      setAttribute(made, "aria-checked", String(on));
      setText(state, on ? texts.on : texts.off);
      setTextOrHide(noted, note());
    },
  };
}

/** makeChoice makes a group of buttons of which one is pressed. */
export function makeChoice<T extends string>(id: string, name: string, options: readonly (readonly [value: T, text: string])[], chosen: () => T, choose: (value: T) => void): Item {
  const buttons = options.map(
    ([value, text]) =>
      [
        value,
        makeButton({ id: `${id}-${value}` }, () => {
          choose(value);
        }, text),
      ] as const,
  );
  const heading = element("h3", { id: `${id}-name` }, name);
  const group = element("div", { class: "choice", role: "group", "aria-labelledby": heading.id }, ...buttons.map(([, button]) => button));
  return {
    element: element("section", {}, heading, group),
    update() {
      for (const [value, button] of buttons) setAttribute(button, "aria-pressed", String(value === chosen()));
    },
  };
}

/** makeStepper makes buttons that decrease and increase a value; text describes it. */
export function makeStepper(id: string, name: string, ends: readonly [string, string], text: () => string, can: (up: boolean) => boolean, step: (up: boolean) => void): Item {
  const [less, more] = [false, true].map((up) =>
    makeButton({ id: `${id}-${up ? "more" : "less"}` }, () => {
      if (can(up)) step(up);
    }, ends[up ? 1 : 0]),
  ) as [HTMLButtonElement, HTMLButtonElement];
  const said = element("p", { role: "status", class: "figure" });
  const heading = element("h3", { id: `${id}-name` }, name);
  return {
    element: element("section", {}, heading, element("div", { class: "choice", role: "group", "aria-labelledby": heading.id }, less, more), said),
    update() {
      setText(said, text());
      // Not disabled: a focused button that becomes disabled loses the focus.
      setAttribute(less, "aria-disabled", String(!can(false)));
      setAttribute(more, "aria-disabled", String(!can(true)));
    },
  };
}

/** KeyedItem is a list element that is reused for the same key. */
export interface KeyedItem<T> {
  element: HTMLElement;
  update(value: T): void;
}

/** keyedList shows values in order and reuses the elements of values that stay. */
export function keyedList<T>(parent: HTMLElement, keyOf: (value: T) => string, make: (value: T) => KeyedItem<T>): (values: readonly T[]) => void {
  const items = new Map<string, KeyedItem<T>>();
  return (values) => {
    const keys = new Set(values.map(keyOf));
    for (const [key, item] of items) {
      if (keys.has(key)) continue;
      item.element.remove();
      items.delete(key);
    }
    values.forEach((value, at) => {
      const key = keyOf(value);
      const item = items.get(key) ?? make(value);
      items.set(key, item);
      item.update(value);
      const there = parent.children[at] ?? null;
      if (there !== item.element) parent.insertBefore(item.element, there);
    });
  };
}
