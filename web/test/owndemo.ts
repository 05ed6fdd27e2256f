// The demo of the process that runs a file of tests. Files run side by side, each process with a demo of its own, so that no test sees
// what another one changes. A test that begins the demo's drive to a destination starts yet another demo, since some minutes later the
// town closes a bridge.

import { inject } from "vitest";
import type { DemoPlace } from "./globalsetup.ts";

/** ownDemo returns the demo of this process. */
export function ownDemo(): DemoPlace {
  const demos = inject("demos");
  const demo = demos[(Number(process.env["VITEST_POOL_ID"] ?? 1) - 1) % demos.length];
  if (demo === undefined) throw new Error("no demo was started");
  return demo;
}

/** ownService returns the URL of this process's demo. */
export const ownService = (): string => ownDemo().address;
