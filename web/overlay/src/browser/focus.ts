// The keyboard's focus: one tab stop for a list, and none that is lost.

/**
 * rove makes a list one tab stop: arrows, Home and End move within it. selector matches the elements that take the focus. It returns
 * a function to call after the list has changed.
 */
export function rove(list: HTMLElement, selector: string): () => void {
  const all = (): HTMLElement[] => [...list.querySelectorAll<HTMLElement>(selector)].filter(isShown);
  const mark = (current: HTMLElement | undefined): void => {
    for (const one of list.querySelectorAll<HTMLElement>(selector)) one.tabIndex = one === current ? 0 : -1;
  };
  list.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLElement && target.matches(selector)) mark(target);
  });
  list.addEventListener("keydown", (event) => {
    const shown = all();
    const at = shown.findIndex((one) => one === document.activeElement);
    const next = at < 0 ? null : roved(event.key, at, shown.length);
    if (next === null) return;
    event.preventDefault(); // the list does not scroll as well
    shown[next]?.focus();
  });
  return () => {
    const shown = all();
    mark(shown.find((one) => one.tabIndex === 0) ?? shown[0]);
  };
}

/** roved returns the place in a list to which a key moves; null for other keys (pure). */
export function roved(key: string, at: number, length: number): number | null {
  switch (key) {
    case "ArrowDown":
      return Math.min(at + 1, length - 1);
    case "ArrowUp":
      return Math.max(at - 1, 0);
    case "Home":
      return 0;
    case "End":
      return length - 1;
    default:
      return null;
  }
}

const isShown = (one: Element): boolean => one.isConnected && one.getClientRects().length > 0;

const focusable = "button, input, a[href], select, textarea, [tabindex='0']";
const parts = ".card, .list, .menu, .pairing, .banner, .controls, .notice";

/** Held is the element that has the focus, with its neighbours. */
interface Held {
  element: HTMLElement;
  /** All that could take the focus then, in the order of the page. */
  around: readonly HTMLElement[];
  part: Element | null;
  /** The parts that were shown then. */
  shown: ReadonlySet<Element>;
  /** The element that had the focus before it came into the part. */
  before: HTMLElement | null;
}

/**
 * keepFocus gives the focus to a neighbour when its element disappears. Otherwise it would fall to the page's body, and a driver with
 * a keyboard would have to start from the top.
 */
export function keepFocus(root: HTMLElement): void {
  let held: Held | null = null;
  const shownParts = (): Element[] => [...root.querySelectorAll(parts)].filter(isShown);
  root.addEventListener("focusin", ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    const part = target.closest(parts);
    const before = held === null ? null : held.part === part ? held.before : held.element;
    held = { element: target, around: [...root.querySelectorAll<HTMLElement>(focusable)], part, shown: new Set(shownParts()), before };
  });
  const check = (): void => {
    const active = document.activeElement;
    if (held === null || isShown(held.element) || (active !== null && active !== document.body && active !== held.element)) return;
    const { element, around, part, shown, before } = held;
    const at = around.indexOf(element);
    const near = around.map((one, i) => ({ one, away: Math.abs(i - at) })).filter(({ one }) => isShown(one)).sort((a, b) => a.away - b.away).map(({ one }) => one);
    const within = near.find((one) => part?.contains(one) === true);
    // A card in place of the list, or the list in its place again: there where the driver came from, if possible.
    const opened = shownParts().find((one) => !shown.has(one) && one.querySelector(focusable) !== null);
    const back = before !== null && isShown(before) ? before : undefined;
    const entered = opened === undefined || opened.contains(back ?? null) ? undefined : opened.querySelector<HTMLElement>(focusable);
    (within ?? entered ?? back ?? near[0] ?? root.querySelector<HTMLElement>(focusable))?.focus();
  };
  let due = false;
  new MutationObserver(() => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      check();
    });
  }).observe(root, { subtree: true, childList: true, attributeFilter: ["hidden"] });
}
