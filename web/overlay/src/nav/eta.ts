// When the car arrives: the planned time, corrected by how fast this drive is against the plan (pure).

import { secondsAt, type RouteLine } from "./routeline.ts";

/** Pace compares the drive with its planned time. Start with `initialPace`. */
export interface Pace {
  /** Seconds that the driven part took, and seconds that were planned for it, both fading with the distance. */
  taken: number;
  planned: number;
  /** The last sample; null before. */
  last: { seconds: number; at: number } | null;
}

/** initialPace is the state before the first sample. */
export const initialPace: Pace = { taken: 0, planned: 0, last: null };

const fading = 600; // planned seconds after which a sample counts for 1/e
const minPlanned = 90; // seconds: less says nothing
const maxCorrection = 0.25; // of the plan
const maxGap = 60_000; // ms: a browser that slept for longer says nothing about the drive
const maxJump = 120; // planned seconds

/** keepPace takes where the car is on the route: the planned seconds from its start, at a time in milliseconds. */
export function keepPace(pace: Pace, seconds: number, at: number): Pace {
  const last = { seconds, at };
  if (pace.last === null) return { ...pace, last };
  const [planned, taken] = [seconds - pace.last.seconds, (at - pace.last.at) / 1000];
  if (planned < 0 || planned > maxJump || taken < 0 || taken * 1000 > maxGap) return { ...pace, last };
  const kept = Math.exp(-planned / fading);
  return { taken: pace.taken * kept + taken, planned: pace.planned * kept + planned, last };
}

/** changeRoute keeps the pace on another route. */
export const changeRoute = (pace: Pace): Pace => ({ ...pace, last: null });

/** correctionOf returns the factor on the planned time, 0.75 to 1.25. */
export function correctionOf({ taken, planned }: Pace): number {
  if (planned < minPlanned) return 1;
  return Math.max(1 - maxCorrection, Math.min(1 + maxCorrection, taken / planned));
}

/** StopAhead is the distance and the time to a stop. */
export interface StopAhead {
  metres: number;
  seconds: number;
}


/** stopsAhead returns distance and time to each stop ahead, in their order. factor is the service's on the planned time. */
export function stopsAhead(line: RouteLine, metres: number, pace: Pace, factor = 1): StopAhead[] {
  const now = secondsAt(line, metres);
  const corrected = correctionOf(pace) * factor;
  return line.legEnds
    .filter((end, i) => end > metres || i === line.legEnds.length - 1)
    .map((end) => ({ metres: Math.max(0, end - metres), seconds: Math.max(0, secondsAt(line, end) - now) * corrected }));
}

/** factorOf returns the factor on the planned time of the rest, from the service's remaining seconds. */
export function factorOf(line: RouteLine, metres: number, left: number): number {
  const planned = (line.seconds[line.seconds.length - 1] ?? 0) - secondsAt(line, metres);
  return planned < 1 || !(left > 0) ? 1 : Math.max(minFactor, Math.min(maxFactor, left / planned));
}

const [minFactor, maxFactor] = [0.5, 10];
