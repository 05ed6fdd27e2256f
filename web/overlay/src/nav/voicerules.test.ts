import { describe, expect, test } from "vitest";
import type { LineStep } from "./routeline.ts";
import type { Maneuver, Step } from "./types.ts";
import { announcementsOf, dueAt, isStale, secondsToNext, toneOf } from "./voicerules.ts";

/** stepOf is a step from one place of the line to another, with announcements at so many metres before its end. */
function stepOf(start: number, end: number, said: readonly number[], maneuver: Partial<Maneuver> = {}): LineStep {
  const step: Partial<Step> = {
    distance: end - start,
    maneuver: { type: "turn", bearing_before: 0, bearing_after: 0, location: [0, 0], ...maneuver },
    voiceInstructions: said.map((distanceAlongGeometry) => ({ distanceAlongGeometry, announcement: `${String(distanceAlongGeometry)} m`, ssmlAnnouncement: "" })),
  };
  return { step: step as Step, leg: 0, first: 0, last: 0, start, end };
}

/** line: 3 000 m of a fast road with an opening, then 400 m in a town, then the end. */
const line = {
  steps: [
    stepOf(0, 3000, [3000, 2000, 1000, 300], { type: "depart" }),
    stepOf(3000, 3400, [200, 80], { modifier: "left" }),
    stepOf(3400, 3400, [], { type: "arrive" }),
  ],
};
const all = announcementsOf(line);

/** drive returns what is said between two places, with where. */
function drive(from: number, to: number, speed: number, over = new Set<string>()): [number, string][] {
  const said: [number, string][] = [];
  for (let metres = from; metres <= to; metres += speed) {
    const due = dueAt(all, metres, speed, over);
    for (const key of due.over) over.add(key);
    if (due.announce !== null) said.push([metres, due.announce.voice.announcement]);
  }
  return said;
}

describe("announcements of a route", () => {
  test("each is said once, at its place, and before its maneuver", () => {
    expect(drive(0, 3400, 20)).toEqual([[0, "3000 m"], [1000, "2000 m"], [2000, "1000 m"], [2700, "300 m"], [3200, "200 m"], [3320, "80 m"]]);
  });

  test("a car that jumps hears the latest alone", () => {
    const over = new Set<string>();
    drive(0, 0, 20, over);
    expect(drive(2720, 2760, 20, over)).toEqual([[2720, "300 m"]]);
  });

  test("a distance that is no longer right is not said", () => {
    expect(drive(1500, 1900, 20)).toEqual([]);
    expect(drive(1300, 1320, 20)).toEqual([[1300, "2000 m"]]);
  });

  test("what is said last before a maneuver is right up to it, and not behind it", () => {
    const last = all.find(({ isFinal }) => isFinal);
    if (last === undefined) throw new Error("there is none");
    expect(isStale(last, 2999, 30)).toBe(false);
    expect(isStale(last, 3000, 30)).toBe(true);
  });

  test("the road that begins is told of only where it begins", () => {
    expect(drive(100, 140, 5)).toEqual([]);
    expect(drive(50, 60, 5)).toEqual([[50, "3000 m"]]);
  });

  test("the next announcement and the next maneuver, in seconds", () => {
    expect(secondsToNext(line, all, 2600, 20)).toEqual({ announcement: 5, maneuver: 20 });
    expect(secondsToNext(line, all, 3390, 10)).toEqual({ announcement: Infinity, maneuver: 1 });
    expect(secondsToNext(line, all, 2999, 0).maneuver).toBe(1);
  });
});

test("tones differ by direction", () => {
  const tones = (["right", "left", "straight", "uturn"] as const).map((modifier) => JSON.stringify(toneOf(stepOf(0, 1, [], { modifier }))));
  tones.push(JSON.stringify(toneOf(stepOf(0, 1, [], { type: "arrive", modifier: "left" }))));
  expect(new Set(tones).size).toBe(5);
  expect(toneOf(stepOf(0, 1, [], { modifier: "slight right" }))).toEqual(toneOf(stepOf(0, 1, [], { modifier: "sharp right" })));
  expect(toneOf(undefined)).toEqual(toneOf(stepOf(0, 1, [], { modifier: "straight" })));
});
