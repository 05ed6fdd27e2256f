// The car marker. It is an element over the map instead of a map layer, so that it costs nothing while the map follows the car.

import { element } from "../browser/dom.ts";

/** CarDrawing is the position and size of the car's drawing, in pixels of the screen. */
export interface CarDrawing {
  x: number;
  y: number;
  /** Degrees clockwise from the top of the screen; null if the heading is unknown. */
  rotation: number | null;
  /** The position is the last known one. */
  held: boolean;
  /** Radius of the accuracy circle. */
  accuracyRadius: number;
}

/** Car is the car's marker on the map. */
export interface Car {
  element: HTMLElement;
  draw(drawn: CarDrawing): void;
}

const namespace = "http://www.w3.org/2000/svg";
const maxReach = 4000; // pixels; a larger circle covers the screen anyway

/** svgElement makes an SVG element. */
function svgElement(tag: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const made = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** makeCar makes a marker that is hidden until it is drawn. */
export function makeCar(): Car {
  const accuracyCircle = element("div", { class: "car-reach" });
  const drawing = svgElement("svg", { viewBox: "-32 -32 64 64", class: "car-mark" });
  const arrow = svgElement("path", { d: "M0-25 19 21 0 11-19 21z", class: "car-arrow" });
  const dot = svgElement("circle", { r: "15", class: "car-arrow" });
  drawing.append(svgElement("circle", { r: "30", class: "car-ground" }), arrow, dot);
  const made = element("div", { class: "car", hidden: "", "aria-hidden": "true" }, accuracyCircle, drawing);
  let last: CarDrawing | null = null;
  return {
    element: made,
    draw(drawn) {
      const { x, y, rotation, held } = drawn;
      made.hidden = false;
      if (last?.x !== x || last.y !== y) made.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
      if (last?.rotation !== rotation) {
        arrow.setAttribute("visibility", rotation === null ? "hidden" : "visible");
        dot.setAttribute("visibility", rotation === null ? "visible" : "hidden");
        arrow.setAttribute("transform", `rotate(${(rotation ?? 0).toFixed(1)})`);
      }
      if (last?.held !== held) made.classList.toggle("held", held);
      const size = Math.round(Math.min(drawn.accuracyRadius, maxReach));
      if (last === null || Math.round(Math.min(last.accuracyRadius, maxReach)) !== size) {
        accuracyCircle.hidden = size < 34; // the marker covers it
        accuracyCircle.style.width = accuracyCircle.style.height = `${String(2 * size)}px`;
      }
      last = drawn;
    },
  };
}
