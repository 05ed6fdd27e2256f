// Enhancements of pages, which work without them too (internal/http/console/live.go).

import { preview } from "./apppreview.ts";
import { showCopyButtons } from "./copy.ts";
import { follow } from "./live.ts";
import { offerReasons } from "./reasons.ts";
import { localizeTimes, watchTimes } from "./times.ts";

function enhance(part: ParentNode): void {
  showCopyButtons(part);
  localizeTimes(part);
}

/** showBusy shows that a form was sent whose answer may take a while. */
function showBusy(form: HTMLFormElement): void {
  const buttons = form.querySelectorAll<HTMLButtonElement>("button[type=submit]");
  const labels = [...buttons].map((button) => button.textContent);
  form.addEventListener("submit", () => {
    for (const button of buttons) {
      button.textContent = form.dataset["busy"] ?? "";
      button.setAttribute("aria-disabled", "true");
    }
  });
  window.addEventListener("pageshow", () => {
    buttons.forEach((button, at) => {
      button.textContent = labels[at] ?? "";
      button.removeAttribute("aria-disabled");
    });
  });
}

enhance(document);
watchTimes();
offerReasons(document);
for (const form of document.querySelectorAll<HTMLFormElement>("form[data-busy]")) showBusy(form);
for (const frame of document.querySelectorAll<HTMLIFrameElement>("iframe[data-app-preview]")) preview(frame);
const line = document.querySelector<HTMLElement>("[data-live]");
if (line) void follow(line, enhance);
