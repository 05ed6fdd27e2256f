// Keeps the driver's places in the browser, and sends a destination to the driver's cars.

import type { Preferences } from "../account.ts";
import { Observable } from "../observable.ts";
import { readStored, store } from "../storage.ts";
import { parseStoredPlaces, withoutRecent, withRecent, withSlot, type KeptPlaces, type Slot } from "./keptplaces.ts";
import { destinationPath } from "./sentdestination.ts";
import type { Destination } from "./types.ts";

/** Key in the browser's local storage. */
const placesKey = "wayside.places";

/** Sent is what became of a destination that was sent to the cars. */
export type Sent = "done" | "noCar" | "failed";

export class PlaceKeeper {
  readonly places = new Observable<KeptPlaces>(parseStoredPlaces(readStored(placesKey)));
  readonly #preferences: Preferences;

  constructor(preferences: Preferences) {
    this.#preferences = preferences;
  }

  visited(destination: Destination): void {
    this.#store(withRecent(this.places.get(), destination));
  }

  forget(destination: Destination): void {
    this.#store(withoutRecent(this.places.get(), destination));
  }

  set(slot: Slot, destination: Destination | null): void {
    this.#store(withSlot(this.places.get(), slot, destination));
  }

  /** maySend reports whether the destination can be sent to a car: from the driver's own browser, which is not a paired screen. */
  maySend(): boolean {
    const person = this.#preferences.person.get();
    return person !== null && person.scope !== "screen";
  }

  async send({ place, name, detail }: Destination): Promise<Sent> {
    try {
      const response = await fetch(destinationPath, { method: "PUT", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ ...place, name, detail }) });
      if (response.ok) return "done";
      return response.status === 409 ? "noCar" : "failed";
    } catch {
      return "failed";
    }
  }

  #store(places: KeptPlaces): void {
    if (places === this.places.get()) return;
    this.places.set(places);
    store(placesKey, JSON.stringify(places));
  }
}
