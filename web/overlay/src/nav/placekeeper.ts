// Keeps the driver's places in the browser and, if the driver says so, in the account; and sends a destination to the driver's cars.

import { HTTPError } from "../api.ts";
import { Observable } from "../observable.ts";
import type { Preferences } from "../account.ts";
import { readStored, store } from "../storage.ts";
import { mergePlaces, noPlaces, parsePlaces, parseStoredPlaces, withoutRecent, withRecent, withSlot, type KeptPlaces, type Slot } from "./keptplaces.ts";
import type { Destination } from "./types.ts";

/** Key in the browser's local storage. */
const placesKey = "wayside.places";
const placesPath = "/v2/account/places";
const destinationPath = "/v2/account/destination";

/** Sent is what became of a destination that was sent to the cars. */
export type Sent = "done" | "noCar" | "failed";

export class PlaceKeeper {
  readonly places = new Observable<KeptPlaces>(parseStoredPlaces(readStored(placesKey)));
  readonly #preferences: Preferences;
  #isRead = false;

  constructor(preferences: Preferences) {
    this.#preferences = preferences;
    preferences.person.watch((person) => {
      // A shared car: the next driver does not see what belongs to the account.
      if (person === null && this.#isRead && this.places.get().inAccount) this.#store(noPlaces);
      this.#isRead = person !== null;
    });
  }

  get isSignedIn(): boolean {
    return this.#preferences.person.get() !== null;
  }

  /** refresh reads the account's places if they are kept there: another car may have added some. */
  async refresh(): Promise<void> {
    if (!this.isSignedIn) return;
    try {
      const answer = await fetch(placesPath);
      if (!answer.ok) return;
      const { places } = (await answer.json()) as { places: unknown };
      if (places !== null) this.#store({ ...parsePlaces(places), inAccount: true });
      else if (this.places.get().inAccount) this.#store({ ...this.places.get(), inAccount: false }); // turned off elsewhere
    } catch {
      return; // without a connection the browser's copy is shown
    }
  }

  visited(destination: Destination): void {
    this.#change(withRecent(this.places.get(), destination));
  }

  forget(destination: Destination): void {
    this.#change(withoutRecent(this.places.get(), destination));
  }

  set(slot: Slot, destination: Destination | null): void {
    this.#change(withSlot(this.places.get(), slot, destination));
  }

  /** keepInAccount adds the browser's places to the account's, or removes all of them from the account. */
  async keepInAccount(wanted: boolean): Promise<void> {
    if (!wanted) {
      this.#store({ ...this.places.get(), inAccount: false });
      await this.#request("DELETE");
      return;
    }
    const answer = await fetch(placesPath);
    if (!answer.ok) throw new HTTPError(answer);
    const { places } = (await answer.json()) as { places: unknown };
    this.#change(mergePlaces(parsePlaces(places), this.places.get()));
  }

  /** maySend reports whether the destination can be sent to a car: from the driver's own browser, which is not a paired screen. */
  maySend(): boolean {
    const person = this.#preferences.person.get();
    return person !== null && person.scope !== "screen";
  }

  async send({ place, name, detail }: Destination): Promise<Sent> {
    try {
      const response = await fetch(destinationPath, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ place, name, detail }) });
      if (response.ok) return "done";
      return response.status === 409 ? "noCar" : "failed";
    } catch {
      return "failed";
    }
  }

  #change(places: KeptPlaces): void {
    if (places === this.places.get()) return;
    this.#store(places);
    if (places.inAccount && this.isSignedIn) {
      this.#request("PUT", places).catch((error: unknown) => {
        console.warn(error); // the browser has it; the next change sends all
      });
    }
  }

  #store(places: KeptPlaces): void {
    this.places.set(places);
    store(placesKey, JSON.stringify(places));
  }

  async #request(method: "PUT" | "DELETE", places?: KeptPlaces): Promise<void> {
    const body = places === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify({ home: places.home, work: places.work, recent: places.recent }) };
    const response = await fetch(placesPath, { method, ...body });
    if (!response.ok) throw new HTTPError(response);
  }
}
