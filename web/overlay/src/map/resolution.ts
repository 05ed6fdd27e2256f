// Adapts the map's pixel ratio: lower while the map moves and the browser cannot keep up, full again once it is idle. Cars have slow
// graphics, and a map that stutters is harder to read than one that is slightly blurred.

import type { Map as MapLibre } from "maplibre-gl";
import type { Camera } from "./camera.ts";
import type { ContextState } from "./map.ts";

/** Shares of the full resolution along each side. At the last one icons are still distinguishable. */
export const shares = [1, 0.85, 0.7, 0.6, 0.5] as const;

const framesPerJudgement = 30; // frames
const maxFrameTime = 28; // ms: above it the resolution is lowered; 30 frames a second are wanted, slow frames included
const maxFinerFrameTime = 25; // ms: a frame at the next higher resolution may take so long, if its time is proportional to its pixels
const minImprovement = 0.95; // share of the earlier frame time: without this improvement the number of pixels is not the cause
const framesBeforeRetry = 2 * framesPerJudgement; // frames until the next attempt, doubled after each failed one, since another cause may have passed
const maxDoublings = 5; // at most

/** FrameStats are the statistics of frames. */
export interface FrameStats {
  /** Index of the share in use. */
  at: number;
  /** Milliseconds of each frame since the share was chosen. */
  frameTimes: readonly number[];
  /** The share before a step down and its typical frame time, for comparison. */
  before: { at: number; frameTime: number } | null;
  /** Frames that are still ignored. */
  skippedFrames: number;
  /** Steps down without improvement, in a row. */
  failedSteps: number;
}

/** initialStats are the statistics before the first frame. */
export const initialStats: FrameStats = { at: 0, frameTimes: [], before: null, skippedFrames: 0, failedSteps: 0 };

const share = (at: number): number => shares[at] ?? 1;

/** typicalFrameTime returns the mean without the slowest fifth. A median would jump, since frames last a whole number of screen refreshes. */
function typicalFrameTime(frameTimes: readonly number[]): number {
  const fastest = [...frameTimes].sort((a, b) => a - b).slice(0, Math.ceil(frameTimes.length * 0.8));
  return fastest.reduce((sum, frameTime) => sum + frameTime, 0) / fastest.length;
}

/** coarser returns the highest share that should be fast enough if a frame's time is proportional to its pixels; at least one step. */
function coarser(at: number, frameTime: number): number {
  const found = shares.findIndex((one, i) => i > at && frameTime * (one / share(at)) ** 2 <= maxFrameTime);
  return found < 0 ? shares.length - 1 : found;
}

/** afterFrame returns the state after a frame of a moving map that took so many milliseconds. */
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
const minMovingFrames = 3; // moving frames in a row: fewer are a single jump

const maxFenceWait = 250; // ms
/** Fences to wait for, one after another: the browser itself composes the page with the first one's drawing after that. */
const fencesPerFrame = 2;

/** afterDrawing calls done once the graphics card has finished its commands, at the latest after maxFenceWait. */
function afterDrawing(canvas: HTMLCanvasElement, done: () => void): void {
  const gl = canvas.getContext("webgl2"); // the map's own; null if that is of WebGL 1, which has no fences
  const until = performance.now() + maxFenceWait;
  const addFence = (): WebGLSync | null => {
    const fence = gl?.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0) ?? null;
    gl?.flush();
    return fence;
  };
  let fence = addFence();
  let passed = 0;
  const look = (now: number): void => {
    if (gl !== null && fence !== null && gl.getSyncParameter(fence, gl.SYNC_STATUS) === gl.SIGNALED) {
      gl.deleteSync(fence);
      fence = ++passed < fencesPerFrame ? addFence() : null;
    }
    if (fence !== null && now < until) {
      requestAnimationFrame(look);
      return;
    }
    gl?.deleteSync(fence);
    done();
  };
  requestAnimationFrame(look);
}

/**
 * keepResolution runs as long as the map exists. The map's present pixel ratio is the highest one used. The camera is held before a
 * change: a new drawing buffer waits for all that is being drawn into the old one, and would block the page for so long.
 */
export function keepResolution(map: MapLibre, contextState: ContextState, camera: Pick<Camera, "hold" | "release">): void {
  const finest = map.getPixelRatio();
  let stats = initialStats;
  let [movedAt, frameAt, moves] = [0, Infinity, 0];
  let isWatching = false;
  let wanted = 0; // index of the share
  let isChanging = false;
  const isDone = (): boolean => map.getPixelRatio() === finest * share(wanted) || !contextState.isAvailable();
  const draw = (at: number): void => {
    wanted = at;
    if (isChanging || isDone()) return;
    isChanging = true;
    camera.hold();
    afterDrawing(map.getCanvas(), () => {
      isChanging = false;
      if (!isDone()) {
        map.setPixelRatio(finest * share(wanted));
        map.redraw(); // immediately, because changing the ratio empties the canvas
      }
      camera.release();
    });
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
