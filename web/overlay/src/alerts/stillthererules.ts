// When the driver is asked whether a passed pin is still there (pure). Times are milliseconds of a monotonic clock.

import { minSpeed, ordinaryLeadAt } from "./alertrules.ts";
import type { AlertCandidate, Alerts } from "./alerts.ts";

/** Milliseconds for which the question is shown. */
export const askFor = 8000;
/** Milliseconds for which the reply to an answer is shown. */
export const replyFor = 3000;
/** Milliseconds after which a guest has seen the question: one that gives way to a banner earlier does not count. */
const seenAfter = 2000;
/** Milliseconds of standing after which a drive has ended. */
const driveEndsAfter = 20 * 60 * 1000;

/** Asking is the state between two steps. Start with `initialAsking`. */
export interface Asking {
  /** The pin about which the driver is asked; null if there is none. */
  pin: AlertCandidate | null;
  /** When the question disappears. */
  until: number;
  /** The driver has answered, and the reply is shown. */
  answered: boolean;
  /** A guest was asked during this drive, and a driver who closed the question counts as asked. */
  guestAsked: boolean;
  /** When the car last moved. */
  movedAt: number;
}

/** initialAsking is the state before the first step. */
export const initialAsking: Asking = { pin: null, until: 0, answered: false, guestAsked: false, movedAt: -Infinity };

/** AskingInput is the input of one step. */
export interface AskingInput {
  now: number;
  alerts: Pick<Alerts, "banner" | "passed">;
  /** Metres per second; null if unknown. */
  speed: number | null;
  isGuest: boolean;
  /** Answers reach the service. */
  isConnected: boolean;
  /** The driver's factor on the lead. */
  lead: number;
}

/** isDecaying reports whether a pin disappears by itself unless drivers confirm it. A zone does not show its cause. */
const isDecaying = ({ entity, zone }: AlertCandidate): boolean => entity.expires_at !== null && zone === 0;

/** stepAsking runs with each update of the alerts. */
export function stepAsking(before: Asking, { now, alerts, speed, isGuest, isConnected, lead }: AskingInput): Asking {
  const isMoving = speed !== null && speed >= minSpeed;
  const movedAt = isMoving ? now : before.movedAt;
  const hasSeen = isGuest && before.pin !== null && now - (before.until - askFor) >= seenAfter;
  const guestAsked = (before.guestAsked || hasSeen) && now - movedAt < driveEndsAfter;
  const asking = { ...before, movedAt, guestAsked };
  // A banner within the ordinary lead is about a pin that the car reaches in some seconds. A jam far ahead can wait.
  const { banner, passed } = alerts;
  const isUrgent = banner !== null && banner.distance <= ordinaryLeadAt(speed ?? 0, lead);
  if (isUrgent) return { ...asking, pin: null };
  if (passed !== null && isConnected && isDecaying(passed) && !(isGuest && guestAsked)) {
    return { ...asking, pin: passed, until: now + askFor, answered: false };
  }
  return now >= asking.until ? { ...asking, pin: null } : asking;
}

/** answer keeps the panel for the reply. */
export function answer(before: Asking, now: number): Asking {
  return { ...before, until: now + replyFor, answered: true };
}

/** close hides the panel on the driver's wish. */
export function close(before: Asking): Asking {
  return { ...before, pin: null, guestAsked: true };
}
