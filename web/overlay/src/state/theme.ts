// Sets state.theme to day or night, and the attribute that the style sheet reads.

import { serverTime } from "../net/serverclock.ts";
import type { State } from "./state.ts";
import { sunAltitude, themeFor, type Theme } from "../geo/sun.ts";

/** The page's ground, --ground in base.css. */
export const grounds: Readonly<Record<Theme, string>> = { day: "#eef0ea", night: "#12161a" };

const updateInterval = 60_000; // ms

/** keepTheme runs until the page is closed. */
export function keepTheme(state: State): void {
  const darkScheme = window.matchMedia("(prefers-color-scheme: dark)");
  let isKnown = false;
  const update = (): void => {
    const fix = state.fix.get();
    const altitude = fix === null ? null : sunAltitude(fix, serverTime(state.clock.get(), performance.now(), Date.now()));
    state.theme.set(themeFor(state.settings.get().theme, altitude, isKnown ? state.theme.get() : null, darkScheme.matches));
    isKnown = true;
  };
  const colour = document.querySelector<HTMLMetaElement>('meta[name="theme-color"]');
  state.theme.watch((theme) => {
    document.documentElement.dataset["theme"] = theme;
    if (colour !== null) colour.content = grounds[theme]; // of the browser's own bars around the page
  });
  state.settings.watch(update);
  state.clock.watch(update);
  let isPlaced = false;
  state.fix.watch((fix) => {
    if (fix === null || isPlaced) return;
    isPlaced = true;
    update();
  });
  darkScheme.addEventListener("change", update);
  setInterval(update, updateInterval);
}
