// The preview of an app in its review (internal/http/console/pages/app-review.html): its page gets the message that the page for cars sends
// (D16.8), with the default settings.

const answerEvery = 100; // milliseconds between answers to "ready"

interface Look {
  width: number;
  height: number;
  dark: boolean;
  touch: boolean;
}

/** contextOf completes a message with the browser's values. */
export function contextOf(message: string, look: Look): Record<string, unknown> {
  return {
    ...(JSON.parse(message) as Record<string, unknown>),
    theme: look.dark ? "night" : "day",
    size: { width: Math.round(look.width), height: Math.round(look.height) },
    device: { kind: "desktop", input: look.touch ? "touch" : "pointer" },
  };
}

/** preview plays host to the page in a frame. */
export function preview(frame: HTMLIFrameElement): void {
  const message = frame.dataset["appPreview"];
  if (!message) return;
  const origin = new URL(frame.src).origin;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  let due = 0;
  const send = (): void => {
    const { width, height } = frame.getBoundingClientRect();
    const look = { width, height, dark: dark.matches, touch: window.matchMedia("(pointer: coarse)").matches };
    frame.contentWindow?.postMessage(contextOf(message, look), origin);
  };
  frame.addEventListener("load", send);
  dark.addEventListener("change", send);
  window.addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow || event.origin !== origin) return;
    if ((event.data as { type?: unknown } | null)?.type !== "ready") return;
    const now = performance.now();
    due = Math.max(now, due + answerEvery);
    if (due - now < 10_000) window.setTimeout(send, due - now);
    else due -= answerEvery; // a page that floods gets no more answers than one in ten seconds holds
  });
}
