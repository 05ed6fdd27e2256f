// Who is signed in, and what the driver chose: in the browser always, in the account as well.

import { getAccount, getPreferences, putPreferences, HTTPError, signOut } from "./api.ts";
import { Cell } from "./cell.ts";
import { choose, inForce, merge, nothingKept, readChoices, readKept, sent, unchoose, writeKept, type Choices, type Kept, type Settings } from "./settings.ts";
import { keptUnder } from "./state.ts";
import { readStored, store } from "./storage.ts";
import type { Account } from "./wire.ts";

/** Says that somebody was signed in here, so that guests' cars ask nothing that is refused. */
const signedUnder = "wayside.signed-in";

const resendAfter = 30_000; // ms
const sendAfter = 500; // a finger on "larger" comes again

/** Person is the account that is signed in; null: a guest. */
export type Person = Account | null;

export class Choosing {
  readonly person = new Cell<Person>(null);
  readonly #settings: Cell<Settings>;
  #kept: Kept;
  #sending: ReturnType<typeof setTimeout> | undefined;

  constructor(settings: Cell<Settings>) {
    this.#settings = settings;
    this.#kept = readKept(readStored(keptUnder));
    this.#keep(this.#kept);
  }

  /** start asks who is signed in, if somebody was. */
  start(): void {
    if (readStored(signedUnder) !== null) void this.ask();
  }

  /** choose lets a choice hold at once, and keeps it. */
  choose(choice: Choices): void {
    this.#keep(choose(this.#kept, choice, Date.now(), this.person.get() !== null));
    if (this.person.get() !== null) this.#sendIn(sendAfter);
  }

  /** unchoose lets the defaults count again. */
  unchoose(members: readonly (keyof Settings)[]): void {
    this.#keep(unchoose(this.#kept, members, Date.now(), this.person.get() !== null));
    if (this.person.get() !== null) this.#sendIn(sendAfter);
  }

  /** forget goes back to what holds for a driver who chose nothing. */
  forget(): void {
    this.#keep({ ...nothingKept, updated: Math.max(Date.now(), this.#kept.updated + 1), unsent: this.person.get() !== null });
    if (this.person.get() !== null) this.#sendIn(sendAfter);
  }

  /** ask finds out who is signed in; false: nobody. */
  async ask(): Promise<boolean> {
    try {
      await this.welcome(await getAccount());
    } catch (error) {
      if (error instanceof HTTPError && error.status === 401) this.lose();
    }
    return this.person.get() !== null;
  }

  /** welcome takes over the account's choices, or gives it the browser's. */
  async welcome(account: Account): Promise<void> {
    store(signedUnder, "1");
    this.person.set(account);
    try {
      this.#keep(merge(this.#kept, { choices: readChoices(await getPreferences()), updated: null }));
    } catch (error) {
      this.#refused(error);
      return; // with the next sign-in or the next opening of the page
    }
    if (this.#kept.unsent) this.#sendIn(0);
  }

  /** lose is for when the service says that nobody is signed in any more. */
  lose(): void {
    store(signedUnder, null);
    this.person.set(null);
  }

  /** signOut keeps what was chosen in this browser. It throws what the service refuses. */
  async signOut(): Promise<void> {
    await signOut();
    clearTimeout(this.#sending);
    this.lose();
  }

  #keep(kept: Kept): void {
    this.#kept = kept;
    store(keptUnder, writeKept(kept));
    this.#settings.set(inForce(kept.choices, navigator.languages));
  }

  #sendIn(wait: number): void {
    clearTimeout(this.#sending);
    this.#sending = setTimeout(() => {
      void this.#send();
    }, wait);
  }

  async #send(): Promise<void> {
    const { choices, updated } = this.#kept;
    try {
      await putPreferences(choices);
      this.#kept = sent(this.#kept, updated);
      store(keptUnder, writeKept(this.#kept));
    } catch (error) {
      if (!this.#refused(error)) this.#sendIn(resendAfter);
    }
  }

  /** #refused says whether there is no sense in trying again. */
  #refused(error: unknown): boolean {
    if (!(error instanceof HTTPError)) return false;
    if (error.status === 401) this.lose();
    return error.status >= 400 && error.status < 500 && error.status !== 429;
  }
}
