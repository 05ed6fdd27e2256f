// What the page has of apps before any is shown: the service writes into the page whether there are apps, and which origins of this
// driver's apps its policy lets in. A page without apps loads nothing more.

import { hasSignedIn } from "../state/account.ts";
import { byId } from "../browser/dom.ts";
import type { State } from "../state/state.ts";
import type { AppsDeps } from "./apps.ts";
import type { AppsMenu } from "./appsmenu.ts";

/** Milliseconds that the first pins have to be drawn, before apps are loaded. */
const pinsFirst = 1000;
/** Milliseconds after which apps are loaded without pins: there may be no position. */
const withoutPins = 5000;

/** LoadApps loads the apps once; after a failure it tries again. */
export type LoadApps = () => Promise<AppsMenu>;

/** awaitApps loads the apps of the account after the first pins; null: the service has none. */
export function awaitApps(state: State, deps: Omit<AppsDeps, "origins" | "state">): LoadApps | null {
  const { apps, account } = byId("main").dataset;
  // A driver who signed in on one of the service's other pages.
  if (account !== undefined && !hasSignedIn()) void deps.preferences.refreshAccount();
  if (apps === undefined) return null;
  let loading: ReturnType<LoadApps> | null = null;
  const load: LoadApps = () => {
    loading ??= import("./apps.ts").then(({ openApps }) => openApps({ ...deps, state, origins: apps.split(" ") }));
    loading.catch(() => {
      loading = null;
    });
    return loading;
  };
  if (apps !== "") {
    const start = (): void => {
      load().catch(console.warn);
    };
    setTimeout(start, withoutPins);
    const stop = state.connection.watch((connection) => {
      if (connection === null || connection.how === "lost") return;
      setTimeout(() => {
        stop();
        start();
      }, pinsFirst);
    });
  }
  return load;
}
