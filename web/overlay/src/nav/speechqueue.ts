// Decides what is said next and what is dropped: one utterance at a time, turns before notices before alerts (pure).
//
// Times are milliseconds of performance.now().

/** Rank is how important an utterance is. */
export type Rank = "turn" | "notice" | "alert";

/** Utterance is a text to be spoken. */
export interface Utterance {
  key: string;
  rank: Rank;
  /** Estimated seconds that it takes. */
  seconds: number;
  /** When it is no longer right; turns are replaced and dropped by their place instead. */
  staleAt: number;
}

/** Situation holds the inputs of the choice. */
export interface Situation {
  now: number;
  /** Seconds until the next announcement of a turn, and until the turn; Infinity without one. */
  toAnnouncement: number;
  toManeuver: number;
}

/** SpeechQueue is the state between two steps. Start with `emptyQueue`. */
export interface SpeechQueue<U extends Utterance> {
  waiting: readonly U[];
  /** The utterance that is being spoken. */
  current: U | null;
}

/** emptyQueue is the state before the first utterance. */
export const emptyQueue = { waiting: [], current: null };

/** Seconds before a turn in which nothing else is said. */
const silenceBeforeTurn = 5;
/** Seconds before a turn from which its announcement interrupts another turn's. */
const urgent = 3;
/** The number of utterances that wait; the oldest alerts are dropped first. */
const maxWaiting = 4;

const importance: Readonly<Record<Rank, number>> = { turn: 2, notice: 1, alert: 0 };

/** add puts an utterance into the queue. A turn replaces a turn that waits: only the latest is right. */
export function add<U extends Utterance>({ waiting, current }: SpeechQueue<U>, utterance: U): SpeechQueue<U> {
  const others = waiting.filter(({ rank, key }) => key !== utterance.key && !(rank === "turn" && utterance.rank === "turn"));
  const all = [...others, utterance].sort((a, b) => importance[b.rank] - importance[a.rank]); // keeps the order of equals
  while (all.length > maxWaiting) all.splice(all.findIndex(({ rank }) => rank === all[all.length - 1]?.rank), 1);
  return { waiting: all, current };
}

/** withdraw removes waiting utterances that are no longer wanted. */
export function withdraw<U extends Utterance>({ waiting, current }: SpeechQueue<U>, isWanted: (utterance: U) => boolean): SpeechQueue<U> {
  return { waiting: waiting.filter(isWanted), current };
}

/** Advance is the output of one step. */
export interface Advance<U extends Utterance> {
  queue: SpeechQueue<U>;
  /** The next utterance; the present one is stopped first. */
  start: U | null;
}

/** advance chooses the utterance to speak now. */
export function advance<U extends Utterance>(before: SpeechQueue<U>, situation: Situation): Advance<U> {
  const queue = withdraw(before, ({ staleAt }) => situation.now < staleAt);
  const next = queue.waiting.find((one) => mayStart(one, situation));
  if (next === undefined || !mayReplace(queue.current, next, situation)) return { queue, start: null };
  return { queue: { waiting: queue.waiting.filter((one) => one !== next), current: next }, start: next };
}

function mayStart({ rank, seconds }: Utterance, { toAnnouncement, toManeuver }: Situation): boolean {
  return rank === "turn" || (toAnnouncement >= seconds && toManeuver >= seconds + silenceBeforeTurn);
}

function mayReplace(current: Utterance | null, next: Utterance, { toManeuver }: Situation): boolean {
  if (current === null) return true;
  return next.rank === "turn" && (current.rank !== "turn" || toManeuver < urgent);
}

/** finish notes that an utterance has been said, or could not be. */
export function finish<U extends Utterance>(queue: SpeechQueue<U>, utterance: U): SpeechQueue<U> {
  return queue.current === utterance ? { waiting: queue.waiting, current: null } : queue;
}
