// The names of the roads at the next two junctions, over the map's own names. They are elements: the map's fonts are the operator's.

import { watchAll } from "../browser/observable.ts";
import type { Map as MapLibre } from "maplibre-gl";
import { cleanText } from "../pins/entitylabels.ts";
import { element } from "../browser/dom.ts";
import type { Place } from "../geo/geo.ts";
import { nextJunctions } from "./maneuver.ts";
import type { NavDeps } from "./deps.ts";
import { placeAt } from "./routeline.ts";

const behind = 75; // metres behind the junction, on the road that is named and beyond the arrow
const within = 1500; // metres
const longest = 40; // characters

/** mountJunctionNames draws them over the map. */
export function mountJunctionNames({ host, nav }: NavDeps): void {
  const labels = [0, 1].map(() => element("span", { class: "junction-name", "aria-hidden": "true", hidden: "" }));
  let places: readonly (Place | null)[] = [null, null];
  let map: MapLibre | null = null;
  const move = (): void => {
    labels.forEach((label, i) => {
      const place = places[i];
      if (place === null || place === undefined || map === null) return;
      const { x, y } = map.project(place);
      label.style.transform = `translate(${x.toFixed(0)}px, ${y.toFixed(0)}px) translate(-50%, -50%)`;
    });
  };
  const draw = (): void => {
    const [led, progress] = [nav.led.get(), nav.progress.get()];
    const isLed = led !== null && progress !== null && !progress.isOff && nav.phase.get() === "led" && host.state.names.get();
    const next = isLed ? nextJunctions(led.line, progress.metres).filter(({ metres }) => metres - progress.metres < within) : [];
    places = labels.map((label, i) => {
      const junction = next[i];
      label.hidden = junction === undefined;
      if (junction === undefined || led === null) return null;
      const text = cleanText(junction.name, longest);
      if (label.textContent !== text) label.textContent = text;
      return placeAt(led.line, junction.metres + Math.min(behind, junction.length / 2));
    });
    move();
  };
  host.map.watch((opened) => {
    if (opened === null) return;
    map = opened;
    opened.getCanvasContainer().append(...labels);
    opened.on("move", move);
    draw();
  });
  watchAll([nav.phase, nav.led, nav.progress, host.state.names], draw);
}
