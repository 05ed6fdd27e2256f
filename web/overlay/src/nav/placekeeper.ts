// Keeps the driver's places in the browser, and in the account where the driver asked for that; sends a destination to the driver's cars.

import { accountPlacesKey, hasSignedIn, type Preferences } from "../state/account.ts";
import { HTTPError } from "../net/api.ts";
import { Observable } from "../browser/observable.ts";
import { readStored, store } from "../browser/storage.ts";
import { merged, readPlaces, stepsBetween, writePlaces } from "./accountplaces.ts";
import { noPlaces, parseStoredPlaces, withoutRecent, withRecent, withSlot, type KeptPlaces, type Slot } from "./keptplaces.ts";
import { destinationPath } from "./sentdestination.ts";
import type { Destination } from "../state/state.ts";

/** Keys in the browser's local storage: the browser's own places, and that those of the account were changed here and not sent yet. */
const placesKey = "wayside.places";
const unsentKey = "wayside.places-unsent";

const sendDelay = 500; // ms
const resendDelay = 30_000; // ms

/** Sent is the outcome of sending a destination to the cars. */
export type Sent = "done" | "noCar" | "failed";

/** PlaceKeeper stores the driver's places, in the browser or in the account. */
export class PlaceKeeper {
  readonly places: Observable<KeptPlaces>;
  /** Whether the account keeps them; null: nobody is signed in, or it is not known yet. */
  readonly inAccount = new Observable<boolean | null>(null);
  readonly #preferences: Preferences;
  #sending: ReturnType<typeof setTimeout> | undefined;
  /** The account's places, as far as they were read or written here. */
  #stored: KeptPlaces = noPlaces;

  constructor(preferences: Preferences) {
    this.#preferences = preferences;
    const copy = hasSignedIn() ? readStored(accountPlacesKey) : null;
    this.places = new Observable(parseStoredPlaces(copy ?? readStored(placesKey)));
    if (copy !== null) this.inAccount.set(true);
    let signedIn: string | null = null;
    preferences.person.watch((person) => {
      const before = signedIn;
      signedIn = person?.email ?? null;
      if (signedIn !== null && signedIn !== before) void this.#read();
      if (signedIn === null && before !== null) this.#leave();
    });
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

  /** keepInAccount stores the places in the account from now on, or in the browser alone again. It reports whether the service agreed. */
  async keepInAccount(keeps: boolean): Promise<boolean> {
    const own = this.places.get();
    try {
      const places = keeps ? merged((await readPlaces()) ?? noPlaces, own) : null;
      await writePlaces(places);
      this.#stored = places ?? noPlaces;
      clearTimeout(this.#sending);
      store(unsentKey, null);
      store(accountPlacesKey, places === null ? null : JSON.stringify(places));
      store(placesKey, places === null ? JSON.stringify(own) : null);
      this.places.set(places ?? own);
      this.inAccount.set(keeps);
      return true;
    } catch {
      return false;
    }
  }

  /** maySend reports whether the destination can be sent to a car: from the driver's own browser, which is not a paired screen. */
  maySend(): boolean {
    return this.#preferences.person.get() !== null && !this.#isScreen();
  }

  /** mayLeaveAccount reports whether the account can be had keep none: not from a paired screen. */
  mayLeaveAccount(): boolean {
    return !this.#isScreen();
  }

  #isScreen(): boolean {
    return this.#preferences.person.get()?.scope === "screen";
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
    const shared = this.inAccount.get() === true;
    store(shared ? accountPlacesKey : placesKey, JSON.stringify(places));
    if (!shared) return;
    store(unsentKey, "1");
    this.#schedule(sendDelay);
  }

  #schedule(wait: number): void {
    clearTimeout(this.#sending);
    this.#sending = setTimeout(() => {
      void this.#send();
    }, wait);
  }

  async #send(): Promise<void> {
    const places = this.places.get();
    try {
      for (const step of this.#isScreen() ? stepsBetween(this.#stored, places) : [places]) {
        await writePlaces(step);
        this.#stored = step;
      }
      if (places === this.places.get()) store(unsentKey, null);
    } catch (error) {
      if (error instanceof HTTPError && error.status === 403) { // the last place, from a screen: what the account has counts
        store(unsentKey, null);
        void this.#read();
        return;
      }
      const isFinal = error instanceof HTTPError && error.status >= 400 && error.status < 500 && error.status !== 429;
      if (!isFinal) this.#schedule(resendDelay);
    }
  }

  /** #read takes over the account's places, or sends changes that the account does not have yet. */
  async #read(): Promise<void> {
    try {
      const places = await readPlaces();
      if (this.#preferences.person.get() === null) return;
      if (places === null) {
        this.#leave();
        this.inAccount.set(false);
        return;
      }
      this.inAccount.set(true);
      this.#stored = places;
      if (readStored(unsentKey) !== null) {
        this.#schedule(0);
        return;
      }
      this.places.set(places);
      store(accountPlacesKey, JSON.stringify(places));
    } catch {
      // without a connection: what was stored counts until the next sign-in or page load
    }
  }

  /** #leave shows the browser's own places again. */
  #leave(): void {
    clearTimeout(this.#sending);
    store(accountPlacesKey, null);
    store(unsentKey, null);
    this.places.set(parseStoredPlaces(readStored(placesKey)));
    this.inAccount.set(null);
  }
}
