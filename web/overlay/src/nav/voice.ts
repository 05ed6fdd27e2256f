// What is said during a drive.

import type { NavDeps } from "./navigation.ts";
import type { Trip } from "./trippanel.ts";

/** mountVoice says nothing yet. */
export function mountVoice({ nav }: NavDeps, { buttons }: Trip): void {
  buttons.dataset["voice"] = "all";
  nav.voice.set("all");
}
