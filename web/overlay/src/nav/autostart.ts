// When the drive starts by itself (pure).

/** Milliseconds. */
export const autoStartAfter = 10_000;

/** AutoStart counts down while the ways are offered. */
export interface AutoStart {
  /** When the countdown began, in milliseconds of performance.now(); null while it is stopped. */
  since: number | null;
}

/** The driver does something else than wait, such as change stops: nothing starts by itself. */
export const stopped: AutoStart = { since: null };

/** startsIn returns the whole seconds that are left, at least 1 before the start; null while nothing starts by itself. */
export function startsIn({ since }: AutoStart, now: number): number | null {
  return since === null ? null : Math.max(0, Math.ceil((since + autoStartAfter - now) / 1000));
}

/** isDue reports whether the drive starts now. A page that was asleep does not start a drive that nobody waited for. */
export function isDue({ since }: AutoStart, now: number): boolean {
  return since !== null && now - since >= autoStartAfter && now - since < 2 * autoStartAfter;
}

/** isOver reports whether the countdown was slept through. */
export const isOver = ({ since }: AutoStart, now: number): boolean => since !== null && now - since >= 2 * autoStartAfter;
