// Decides when a session is requested, with which wish, and when the request is repeated (pure). sessionopener.ts sends the requests.
//
// The wish is kept until a session is open: neither the return of the network nor another wish discards it.

import { backoff } from "../net/reconnect.ts";
import type { Led } from "./state.ts";

/** Wish is the purpose of a request for a session. */
export interface Wish {
  /** Which of the routes on the screen is driven. */
  chosen: number;
  /** The session's route is taken also where it goes another way than the present one. */
  adopts: boolean;
  /** Why it is another route, if it is. */
  reason: Led["reason"];
  entityIDs: readonly string[];
  /** Id of a session that was lost, and goes on. */
  resumes: string | null;
}

/** Opening is the state between two events. Start with `noOpening`. */
export interface Opening {
  /** The purpose of the next session; null: none is wanted. */
  wish: Wish | null;
  /**
   * What the wish waits for: "nothing" to wait for, a "place" of the car, the "time" of the next attempt, or the "answer" to a request.
   */
  waitsFor: "nothing" | "place" | "time" | "answer";
  /** Attempts since the last session. */
  failures: number;
  /** Sessions that were lost one shortly after the other. */
  losses: number;
  /** When the last session began. */
  openedAt: number;
}

/** noOpening is the state without a drive. */
export const noOpening: Opening = { wish: null, waitsFor: "nothing", failures: 0, losses: 0, openedAt: -Infinity };

/** OpeningEvent is an event of the opening of sessions. random is within [0, 1), now is milliseconds of a monotonic clock. */
export type OpeningEvent =
  /** A session is to be asked for immediately. */
  | { name: "ask"; wish: Partial<Wish> }
  /** The route is to be another one; where a session is asked for already, it is that one's. */
  | { name: "want"; wish: Partial<Wish> }
  /** The car's place is unknown, so that no request was sent. */
  | { name: "placeless" }
  /** The car's place is known. */
  | { name: "place" }
  | { name: "opened"; now: number }
  /** wait is the delay in milliseconds that the service asks for; null: none. */
  | { name: "failed"; random: number; wait: number | null }
  /** The time of the next attempt has come. */
  | { name: "due" }
  /** The browser reports that the network has returned. */
  | { name: "online" }
  /** The service no longer knows the session, or its node hands the driver over. */
  | { name: "lost"; id: string; isMoved: boolean; now: number; random: number }
  /** The drive has ended. */
  | { name: "ended" };

/** OpeningEffect is an action that follows from an event. Effects are executed in order. */
export type OpeningEffect =
  /** open sends a request with the wish. */
  | { do: "open"; wish: Wish }
  /** wait dispatches "due" after so many milliseconds. */
  | { do: "wait"; milliseconds: number }
  /** cancel breaks off a request, and a wait. */
  | { do: "cancel" };

const noWish: Wish = { chosen: 0, adopts: false, reason: null, entityIDs: [], resumes: null };

/** Cars whose node stopped are spread over this time by chance. */
const maxMovedWait = 300; // ms
const maxLostWait = 1000; // ms
/** A session that lasts this long counts as found for good. */
const stableAfter = 60_000; // ms

/** step returns the state after an event, and the effects to execute. */
export function step(opening: Opening, event: OpeningEvent): [Opening, readonly OpeningEffect[]] {
  switch (event.name) {
    case "ask":
      return ask({ ...opening, wish: merge(opening.wish, event.wish) });
    case "want": {
      const wish = merge(opening.wish, event.wish);
      return opening.waitsFor === "time" || opening.waitsFor === "answer" ? [{ ...opening, wish }, []] : ask({ ...opening, wish });
    }
    case "placeless":
      return opening.waitsFor === "answer" ? [{ ...opening, waitsFor: "place" }, []] : [opening, []];
    case "place":
      return opening.waitsFor === "place" ? ask(opening) : [opening, []];
    case "opened":
      return [{ ...opening, wish: null, waitsFor: "nothing", failures: 0, openedAt: event.now }, []];
    case "failed": {
      if (opening.waitsFor !== "answer") return [opening, []];
      const failures = opening.failures + 1;
      return [{ ...opening, failures, waitsFor: "time" }, [{ do: "wait", milliseconds: Math.max(event.wait ?? 0, backoff(failures, event.random)) }]];
    }
    case "due":
      return opening.waitsFor === "time" ? ask(opening) : [opening, []];
    case "online":
      return opening.waitsFor === "time" ? ask({ ...opening, failures: 0 }) : [opening, []];
    case "lost":
      return lose(opening, event);
    case "ended":
      return [noOpening, [{ do: "cancel" }]];
  }
}

/** ask sends a request with the wish in place of any other. */
function ask(opening: Opening): [Opening, readonly OpeningEffect[]] {
  const wish = opening.wish ?? noWish;
  return [{ ...opening, wish, waitsFor: "answer" }, [{ do: "cancel" }, { do: "open", wish }]];
}

/** lose waits a moment before another session is asked for, and longer if that one is lost shortly, too: many cars lose theirs together. */
function lose(opening: Opening, { id, isMoved, now, random }: { id: string; isMoved: boolean; now: number; random: number }): [Opening, readonly OpeningEffect[]] {
  const wish = merge(opening.wish, { resumes: id });
  if (opening.waitsFor !== "nothing") return [{ ...opening, wish }, []];
  const losses = now - opening.openedAt >= stableAfter ? 1 : opening.losses + 1;
  const first = random * (isMoved ? maxMovedWait : maxLostWait);
  return [{ ...opening, wish, losses, waitsFor: "time" }, [{ do: "wait", milliseconds: losses === 1 ? first : backoff(losses - 1, random) }]];
}

/** merge adds a wish to one that is not fulfilled yet. A route that was chosen of others counts until the stops are changed. */
function merge(before: Wish | null, added: Partial<Wish>): Wish {
  if (before === null) return { ...noWish, ...added };
  const isOther = added.adopts === true;
  return {
    chosen: added.chosen ?? (isOther ? 0 : before.chosen),
    adopts: before.adopts || isOther,
    reason: added.reason ?? before.reason,
    entityIDs: added.reason === undefined || added.reason === null ? before.entityIDs : (added.entityIDs ?? []),
    resumes: added.resumes ?? before.resumes,
  };
}

/** Taking is the use of a new session's route: the present one "stays", or the new one is led, offered, or led beyond the next junction. */
export type Taking = "stays" | "leads" | "offers" | "follows";

/** A way is offered if it is faster by this, as the service does it (D15.21). */
const minGain = 60; // seconds
const minGainShare = 0.1; // of what is left

/**
 * takingOf says what becomes of a session's route, of which left are the seconds that the present route still takes; null: there is no
 * present one. A way that was found while the session was lost is offered if it is faster, as its event would have been.
 */
export function takingOf({ adopts, resumes }: Pick<Wish, "adopts" | "resumes">, { isSame, isPinned, left, duration }: { isSame: boolean; isPinned: boolean; left: number | null; duration: number }): Taking {
  if (left === null || adopts) return "leads";
  if (isPinned || isSame) return "stays";
  if (resumes === null) return "leads";
  return left - duration >= Math.max(minGain, left * minGainShare) ? "offers" : "follows";
}
