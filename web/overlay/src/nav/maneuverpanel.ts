// The next maneuver and what is left of the drive.

import { element } from "../dom.ts";
import { makeButton, setText } from "../widgets.ts";
import type { NavDeps } from "./navigation.ts";

export function mountManeuverPanel({ host, nav, actions }: NavDeps): void {
  const figure = element("strong", { class: "figure" });
  const text = element("span", { class: "primary" });
  const panel = element("section", { class: "maneuver panel", hidden: "" }, figure, text);
  const left = element("span", { class: "left" });
  const end = makeButton({ class: "end" }, () => {
    actions.end();
  }, "End");
  const trip = element("section", { class: "trip panel", hidden: "" }, left, end);
  host.slots.head.prepend(panel);
  host.slots.foot.append(trip);
  const draw = (): void => {
    const led = nav.led.get();
    const progress = nav.progress.get();
    panel.hidden = trip.hidden = nav.phase.get() !== "led";
    if (led === null || progress === null) return;
    const { format } = host.locale.get();
    const step = led.line.steps.find(({ end: stepEnd }) => stepEnd > progress.metres) ?? led.line.steps[led.line.steps.length - 1];
    setText(figure, format.distance((step?.end ?? 0) - progress.metres).text);
    setText(text, step?.step.bannerInstructions?.[0]?.primary.text ?? "");
    const arrival = nav.arrivals.get()[0];
    setText(left, arrival === undefined ? "" : `${format.duration(arrival.seconds * 1000)} · ${format.distance(arrival.metres).text}`);
  };
  for (const observable of [nav.phase, nav.led, nav.progress, nav.arrivals, host.locale]) (observable as { watch(watcher: () => void): unknown }).watch(draw);
}
