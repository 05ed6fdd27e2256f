// What is said during a drive.

import type { NavDeps } from "./navigation.ts";

/** mountVoice says nothing yet. */
export function mountVoice({ nav }: NavDeps): void {
  nav.voice.set("all");
}
