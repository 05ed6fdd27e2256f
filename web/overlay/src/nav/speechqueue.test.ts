import { describe, expect, test } from "vitest";
import { add, advance, emptyQueue, finish, withdraw, type Rank, type Situation, type SpeechQueue, type Utterance } from "./speechqueue.ts";

const say = (rank: Rank, key: string, seconds = 3, staleAt = Infinity): Utterance => ({ key, rank, seconds, staleAt });
const queueOf = (...all: Utterance[]): SpeechQueue<Utterance> => all.reduce<SpeechQueue<Utterance>>(add, emptyQueue);
const onOpenRoad: Situation = { now: 0, toAnnouncement: Infinity, toManeuver: Infinity };

describe("one thing at a time", () => {
  test("turns come before notices, and notices before alerts", () => {
    let queue = queueOf(say("alert", "camera"), say("notice", "closed"), say("turn", "left"));
    const order: string[] = [];
    for (;;) {
      const { queue: next, start } = advance(queue, onOpenRoad);
      if (start === null) break;
      order.push(start.key);
      expect(advance(next, onOpenRoad).start, "nothing while something is said").toBeNull();
      queue = finish(next, start);
    }
    expect(order).toEqual(["left", "closed", "camera"]);
  });

  test("a turn interrupts an alert, and another turn only right before the maneuver", () => {
    const speaking = advance(queueOf(say("alert", "camera")), onOpenRoad).queue;
    expect(advance(add(speaking, say("turn", "left")), onOpenRoad).start?.key).toBe("left");
    const turning = advance(queueOf(say("turn", "in 200 m")), onOpenRoad).queue;
    expect(advance(add(turning, say("turn", "now")), { ...onOpenRoad, toManeuver: 6 }).start).toBeNull();
    expect(advance(add(turning, say("turn", "now")), { ...onOpenRoad, toManeuver: 2 }).start?.key).toBe("now");
    expect(advance(add(speaking, say("alert", "jam")), onOpenRoad).start).toBeNull();
  });

  test("finishing what was interrupted changes nothing", () => {
    const first = advance(queueOf(say("alert", "camera")), onOpenRoad);
    const second = advance(add(first.queue, say("turn", "left")), onOpenRoad);
    if (first.start === null) throw new Error("nothing was said");
    expect(finish(second.queue, first.start).current?.key).toBe("left");
  });
});

describe("before a turn", () => {
  test("nothing but the turn is said in the last five seconds", () => {
    for (const rank of ["alert", "notice"] as const) {
      expect(advance(queueOf(say(rank, "x", 3)), { ...onOpenRoad, toManeuver: 7.9 }).start, rank).toBeNull();
      expect(advance(queueOf(say(rank, "x", 3)), { ...onOpenRoad, toManeuver: 8 }).start?.key, rank).toBe("x");
    }
    expect(advance(queueOf(say("turn", "now")), { ...onOpenRoad, toManeuver: 1 }).start?.key).toBe("now");
  });

  test("an alert does not begin where it would be interrupted", () => {
    expect(advance(queueOf(say("alert", "camera", 3)), { now: 0, toAnnouncement: 2, toManeuver: 30 }).start).toBeNull();
  });
});

describe("what waits", () => {
  test("alerts are dropped when they are stale", () => {
    const queue = queueOf(say("alert", "camera", 3, 6000));
    const waiting = advance(queue, { now: 5999, toAnnouncement: 1, toManeuver: 1 }).queue;
    expect(waiting.waiting).toHaveLength(1);
    expect(advance(waiting, { now: 6000, toAnnouncement: Infinity, toManeuver: Infinity })).toEqual({ queue: emptyQueue, start: null });
  });

  test("a turn replaces a turn that waits", () => {
    expect(queueOf(say("turn", "in 200 m"), say("turn", "now")).waiting.map(({ key }) => key)).toEqual(["now"]);
  });

  test("few things wait: the oldest alert goes first", () => {
    const queue = queueOf(...[1, 2, 3, 4, 5, 6].map((i) => say("alert", String(i))), say("turn", "left"));
    expect(queue.waiting.map(({ key }) => key)).toEqual(["left", "4", "5", "6"]);
  });

  test("what is withdrawn is not said", () => {
    expect(withdraw(queueOf(say("alert", "camera"), say("turn", "left")), ({ rank }) => rank === "alert").waiting.map(({ key }) => key)).toEqual(["camera"]);
  });
});
