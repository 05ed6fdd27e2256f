// How finely the map is drawn: coarser while it moves and the browser cannot keep up, and as finely as the screen can once it
// stands. A car's graphics are slow, and a map that jerks is harder to read than one that is a little soft.

import type { Map as MapLibre } from "maplibre-gl";
import type { Presence } from "./map.ts";

/** Shares of the finest resolution, along each side. At the last one a pin's drawing can still be told from another. */
export const shares = [1, 0.85, 0.7, 0.6, 0.5] as const;

const judged = 30; // frames
const slow = 28; // ms: a coarser one is due; 30 frames a second are wanted, the slowest fifth and all
const quick = 25; // ms: so long may a frame of the finer one take, if its time goes with its pixels
const worthwhile = 0.95; // of a frame's time before: else its pixels are not what makes it slow
const fruitless = 2 * judged; // frames before it is tried again; twice as many each time, for what was slow may have been anything
const doublings = 5; // at most

/** Pace is how frames come. */
export interface Pace {
  /** Index of the share that is drawn with. */
  at: number;
  /** Milliseconds between the frames since that is so. */
  gaps: readonly number[];
  /** What a step to a coarser one is compared with: what was drawn with before, and its typical gap. */
  before: { at: number; gap: number } | null;
  /** Frames that are passed over. */
  resting: number;
  /** Steps to a coarser one that were of no use, one after the other. */
  misses: number;
}

/** even is the pace before the first frame. */
export const even: Pace = { at: 0, gaps: [], before: null, resting: 0, misses: 0 };

const share = (at: number): number => shares[at] ?? 1;

/** typical is the mean without the slowest fifth. A median would not do: screens show frames at beats of theirs, two or three long. */
function typical(gaps: readonly number[]): number {
  const most = [...gaps].sort((a, b) => a - b).slice(0, Math.ceil(gaps.length * 0.8));
  return most.reduce((sum, gap) => sum + gap, 0) / most.length;
}

/** coarser is the finest that should be quick enough, were a frame's time all for its pixels; one step at least. */
function coarser(at: number, gap: number): number {
  const found = shares.findIndex((one, i) => i > at && gap * (one / share(at)) ** 2 <= slow);
  return found < 0 ? shares.length - 1 : found;
}

/** afterFrame is the pace after a frame of a moving map that came so many milliseconds after the one before. */
export function afterFrame(pace: Pace, milliseconds: number): Pace {
  const { at, before, resting, misses } = pace;
  if (resting > 0) return { ...pace, resting: resting - 1 };
  const gaps = [...pace.gaps, milliseconds];
  if (gaps.length < judged) return { ...pace, gaps };
  const gap = typical(gaps);
  if (before !== null && gap > before.gap * worthwhile) {
    return { ...even, at: before.at, resting: fruitless * 2 ** Math.min(misses, doublings), misses: misses + 1 };
  }
  const next: Pace = { ...even, at, misses: before === null ? misses : 0 };
  if (gap > slow && at < shares.length - 1) return { ...next, at: coarser(at, gap), before: { at, gap } };
  if (at > 0 && gap * (share(at - 1) / share(at)) ** 2 <= quick) return { ...next, at: at - 1 };
  return next;
}

const standing = 1500; // ms without a move
const few = 3; // frames in a row that move: fewer are a jump, not a drive

/** keepResolution goes on as long as the map is there. The resolution that the map has is the finest. */
export function keepResolution(map: MapLibre, presence: Presence): void {
  const finest = map.getPixelRatio();
  let pace = even;
  let [movedAt, frameAt, moves] = [0, Infinity, 0];
  let isWatching = false;
  const draw = (at: number): void => {
    const ratio = finest * share(at);
    if (map.getPixelRatio() === ratio || !presence.isHere()) return;
    map.setPixelRatio(ratio);
    map.redraw(); // now, for the canvas is empty
  };
  const watch = (now: number): void => {
    isWatching = now - movedAt <= standing;
    if (!isWatching) {
      draw(0);
      return;
    }
    moves = movedAt >= frameAt ? moves + 1 : 0;
    if (moves >= few) {
      pace = afterFrame(pace, now - frameAt);
      draw(pace.at);
    }
    frameAt = now;
    requestAnimationFrame(watch);
  };
  map.on("move", () => {
    movedAt = performance.now();
    if (isWatching) return;
    isWatching = true;
    [frameAt, moves] = [Infinity, 0];
    requestAnimationFrame(watch);
  });
}
