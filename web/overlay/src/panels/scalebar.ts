// The scale bar: the longest round distance that fits.

import { element } from "../browser/dom.ts";
import type { LengthUnit } from "../i18n/format.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Observable } from "../browser/observable.ts";
import type { Units } from "../settings/settings.ts";
import type { State } from "../state/state.ts";
import { setText } from "../browser/widgets.ts";

const maxWidth = 110; // pixels
const metresPerFoot = 0.3048;
const feetPerMile = 5280;

/** Scale is a round distance and its width on the screen. */
export interface Scale {
  value: number;
  unit: LengthUnit;
  /** Pixels. */
  width: number;
}

/** roundDown returns the largest of 1, 2 and 5 times a power of ten that is not above a value. */
function roundDown(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value) + 1e-9);
  return [5, 2, 1].map((digit) => digit * power).find((one) => one <= value + 1e-9) ?? power;
}

/** scaleFor returns the scale for a number of metres per pixel (pure). */
export function scaleFor(metresPerPixel: number, units: Units): Scale {
  const most = metresPerPixel * maxWidth;
  const [small, large, perSmall, each] = units === "metric" ? (["meter", "kilometer", 1, 1000] as const) : (["foot", "mile", metresPerFoot, feetPerMile] as const);
  const fits = most / perSmall;
  const isLarge = fits >= each;
  const value = roundDown(Math.max(1, isLarge ? fits / each : fits));
  return { value, unit: isLarge ? large : small, width: Math.round((value * perSmall * (isLarge ? each : 1)) / metresPerPixel) };
}

/** makeScaleBar makes the scale bar, which is hidden without a map. */
export function makeScaleBar(state: State, locale: Observable<Locale>): HTMLElement {
  const text = element("span", {});
  const bar = element("span", { class: "bar" });
  const box = element("p", { class: "scale", hidden: "", "aria-hidden": "true" }, text, bar);
  const draw = (): void => {
    const metres = state.metresPerPixel.get();
    box.hidden = metres === null || !state.drawable.get();
    if (metres === null) return;
    const { value, unit, width } = scaleFor(metres, state.settings.get().units);
    setText(text, locale.get().format.length(value, unit));
    bar.style.width = `${String(width)}px`;
  };
  for (const observable of [state.metresPerPixel, state.drawable, locale]) (observable as Observable<unknown>).watch(draw);
  return box;
}
