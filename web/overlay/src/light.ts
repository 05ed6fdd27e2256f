// Day or night: keeps state.theme, and what the style sheet reads of it.

import { serverTime } from "./serverclock.ts";
import type { State } from "./state.ts";
import { sunAltitude, themeFor } from "./sun.ts";

const every = 60_000; // ms

/** watchLight goes on until the page is closed. */
export function watchLight(state: State): void {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let known = false;
  const look = (): void => {
    const fix = state.fix.get();
    const altitude = fix === null ? null : sunAltitude(fix, serverTime(state.clock.get(), performance.now(), Date.now()));
    state.theme.set(themeFor(state.settings.get().theme, altitude, known ? state.theme.get() : null, dark.matches));
    known = true;
  };
  state.theme.watch((theme) => {
    document.documentElement.dataset["theme"] = theme;
  });
  state.settings.watch(look);
  state.clock.watch(look);
  let placed = false;
  state.fix.watch((fix) => {
    if (fix === null || placed) return;
    placed = true;
    look();
  });
  dark.addEventListener("change", look);
  setInterval(look, every);
}
