// Buttons that copy the code before them (internal/http/console/pages/parts/live.html).

const shownFor = 3000; // milliseconds of "Copied"

/** copyText puts a text into the clipboard. Without https browsers offer no clipboard, but the older command. */
async function copyText(text: string, source: HTMLElement): Promise<boolean> {
  if (window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch (error) {
      console.warn(error);
    }
  }
  const range = document.createRange();
  range.selectNodeContents(source);
  const selection = window.getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range); // stays selected, so that the keys copy it too
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other way on http
  return document.execCommand("copy");
}

/** showCopyButtons shows the buttons of a part of the page. */
export function showCopyButtons(part: ParentNode): void {
  for (const button of part.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    const source = button.closest(".copy")?.querySelector<HTMLElement>("code");
    if (!source) continue;
    const label = button.textContent;
    button.hidden = false;
    button.setAttribute("aria-live", "polite");
    button.addEventListener("click", () => {
      void copyText(source.textContent, source).then((copied) => {
        button.textContent = (copied ? button.dataset["copied"] : button.dataset["notCopied"]) ?? label;
        window.setTimeout(() => {
          button.textContent = label;
        }, shownFor);
      });
    });
  }
}
