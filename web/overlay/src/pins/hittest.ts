// Which pin a finger means (pure).

/** Half of what is touched, in CSS pixels: a finger in a driving car hits within 60. */
export const touchRadius = 34;

/** Target is something that can be touched, with its middle on the screen. */
export interface Target {
  id: string;
  x: number;
  y: number;
}

/** hitTest is the nearest target that a touch means; of two as near, the one that is drawn later and so lies on top. null: none. */
export function hitTest<T extends Target>(targets: Iterable<T>, at: { x: number; y: number }): T | null {
  let best: T | null = null;
  let nearest = touchRadius;
  for (const target of targets) {
    const pixels = Math.hypot(target.x - at.x, target.y - at.y);
    if (pixels <= nearest) {
      best = target;
      nearest = pixels;
    }
  }
  return best;
}
