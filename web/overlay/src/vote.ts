// The driver's votes: what they said of which entity, and how the service took it.

import { castVote, getOwnVote, HTTPError, type Vote } from "./api.ts";
import type { Choosing } from "./account.ts";
import { Cell } from "./cell.ts";
import type { Key } from "./i18n/words.ts";
import type { Actions, State } from "./state.ts";

/** Reply is what the driver is told of a vote. */
export type Reply = Extract<Key, `vote.${string}` | "account.ended" | "link.offline">;

/** replyTo puts an error into words. */
export function replyTo(error: unknown): Reply {
  if (!(error instanceof HTTPError)) return "link.offline";
  switch (error.status) {
    case 401:
      return "vote.guest";
    case 404:
      return "vote.late";
    case 429:
      return "vote.tooMany";
    default:
      return "vote.failed";
  }
}

export class Votes {
  /** What the driver said, by entity. */
  readonly own = new Cell<ReadonlyMap<string, Vote>>(new Map());
  readonly #state: State;
  readonly #actions: Actions;
  readonly #choosing: Choosing;

  constructor(state: State, actions: Actions, choosing: Choosing) {
    this.#state = state;
    this.#actions = actions;
    this.#choosing = choosing;
    let who: string | null = null;
    choosing.person.watch((person) => {
      const now = person?.email ?? null;
      if (who !== null && now !== who) this.#forget();
      who = now;
    });
  }

  /** recall asks what the driver said earlier. */
  async recall(id: string): Promise<void> {
    if (this.#choosing.person.get() === null || this.own.get().has(id)) return;
    try {
      const vote = await getOwnVote(id);
      if (vote !== null) this.#note(id, vote);
    } catch (error) {
      if (error instanceof HTTPError && error.status === 401) this.#choosing.lose();
    }
  }

  /** cast votes; who says again what they said takes it back. */
  async cast(id: string, vote: Vote): Promise<Reply> {
    const wanted = this.own.get().get(id) === vote ? null : vote;
    try {
      await castVote(id, wanted);
    } catch (error) {
      if (error instanceof HTTPError && error.status === 401) {
        this.#choosing.lose();
        return "account.ended";
      }
      return replyTo(error);
    }
    this.#note(id, wanted);
    this.#actions.refresh();
    if (wanted === null) return "vote.undone";
    return wanted === "confirm" ? "vote.thanksThere" : "vote.thanksGone";
  }

  #note(id: string, vote: Vote | null): void {
    const own = new Map(this.own.get());
    if (vote === null) own.delete(id);
    else own.set(id, vote);
    this.own.set(own);
    this.#state.voted.set(new Set(own.keys()));
  }

  #forget(): void {
    this.own.set(new Map());
    this.#state.voted.set(new Set());
  }
}
