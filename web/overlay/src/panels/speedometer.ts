// The driver's own speed, and beside it the limit of the route, or of the last camera.

import { element } from "../browser/dom.ts";
import { limitAfter, type PassedLimit } from "../alerts/drivenlimit.ts";
import type { Format } from "../i18n/format.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Observable } from "../browser/observable.ts";
import type { State } from "../state/state.ts";
import { setAttribute, setText } from "../browser/widgets.ts";

const updateInterval = 1000; // ms
const kmhPerMetrePerSecond = 3.6;

/** isOver compares the figures that the driver reads, so that "80" is never over "80" (pure). */
export function isOver(speed: number, limitKmh: number, format: Format): boolean {
  return Number(format.speed(speed).value) > Number(format.speed(limitKmh / kmhPerMetrePerSecond).value);
}

/** makeSpeedometer makes the speedometer, which is hidden while no speed is known. */
export function makeSpeedometer(state: State, locale: Observable<Locale>): HTMLElement {
  const value = element("strong", {});
  const unit = element("span", { class: "unit" });
  const name = element("span", { class: "unseen" });
  const own = element("p", { class: "speed panel" }, name, value, " ", unit);
  const limitName = element("span", { class: "unseen" });
  const figure = element("span", {});
  const sign = element("p", { class: "limit", hidden: "" }, limitName, figure);
  const box = element("div", { class: "dash", hidden: "" }, own, sign);
  let limit: PassedLimit | null = null;
  const draw = (): void => {
    const { say: speak, format } = locale.get();
    const pose = state.pose();
    const speed = pose?.speed ?? null;
    box.hidden = speed === null;
    if (pose === null || speed === null) return;
    const written = format.speed(speed);
    setText(name, `${speak("speed.own")}: `);
    setText(value, pose.held ? "–" : written.value);
    setText(unit, written.unit);
    const kmh = state.guidance.get()?.limit() ?? limit?.kmh ?? Infinity;
    sign.hidden = kmh === Infinity;
    const over = !pose.held && isOver(speed, kmh, format);
    setAttribute(own, "data-over", String(over));
    if (kmh === Infinity) return;
    setText(limitName, `${speak("speed.limit")}: `);
    setText(figure, format.speed(kmh / kmhPerMetrePerSecond).value);
  };
  state.motion.watch(() => {
    limit = limitAfter(limit, state.pose(), state.entities.get());
    draw();
  });
  locale.watch(draw);
  setInterval(draw, updateInterval); // for a position that is lost
  return box;
}
