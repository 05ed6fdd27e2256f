// The car on the map. It is drawn over the map and not in it: while the map follows, it stands still and costs nothing.

import { element } from "./dom.ts";

/** Drawn is where and how, in pixels of the screen. */
export interface Drawn {
  x: number;
  y: number;
  /** Degrees clockwise from the top of the screen; null: nobody knows where it goes. */
  turned: number | null;
  /** The place is the last one known. */
  held: boolean;
  /** Radius within which the car is. */
  reach: number;
}

export interface Car {
  element: HTMLElement;
  draw(drawn: Drawn): void;
}

const namespace = "http://www.w3.org/2000/svg";
const largest = 4000; // pixels; a larger circle covers the screen anyway

/** shape makes a part of a drawing. */
function shape(tag: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const made = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** makeCar is not seen before it is drawn. */
export function makeCar(): Car {
  const reach = element("div", { class: "car-reach" });
  const drawing = shape("svg", { viewBox: "-32 -32 64 64", class: "car-mark" });
  const arrow = shape("path", { d: "M0-25 19 21 0 11-19 21z", class: "car-arrow" });
  const dot = shape("circle", { r: "15", class: "car-arrow" });
  drawing.append(shape("circle", { r: "30", class: "car-ground" }), arrow, dot);
  const made = element("div", { class: "car", hidden: "", "aria-hidden": "true" }, reach, drawing);
  let last: Drawn | null = null;
  return {
    element: made,
    draw(drawn) {
      const { x, y, turned, held } = drawn;
      made.hidden = false;
      if (last?.x !== x || last.y !== y) made.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
      if (last?.turned !== turned) {
        arrow.setAttribute("visibility", turned === null ? "hidden" : "visible");
        dot.setAttribute("visibility", turned === null ? "visible" : "hidden");
        arrow.setAttribute("transform", `rotate(${(turned ?? 0).toFixed(1)})`);
      }
      if (last?.held !== held) made.classList.toggle("held", held);
      const size = Math.round(Math.min(drawn.reach, largest));
      if (last === null || Math.round(Math.min(last.reach, largest)) !== size) {
        reach.hidden = size < 34; // the mark itself covers it
        reach.style.width = reach.style.height = `${String(2 * size)}px`;
      }
      last = drawn;
    },
  };
}
