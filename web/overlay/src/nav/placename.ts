// Names a destination that has none, such as a place on the map, by the nearest place.

import { cleanName } from "./geouri.ts";
import type { NavDeps } from "./deps.ts";
import type { Stop } from "./types.ts";

const within = 0.1; // kilometres: what is farther away names another place

/** namePlace sets the name of a stop once it is known. It fails silently: the place has a name of its own on the screen. */
export async function namePlace({ host, nav, api }: NavDeps, stop: Stop): Promise<void> {
  try {
    const { found } = await api.near(stop.place, [], { kilometres: within, limit: 1 }, host.locale.get().language);
    const [nearest] = found;
    if (nearest === undefined || nearest.name === "") return;
    const named = { place: stop.place, name: cleanName(nearest.name), detail: cleanName(nearest.detail) };
    if (!nav.stops.get().includes(stop)) return; // the driver goes elsewhere
    nav.stops.set(nav.stops.get().map((one) => (one === stop ? named : one)));
    if (nav.destination.get() === stop) nav.destination.set(named);
  } catch {
    // no connection, or no search
  }
}
