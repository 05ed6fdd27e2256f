// How finely the map is drawn: coarser while it moves and the browser cannot keep up, and as finely as the screen can once it
// stands. A car's graphics are slow, and a map that jerks is harder to read than one that is a little soft.

import type { Map as MapLibre } from "maplibre-gl";
import type { ContextState } from "./map.ts";

/** Shares of the finest resolution, along each side. At the last one a pin's drawing can still be told from another. */
export const shares = [1, 0.85, 0.7, 0.6, 0.5] as const;

const framesPerJudgement = 30; // frames
const maxFrameTime = 28; // ms: a coarser one is due; 30 frames a second are wanted, the slowest fifth and all
const maxFinerFrameTime = 25; // ms: so long may a frame of the finer one take, if its time goes with its pixels
const minImprovement = 0.95; // of a frame's time before: else its pixels are not what makes it slow
const framesBeforeRetry = 2 * framesPerJudgement; // frames before it is tried again; twice as many each time, for what was slow may have been anything
const maxDoublings = 5; // at most

/** FrameStats is how frames come. */
export interface FrameStats {
  /** Index of the share that is drawn with. */
  at: number;
  /** Milliseconds between the frames since that is so. */
  frameTimes: readonly number[];
  /** What a step to a coarser one is compared with: what was drawn with before, and its typical gap. */
  before: { at: number; frameTime: number } | null;
  /** Frames that are passed over. */
  skippedFrames: number;
  /** Steps to a coarser one that were of no use, one after the other. */
  failedSteps: number;
}

/** initialStats is the pace before the first frame. */
export const initialStats: FrameStats = { at: 0, frameTimes: [], before: null, skippedFrames: 0, failedSteps: 0 };

const share = (at: number): number => shares[at] ?? 1;

/** typicalFrameTime is the mean without the slowest fifth. A median would not do: screens show frames at beats of theirs, two or three long. */
function typicalFrameTime(frameTimes: readonly number[]): number {
  const fastest = [...frameTimes].sort((a, b) => a - b).slice(0, Math.ceil(frameTimes.length * 0.8));
  return fastest.reduce((sum, frameTime) => sum + frameTime, 0) / fastest.length;
}

/** coarser is the finest that should be quick enough, were a frame's time all for its pixels; one step at least. */
function coarser(at: number, frameTime: number): number {
  const found = shares.findIndex((one, i) => i > at && frameTime * (one / share(at)) ** 2 <= maxFrameTime);
  return found < 0 ? shares.length - 1 : found;
}

/** afterFrame is the pace after a frame of a moving map that came so many milliseconds after the one before. */
export function afterFrame(stats: FrameStats, milliseconds: number): FrameStats {
  const { at, before, skippedFrames, failedSteps } = stats;
  if (skippedFrames > 0) return { ...stats, skippedFrames: skippedFrames - 1 };
  const frameTimes = [...stats.frameTimes, milliseconds];
  if (frameTimes.length < framesPerJudgement) return { ...stats, frameTimes };
  const frameTime = typicalFrameTime(frameTimes);
  if (before !== null && frameTime > before.frameTime * minImprovement) {
    return { ...initialStats, at: before.at, skippedFrames: framesBeforeRetry * 2 ** Math.min(failedSteps, maxDoublings), failedSteps: failedSteps + 1 };
  }
  const next: FrameStats = { ...initialStats, at, failedSteps: before === null ? failedSteps : 0 };
  if (frameTime > maxFrameTime && at < shares.length - 1) return { ...next, at: coarser(at, frameTime), before: { at, frameTime } };
  if (at > 0 && frameTime * (share(at - 1) / share(at)) ** 2 <= maxFinerFrameTime) return { ...next, at: at - 1 };
  return next;
}

const idleAfter = 1500; // ms without a move
const minMovingFrames = 3; // frames in a row that move: fewer are a jump, not a drive

/** keepResolution goes on as long as the map is there. The resolution that the map has is the finest. */
export function keepResolution(map: MapLibre, contextState: ContextState): void {
  const finest = map.getPixelRatio();
  let stats = initialStats;
  let [movedAt, frameAt, moves] = [0, Infinity, 0];
  let isWatching = false;
  const draw = (at: number): void => {
    const ratio = finest * share(at);
    if (map.getPixelRatio() === ratio || !contextState.isAvailable()) return;
    map.setPixelRatio(ratio);
    map.redraw(); // now, for the canvas is empty
  };
  const watch = (now: number): void => {
    isWatching = now - movedAt <= idleAfter;
    if (!isWatching) {
      draw(0);
      return;
    }
    moves = movedAt >= frameAt ? moves + 1 : 0;
    if (moves >= minMovingFrames) {
      stats = afterFrame(stats, now - frameAt);
      draw(stats.at);
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
