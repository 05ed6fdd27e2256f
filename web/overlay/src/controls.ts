// The buttons over the map.

import type { Observable } from "./observable.ts";
import { element } from "./dom.ts";
import { setLabel, makeButton, replaceChildren, setText, setAttribute, makeIcon, makeIconButton } from "./widgets.ts";
import type { Locale } from "./locale.ts";
import type { Actions, State } from "./state.ts";

/** makeControls makes the buttons; listOpen is whether the list is shown. */
export function makeControls(state: State, actions: Actions, locale: Observable<Locale>, listOpen: Observable<boolean>): HTMLElement {
  const list = makeIconButton("list", "", () => {
    listOpen.set(!listOpen.get());
  });
  const up = makeButton({ class: "signed" }, () => {
    state.cameraMode.set(state.cameraMode.get() === "heading" ? "north" : "heading");
  });
  const backText = element("span", {});
  const back = makeButton({ class: "strong recentre" }, () => {
    actions.recentre();
  }, makeIcon("car"), backText);
  const zooms = ([1, -1] as const).map((levels) => ({
    levels,
    button: makeButton({ class: "signed" }, () => {
      actions.zoomBy(levels);
    }, levels > 0 ? "+" : "−"),
  }));
  const box = element("div", { class: "controls" }, back, list, up, ...zooms.map(({ button }) => button));
  const draw = (): void => {
    const { say: speak } = locale.get();
    const drawable = state.drawable.get();
    const north = state.cameraMode.get() === "north";
    setLabel(list, speak("ahead.open"));
    setAttribute(list, "aria-expanded", String(listOpen.get()));
    list.hidden = up.hidden = !drawable;
    setLabel(up, speak(north ? "map.northUp" : "map.headingUp"));
    if (up.dataset["mode"] !== state.cameraMode.get()) replaceChildren(up, [makeIcon(north ? "north" : "car")]);
    setAttribute(up, "data-mode", state.cameraMode.get());
    back.hidden = !drawable || state.following.get() || state.fix.get() === null;
    setText(backText, speak("map.recentre"));
    for (const { levels, button } of zooms) {
      button.hidden = !drawable;
      setLabel(button, speak(levels > 0 ? "map.zoomIn" : "map.zoomOut"));
    }
  };
  for (const observable of [locale, listOpen, state.cameraMode, state.following, state.drawable, state.fix]) (observable as Observable<unknown>).watch(draw);
  return box;
}
