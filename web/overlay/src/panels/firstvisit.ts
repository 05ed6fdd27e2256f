// The card of the first visit: what the page is, and the ways to begin. It is loaded only when it is shown. Any touch of it also
// unlocks the sound (alertsounds.ts).

import { byId, element } from "../browser/dom.ts";
import { makeLocale } from "../i18n/locale.ts";
import type { Actions, State } from "../state/state.ts";
import { rememberVisit, type Visit } from "../state/visit.ts";
import { makeButton, setText } from "../browser/widgets.ts";

/** openFirstVisit shows the card until the driver chooses; Escape is the same as "Look around". */
export function openFirstVisit(state: State, actions: Actions): void {
  const locale = makeLocale(state);
  const title = element("h2", { id: "welcome-title" });
  const about = element("p", { id: "welcome-about" });
  // A keyboard's focus goes on to the first button of the page; after a touch no button is marked.
  const close = (visit: Exclude<Visit, "first">, byKeyboard: boolean): void => {
    rememberVisit(visit);
    box.remove();
    state.welcoming.set(false);
    if (byKeyboard) document.querySelector<HTMLElement>(".menu-button")?.focus({ preventScroll: true });
  };
  const look = (byKeyboard: boolean): void => {
    close("look", byKeyboard);
    actions.lookAround();
  };
  const locate = makeButton({ class: "strong", id: "welcome-locate" }, ({ detail }) => {
    close("locate", detail === 0);
    actions.locate();
  });
  const around = makeButton({ id: "welcome-look" }, ({ detail }) => {
    look(detail === 0);
  });
  const drive = makeButton({ id: "welcome-drive", hidden: "" }, ({ detail }) => {
    close("look", detail === 0);
    actions.startDrive();
  });
  const attributes = { class: "welcome panel", role: "dialog", "aria-modal": "true", "aria-labelledby": title.id, "aria-describedby": about.id };
  const box = element("section", attributes, title, about, locate, around, drive);
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") look(true);
    if (event.key === "Tab") keepFocus(event, [locate, around, drive]);
  });
  locale.watch(({ say: speak }) => {
    setText(title, speak("welcome.title"));
    setText(about, `${speak("welcome.what")} ${speak("welcome.privacy")}`);
    setText(locate, speak("place.again"));
    setText(around, speak("welcome.look"));
    setText(drive, speak("demo.start"));
  });
  state.config.watch((config) => {
    drive.hidden = config?.demo !== true;
  });
  if (state.fix.get() !== null) {
    state.welcoming.set(false); // the driver has set a position meanwhile
    return;
  }
  byId("panels").append(box);
  locate.focus({ preventScroll: true });
}

/** keepFocus keeps the focus inside the card. */
function keepFocus(event: KeyboardEvent, all: readonly HTMLButtonElement[]): void {
  const shown = all.filter(({ hidden }) => !hidden);
  const [first, last] = [shown[0], shown[shown.length - 1]];
  const leaves = document.activeElement === (event.shiftKey ? first : last);
  if (!leaves) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}
