// The buttons over the map.

import type { Preferences } from "../state/account.ts";
import type { AlertSounds } from "../alerts/alertsounds.ts";
import type { Observable } from "../browser/observable.ts";
import { element } from "../browser/dom.ts";
import { setLabel, makeButton, replaceChildren, setText, setAttribute, makeIcon, makeIconButton } from "../browser/widgets.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Actions, State } from "../state/state.ts";

/** Controls are the buttons at the edge of the map, and those that are shown only when they are needed. */
export interface Controls {
  element: HTMLElement;
  /** Buttons with a text: to turn on sound, and to find or follow the position. */
  prompts: HTMLElement;
}

/** ControlsDeps are the dependencies of the buttons. */
export interface ControlsDeps {
  state: State;
  actions: Actions;
  locale: Observable<Locale>;
  preferences: Preferences;
  sounds: AlertSounds;
  /** Whether the list is shown. */
  listOpen: Observable<boolean>;
}

/** makeControls makes the buttons at the edge of the map. */
export function makeControls(deps: ControlsDeps): Controls {
  const { state, actions, locale, listOpen } = deps;
  const list = makeIconButton("list", "", () => {
    listOpen.set(!listOpen.get());
  });
  const needle = makeNeedle();
  const up = makeButton({ class: "signed" }, () => {
    state.cameraMode.set(state.cameraMode.get() === "heading" ? "north" : "heading");
  }, needle);
  const zooms = ([1, -1] as const).map((levels) => ({
    levels,
    button: makeButton({ class: "signed zoom" }, () => {
      actions.zoomBy(levels);
    }, levels > 0 ? "+" : "−"),
  }));
  const box = element("div", { class: "controls" }, list, makeMute(deps), up, ...zooms.map(({ button }) => button));
  const draw = (): void => {
    const { say: speak } = locale.get();
    const drawable = state.drawable.get();
    const north = state.cameraMode.get() === "north";
    setLabel(list, speak("ahead.open"));
    setAttribute(list, "aria-expanded", String(listOpen.get()));
    list.hidden = up.hidden = !drawable;
    setLabel(up, speak(north ? "map.northUp" : "map.headingUp"));
    setAttribute(up, "data-mode", state.cameraMode.get());
    for (const { levels, button } of zooms) {
      button.hidden = !drawable;
      setLabel(button, speak(levels > 0 ? "map.zoomIn" : "map.zoomOut"));
    }
  };
  for (const observable of [locale, listOpen, state.cameraMode, state.drawable]) (observable as Observable<unknown>).watch(draw);
  state.mapBearing.watch((degrees) => {
    needle.style.transform = `rotate(${String(-degrees)}deg)`;
  });
  return { element: box, prompts: element("div", { class: "prompts" }, makeSoundPrompt(deps), makePositionPrompt(deps)) };
}

/** makeNeedle draws a compass needle whose filled half points north. */
function makeNeedle(): SVGElement {
  const needle = makeIcon("needle");
  const north = makeIcon("northHalf").firstElementChild;
  if (north !== null) {
    north.setAttribute("class", "north-half");
    needle.prepend(north);
  }
  return needle;
}

/** makeMute turns all sounds off and on. */
function makeMute({ state, locale, preferences }: ControlsDeps): HTMLButtonElement {
  const mute = makeButton({ class: "signed", id: "mute" }, () => {
    preferences.choose({ tones: !state.settings.get().tones });
  });
  let drawn: boolean | null = null;
  const draw = (): void => {
    const on = state.settings.get().tones;
    setLabel(mute, locale.get().say(on ? "sound.mute" : "sound.unmute"));
    if (drawn !== on) replaceChildren(mute, [makeIcon(on ? "sound" : "muted")]);
    drawn = on;
  };
  state.settings.watch(draw);
  locale.watch(draw);
  return mute;
}

/** makeSoundPrompt makes the prompt that is shown until the first touch, because browsers allow no sound before one. */
function makeSoundPrompt({ state, locale, sounds }: ControlsDeps): HTMLButtonElement {
  const text = element("span", {});
  const prompt = makeButton({ class: "prompt", id: "sound-on" }, () => undefined, makeIcon("sound"), text); // any touch turns it on
  // On a phone there is no room for it beside a banner.
  state.alerts.watch(() => prompt.classList.toggle("behind", state.alerts.get().banner !== null));
  const draw = (): void => {
    setText(text, locale.get().say("sound.tap"));
    prompt.hidden = !sounds.possible || sounds.ready.get() || !state.settings.get().tones || state.welcoming.get();
  };
  for (const observable of [locale, state.settings, state.welcoming, sounds.ready]) (observable as Observable<unknown>).watch(draw);
  return prompt;
}

/** makePositionPrompt follows a position that is known, and asks for one that is not. */
function makePositionPrompt({ state, actions, locale }: ControlsDeps): HTMLButtonElement {
  const text = element("span", {});
  const prompt = makeButton({ class: "strong prompt recentre" }, () => {
    if (state.fix.get() === null) actions.locate();
    else actions.recentre();
  }, makeIcon("car"), text);
  const draw = (): void => {
    const { say: speak } = locale.get();
    const known = state.fix.get() !== null;
    prompt.hidden = state.welcoming.get() || (known ? !state.drawable.get() || state.following.get() : state.positionStatus.get() === "asking");
    setText(text, speak(known ? "map.recentre" : "place.again"));
  };
  for (const observable of [locale, state.welcoming, state.fix, state.positionStatus, state.following, state.drawable]) (observable as Observable<unknown>).watch(draw);
  return prompt;
}
