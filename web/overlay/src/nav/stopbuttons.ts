// The buttons with which a led driver adds a stop or a charger.

import { watchAll } from "../browser/observable.ts";
import { makeButton, setLabel } from "../browser/widgets.ts";
import type { Choice } from "./choice.ts";
import { makeNavIcon } from "./navicons.ts";
import type { NavDeps } from "./deps.ts";

/** mountStopButtons adds them to the buttons at the edge of the map. */
export function mountStopButtons({ host, nav }: NavDeps, choice: Choice): void {
  const controls = host.slots.all.querySelector(".controls");
  const stops = makeButton({ class: "signed", id: "nav-stops", hidden: "" }, () => {
    choice.showStops();
  }, makeNavIcon("add"));
  const chargers = makeButton({ class: "signed", id: "nav-chargers", hidden: "" }, () => {
    choice.showChargers();
  }, makeNavIcon("charger"));
  controls?.prepend(stops, chargers);
  watchAll([nav.phase, host.locale], () => {
    const { say } = host.locale.get();
    stops.hidden = chargers.hidden = nav.phase.get() !== "led";
    setLabel(stops, say("nav.stops"));
    setLabel(chargers, say("nav.chargers"));
  });
}
