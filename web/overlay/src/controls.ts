// The buttons over the map.

import type { Cell } from "./cell.ts";
import { element } from "./dom.ts";
import { label, press, refill, say, setAttribute, sign, signButton } from "./parts.ts";
import type { Speech } from "./speech.ts";
import type { Actions, State } from "./state.ts";

/** makeControls: listOpen is whether the list is shown. */
export function makeControls(state: State, actions: Actions, speech: Cell<Speech>, listOpen: Cell<boolean>): HTMLElement {
  const list = signButton("list", "", () => {
    listOpen.set(!listOpen.get());
  });
  const up = press({ class: "signed" }, () => {
    state.cameraMode.set(state.cameraMode.get() === "heading" ? "north" : "heading");
  });
  const backText = element("span", {});
  const back = press({ class: "strong recentre" }, () => {
    actions.recentre();
  }, sign("car"), backText);
  const zooms = ([1, -1] as const).map((levels) => ({
    levels,
    button: press({ class: "signed" }, () => {
      actions.zoomBy(levels);
    }, levels > 0 ? "+" : "−"),
  }));
  const box = element("div", { class: "controls" }, back, list, up, ...zooms.map(({ button }) => button));
  const draw = (): void => {
    const { say: speak } = speech.get();
    const drawable = state.drawable.get();
    const north = state.cameraMode.get() === "north";
    label(list, speak("ahead.open"));
    setAttribute(list, "aria-expanded", String(listOpen.get()));
    list.hidden = up.hidden = !drawable;
    label(up, speak(north ? "map.northUp" : "map.headingUp"));
    if (up.dataset["mode"] !== state.cameraMode.get()) refill(up, [sign(north ? "north" : "car")]);
    setAttribute(up, "data-mode", state.cameraMode.get());
    back.hidden = !drawable || state.following.get() || state.fix.get() === null;
    say(backText, speak("map.recentre"));
    for (const { levels, button } of zooms) {
      button.hidden = !drawable;
      label(button, speak(levels > 0 ? "map.zoomIn" : "map.zoomOut"));
    }
  };
  for (const cell of [speech, listOpen, state.cameraMode, state.following, state.drawable, state.fix]) (cell as Cell<unknown>).watch(draw);
  return box;
}
