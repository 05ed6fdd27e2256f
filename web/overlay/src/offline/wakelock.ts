// Keeps the screen on while the car drives. The rule is pure.

import type { State } from "../state/state.ts";

const checkInterval = 5000; // ms
const drivingSpeed = 2; // metres per second
/** Milliseconds for which a standing car counts as driving: a red light. */
const stationaryAllowed = 3 * 60_000;

/** isDriving reports whether the car moves or did until recently; movedAt is when it last moved, null if never. */
export function isDriving(movedAt: number | null, now: number): boolean {
  return movedAt !== null && now - movedAt <= stationaryAllowed;
}

/** keepAwake runs until the page is closed. Browsers without wake locks, and those that refuse one, let the screen sleep. */
export function keepAwake(state: State): void {
  if (!("wakeLock" in navigator)) return;
  let movedAt: number | null = null;
  let lock: WakeLockSentinel | null = null;
  let asking = false;
  const update = async (): Promise<void> => {
    const now = performance.now();
    if ((state.pose()?.speed ?? 0) >= drivingSpeed) movedAt = now;
    const wanted = isDriving(movedAt, now) && document.visibilityState === "visible"; // the browser releases it in a hidden page
    if (asking || wanted === (lock !== null && !lock.released)) return;
    asking = true;
    try {
      if (wanted) lock = await navigator.wakeLock.request("screen");
      else await lock?.release();
    } catch {
      lock = null; // the battery is low; asked again at the next check
    } finally {
      asking = false;
    }
  };
  document.addEventListener("visibilitychange", () => void update());
  setInterval(() => void update(), checkInterval);
  void update();
}
