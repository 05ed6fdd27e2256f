// Keeps the keyboard away from apps that the driver is not using. A frame may call focus() whenever it likes, hidden or not, and then the
// driver's next key is the app's. No attribute forbids that (tried in Chromium 156: window.focus() works in frames that are hidden, inert,
// without a tab stop, or in an inert parent; the policy focus-without-user-activation is not switched on). So a frame that takes the focus
// where it may not is removed before the next key: a page learns of it within milliseconds.

/** Where the driver types. */
const typed = "input, textarea, select";

/** Milliseconds between two checks while a frame has the focus: no event reports that another frame took it. */
const lookInterval = 100;

const isFrame = (element: Element | null): element is HTMLIFrameElement => element?.tagName === "IFRAME";

/** mayFocus reports whether a frame may have the focus: not in a hidden panel, nor while the driver types beside it (pure). */
export const mayFocus = ({ isHidden, isTyping }: { isHidden: boolean; isTyping: boolean }): boolean => !isHidden && !isTyping;

/** release takes the focus from a frame that is being hidden. */
export function release(frame: HTMLIFrameElement | null): void {
  if (frame !== null && document.activeElement === frame) frame.blur();
}

/**
 * guardFocus calls stop with each frame of the stage that takes the focus where it may not, and then gives the focus back. While the driver
 * types beside the stage, it has the class `shielded`: a touch reaches the page, which ends the typing, so that the next one reaches the app.
 */
export function guardFocus(stage: HTMLElement, stop: (frame: HTMLIFrameElement) => void): void {
  let field: HTMLElement | null = null;
  let looking: ReturnType<typeof setInterval> | null = null;
  const setField = (next: HTMLElement | null): void => {
    field = next;
    stage.classList.toggle("shielded", next !== null);
  };
  const look = (): void => {
    const { activeElement } = document;
    if (!isFrame(activeElement) || !stage.contains(activeElement)) {
      if (looking !== null) clearInterval(looking);
      looking = null;
      return;
    }
    looking ??= setInterval(look, lookInterval);
    if (mayFocus({ isHidden: activeElement.closest("[hidden]") !== null, isTyping: field !== null })) return;
    stop(activeElement);
    window.focus();
    field?.focus();
  };
  window.addEventListener("blur", () => {
    look();
    setTimeout(look); // browsers differ in which comes first, the event or the active element
  });
  document.addEventListener("focusin", ({ target }) => {
    setField(target instanceof HTMLElement && target.matches(typed) && !stage.contains(target) ? target : null);
  });
  document.addEventListener("focusout", () => {
    setTimeout(() => {
      if (field !== null && document.activeElement !== field && document.hasFocus() && !isFrame(document.activeElement)) setField(null);
    });
  });
  stage.addEventListener("pointerdown", () => {
    field?.blur();
    setField(null);
  });
}
