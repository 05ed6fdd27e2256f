// The driver's votes and the service's replies to them.

import { castVote, complain, getOwnVote, HTTPError, type Vote } from "../net/api.ts";
import type { Preferences } from "../state/account.ts";
import { Observable } from "../browser/observable.ts";
import type { Key } from "../i18n/en.ts";
import type { Actions, State } from "../state/state.ts";

/** Reply is the key of the text shown after a vote or a complaint. */
export type Reply = Extract<Key, `vote.${string}` | `complaint.${string}` | "account.ended" | "link.offline">;

/** replyForError maps an error to a reply. */
export function replyForError(error: unknown): Reply {
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

/** complaintReplyForError maps an error to the reply to a complaint. */
export function complaintReplyForError(error: unknown): Reply {
  const reply = replyForError(error);
  if (reply === "vote.tooMany") return "complaint.tooMany";
  return reply === "vote.failed" ? "complaint.failed" : reply;
}

/** Votes casts the driver's votes and knows their replies. */
export class Votes {
  /** The driver's standing vote by entity. */
  readonly own = new Observable<ReadonlyMap<string, Vote>>(new Map());
  readonly #state: State;
  readonly #actions: Actions;
  readonly #choosing: Preferences;

  constructor(state: State, actions: Actions, preferences: Preferences) {
    this.#state = state;
    this.#actions = actions;
    this.#choosing = preferences;
    let email: string | null = null;
    preferences.person.watch((person) => {
      const now = person?.email ?? null;
      if (email !== null && now !== email) this.#clear();
      email = now;
    });
  }

  /** load reads the driver's standing vote on an entity. */
  async load(id: string): Promise<void> {
    if (this.#choosing.person.get() === null || this.own.get().has(id)) return;
    try {
      const vote = await getOwnVote(id);
      if (vote !== null) this.#setVote(id, vote);
    } catch (error) {
      if (error instanceof HTTPError && error.status === 401) this.#choosing.signedOut();
    }
  }

  /** cast votes; repeating the standing vote withdraws it. */
  async cast(id: string, vote: Vote): Promise<Reply> {
    const wanted = this.own.get().get(id) === vote ? null : vote;
    try {
      await castVote(id, wanted, this.#state.fix.get());
    } catch (error) {
      if (error instanceof HTTPError && error.status === 401) {
        this.#choosing.signedOut();
        return "account.ended";
      }
      return replyForError(error);
    }
    this.#setVote(id, wanted);
    this.#actions.refresh();
    if (wanted === null) return "vote.undone";
    return wanted === "confirm" ? "vote.thanksThere" : "vote.thanksGone";
  }

  /** complain reports the source of an entity to the curators as wrong. */
  async complain(id: string): Promise<Reply> {
    try {
      await complain(id);
    } catch (error) {
      if (error instanceof HTTPError && error.status === 401) {
        this.#choosing.signedOut();
        return "account.ended";
      }
      return complaintReplyForError(error);
    }
    return "complaint.thanks";
  }

  #setVote(id: string, vote: Vote | null): void {
    const own = new Map(this.own.get());
    if (vote === null) own.delete(id);
    else own.set(id, vote);
    this.own.set(own);
    this.#state.voted.set(new Set(own.keys()));
  }

  #clear(): void {
    this.own.set(new Map());
    this.#state.voted.set(new Set());
  }
}
