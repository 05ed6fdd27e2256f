// Keeps what is near up to date by reading again: after a while, and when the car has moved on. A guest may read 60 times a
// minute; this reads at most every three seconds.

import { getNearby, Refused } from "./api.ts";
import { Cell } from "./cell.ts";
import { distance, type Place } from "./geo.ts";
import type { Entity } from "./wire.ts";

/** Metres around the driver that are read. */
export const radius = 10_000;

const everySeconds = 10;
const leastSeconds = 3;
const movedMetres = 500;

/** due says whether to read: last is when and where it was read, in milliseconds; waitUntil is what the service asked for. */
export function due(now: number, here: Place, last: { at: number; place: Place } | null, waitUntil: number): boolean {
  if (now < waitUntil) return false;
  if (last === null) return true;
  const seconds = (now - last.at) / 1000;
  if (seconds < 0) return true; // the clock was set back
  return seconds >= everySeconds || (seconds >= leastSeconds && distance(here, last.place) >= movedMetres);
}

export interface Reader {
  entities: Cell<readonly Entity[]>;
  /** Whether the last read succeeded; null: there was none. */
  reached: Cell<boolean | null>;
}

/** read goes on until the page is closed. where returns the driver's place; null: unknown. */
export function read(where: () => Place | null): Reader {
  const entities = new Cell<readonly Entity[]>([]);
  const reached = new Cell<boolean | null>(null);
  let last: { at: number; place: Place } | null = null;
  let waitUntil = 0;
  let reading = false;
  const once = async (place: Place): Promise<void> => {
    reading = true;
    last = { at: Date.now(), place };
    try {
      entities.set((await getNearby(place, radius)).entities);
      reached.set(true);
    } catch (error) {
      if (error instanceof Refused && error.retryAfter !== null) waitUntil = Date.now() + error.retryAfter * 1000;
      reached.set(false);
    } finally {
      reading = false;
    }
  };
  const look = (): void => {
    const place = where();
    if (place !== null && !reading && due(Date.now(), place, last, waitUntil)) void once(place);
  };
  setInterval(look, 250);
  look();
  return { entities, reached };
}
