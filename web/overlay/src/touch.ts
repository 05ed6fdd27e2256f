// Which pin a finger means (pure).

/** Half of what is touched, in CSS pixels: a finger in a driving car hits within 60. */
export const reach = 34;

/** Target is something that can be touched, with its middle on the screen. */
export interface Target {
  id: string;
  x: number;
  y: number;
}

/** hit is the nearest target that a touch means; of two as near, the one that is drawn later and so lies on top. null: none. */
export function hit<T extends Target>(targets: Iterable<T>, at: { x: number; y: number }): T | null {
  let best: T | null = null;
  let least = reach;
  for (const target of targets) {
    const away = Math.hypot(target.x - at.x, target.y - at.y);
    if (away <= least) {
      best = target;
      least = away;
    }
  }
  return best;
}
