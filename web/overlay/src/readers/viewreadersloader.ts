// Loads the readers of other places than the car's surroundings when they are first needed: the first pins do not need them.

import type { Clocks } from "./nearbyreader.ts";
import type { RequestBudget } from "../net/requestbudget.ts";
import { isWithoutData, type State } from "../state/state.ts";

/** ViewReaders read views and the nearest data. */
export interface ViewReaders {
  /** refresh reads the view again, after the driver has changed something. */
  refresh(): void;
}

/** once calls load until it has succeeded; a failed load is tried again with the next call. */
function once(load: () => Promise<void>): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    load().catch((error: unknown) => {
      isDone = false;
      console.warn(error); // without a connection
    });
  };
}

/** loadViewReaders runs until the page is closed. */
export function loadViewReaders(state: State, budget: RequestBudget, clocks: Clocks): ViewReaders {
  let refresh = (): void => undefined;
  const loadViews = once(async () => {
    const { ViewReader } = await import("./viewreaders.ts");
    const reader = new ViewReader(state, budget, clocks);
    reader.start();
    refresh = () => {
      reader.refresh();
    };
  });
  const loadNearest = once(async () => {
    const { NearestReader } = await import("./viewreaders.ts");
    new NearestReader(state, budget, clocks).start();
  });
  state.viewport.watch((viewport) => {
    if (viewport !== null) loadViews();
  });
  const look = (): void => {
    if (isWithoutData(state)) loadNearest();
  };
  state.known.watch(look);
  // The connection is known before the first pins are.
  state.connection.watch(() => setTimeout(look));
  return {
    refresh() {
      refresh();
    },
  };
}
