// The signed-in account and the driver's choices, which the browser always stores and the account stores as well.

import { getAccount, getPreferences, putPreferences, HTTPError, signOut } from "../net/api.ts";
import { Observable } from "../browser/observable.ts";
import { accountChoices, withChoice, effectiveSettings, mergeChoices, noStoredChoices, parseChoices, parseStoredChoices, markSent, withoutChoices, serializeChoices, type Choices, type StoredChoices, type Settings } from "../settings/settings.ts";
import { choicesKey } from "./state.ts";
import { forgetPins } from "./pincache.ts";
import { readStored, store } from "../browser/storage.ts";
import type { Account } from "../net/wire.ts";

/** Set after a sign-in in this browser, so that guests' pages send no request that is refused. */
const signedInKey = "wayside.signed-in";

/** Key of the copy of the places that the account keeps (nav/placekeeper.ts), which goes with the sign-out. */
export const accountPlacesKey = "wayside.account-places";

/** hasSignedIn reports whether somebody signed in in this browser and did not sign out. */
export const hasSignedIn = (): boolean => readStored(signedInKey) !== null;

const resendDelay = 30_000; // ms
const sendDebounce = 500; // repeated touches on "larger" cause one request

/** SignedIn is the account that is signed in; null for a guest. */
export type SignedIn = Account | null;

/** Preferences stores the account and the driver's choices, in the browser and in the account. */
export class Preferences {
  readonly person = new Observable<SignedIn>(null);
  readonly #settings: Observable<Settings>;
  #stored: StoredChoices;
  #sending: ReturnType<typeof setTimeout> | undefined;

  constructor(settings: Observable<Settings>) {
    this.#settings = settings;
    this.#stored = parseStoredChoices(readStored(choicesKey));
    this.#store(this.#stored);
  }

  /** start reads the account if somebody signed in here before. */
  start(): void {
    if (hasSignedIn()) void this.refreshAccount();
  }

  /** choose applies a choice immediately and stores it. */
  choose(choice: Choices): void {
    this.#store(withChoice(this.#stored, choice, Date.now(), this.person.get() !== null));
    if (this.person.get() !== null) this.#scheduleSend(sendDebounce);
  }

  /** unchoose returns members to their defaults. */
  unchoose(members: readonly (keyof Settings)[]): void {
    this.#store(withoutChoices(this.#stored, members, Date.now(), this.person.get() !== null));
    if (this.person.get() !== null) this.#scheduleSend(sendDebounce);
  }

  /** reset returns all settings to their defaults. */
  reset(): void {
    this.#store({ ...noStoredChoices, updated: Math.max(Date.now(), this.#stored.updated + 1), unsent: this.person.get() !== null });
    if (this.person.get() !== null) this.#scheduleSend(sendDebounce);
  }

  /** refreshAccount reads the signed-in account and returns false for a guest. */
  async refreshAccount(): Promise<boolean> {
    try {
      await this.signedIn(await getAccount());
    } catch (error) {
      if (error instanceof HTTPError && error.status === 401) this.signedOut();
    }
    return this.person.get() !== null;
  }

  /** signedIn takes over the account's choices, or sends it the browser's. */
  async signedIn(account: Account): Promise<void> {
    store(signedInKey, "1");
    this.person.set(account);
    try {
      this.#store(mergeChoices(this.#stored, { choices: parseChoices(await getPreferences()), updated: null }));
    } catch (error) {
      this.#isFinal(error);
      return; // retried with the next sign-in or page load
    }
    if (this.#stored.unsent) this.#scheduleSend(0);
  }

  /** signedOut forgets the account after the service has answered that the session has ended. */
  signedOut(): void {
    if (hasSignedIn()) void forgetPins(); // they may hold what only the account reads
    store(signedInKey, null);
    store(accountPlacesKey, null);
    this.person.set(null);
  }

  /** signOut ends the session and keeps the choices in this browser. It throws if the service refuses. */
  async signOut(): Promise<void> {
    await signOut();
    clearTimeout(this.#sending);
    this.signedOut();
  }

  #store(stored: StoredChoices): void {
    this.#stored = stored;
    store(choicesKey, serializeChoices(stored));
    this.#settings.set(effectiveSettings(stored.choices, navigator.languages));
  }

  #scheduleSend(wait: number): void {
    clearTimeout(this.#sending);
    this.#sending = setTimeout(() => {
      void this.#send();
    }, wait);
  }

  async #send(): Promise<void> {
    const { choices, updated } = this.#stored;
    try {
      await putPreferences(accountChoices(choices));
      this.#stored = markSent(this.#stored, updated);
      store(choicesKey, serializeChoices(this.#stored));
    } catch (error) {
      if (!this.#isFinal(error)) this.#scheduleSend(resendDelay);
    }
  }

  /** #isFinal reports whether a retry would fail as well. */
  #isFinal(error: unknown): boolean {
    if (!(error instanceof HTTPError)) return false;
    if (error.status === 401) this.signedOut();
    return error.status >= 400 && error.status < 500 && error.status !== 429;
  }
}
