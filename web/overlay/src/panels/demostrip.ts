// The strip of the demo: that the drive is not real, a button that ends it, and one that starts it.

import { element } from "../browser/dom.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Observable } from "../browser/observable.ts";
import type { Actions, State } from "../state/state.ts";
import { makeButton, setLabel, setText } from "../browser/widgets.ts";

/** makeDemoStrip makes the strip about the demo, which is hidden outside the demo, and on phones behind a banner. */
export function makeDemoStrip(state: State, actions: Actions, locale: Observable<Locale>): HTMLElement {
  const label = element("span", { class: "demo-label" });
  let drove = false;
  const act = makeButton({ id: "demo-do" }, () => {
    if (state.driving.get()) actions.endDrive();
    else actions.startDrive();
  });
  const box = element("div", { class: "demo", role: "group", hidden: "" }, label, act);
  const draw = (): void => {
    const { say: speak } = locale.get();
    const driving = state.driving.get();
    drove = drove || driving;
    box.hidden = state.welcoming.get() || (!driving && state.config.get()?.demo !== true);
    label.hidden = !driving;
    setLabel(box, speak("demo.label"));
    setText(label, speak("demo.label"));
    setText(act, speak(driving ? "demo.stop" : drove ? "demo.again" : "demo.start"));
    box.classList.toggle("behind", state.alerts.get().banner !== null);
  };
  for (const observable of [locale, state.driving, state.welcoming, state.config, state.alerts]) (observable as Observable<unknown>).watch(draw);
  return box;
}
