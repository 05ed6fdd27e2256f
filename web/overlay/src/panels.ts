// All panels over the map. Each panel watches the state and calls actions; no panel knows another.

import { Preferences } from "./account.ts";
import { makeAttribution } from "./attributionline.ts";
import { makeBanner } from "./banner.ts";
import { makeCard } from "./card.ts";
import { Observable } from "./observable.ts";
import { DetailsLoader } from "./detailsloader.ts";
import { makeControls } from "./controls.ts";
import { element } from "./dom.ts";
import { makeList } from "./list.ts";
import { makeMenu } from "./menu.ts";
import { makeNotice } from "./notice.ts";
import { makePairing } from "./pairing.ts";
import { makeButton, setText } from "./widgets.ts";
import { makeLocale, type Locale } from "./locale.ts";
import type { Actions, State } from "./state.ts";
import { AlertSounds } from "./alertsounds.ts";
import type { StillThereDeps } from "./stillthere.ts";
import { Votes } from "./vote.ts";

/** Narrower windows have no room for a list beside the map. */
const roomy = "(min-width: 900px)";

/** mountPanels makes all panels. main.ts calls it once and adds them to the page. */
export function mountPanels(state: State, actions: Actions): HTMLElement {
  const preferences = new Preferences(state.settings);
  const locale = makeLocale(state);
  const tones = new AlertSounds();
  tones.unlockOn(document);
  const votes = new Votes(state, actions, preferences);
  const pairing = makePairing(preferences, locale);
  const signIn = (): void => {
    pairing.open();
  };
  const menu = makeMenu({ state, actions, locale, preferences, tones, signIn });
  const listOpen = new Observable(window.matchMedia(roomy).matches);
  const list = makeList(state, actions, locale);
  const details = new DetailsLoader();
  const card = makeCard({ state, actions, locale, preferences, votes, details, signIn });
  const side = element("div", { class: "side" }, card, list);
  const banner = makeBanner(state, actions, locale, tones, details);
  banner.append(makeStillThere({ state, locale, preferences, votes, signIn }));
  const all = element(
    "div",
    { class: "panels" },
    banner,
    menu.button,
    side,
    makeControls(state, actions, locale, listOpen),
    element("div", { class: "foot" }, makeDemo(locale), makeNotice(state, actions, locale), makeAttribution(state)),
    menu.element,
    pairing.element,
  );
  const arrange = (): void => {
    const mapless = !state.drawable.get();
    all.classList.toggle("mapless", mapless);
    list.hidden = !mapless && (!listOpen.get() || !card.hidden || state.fix.get() === null);
  };
  listOpen.watch(arrange);
  state.drawable.watch(arrange);
  state.selected.watch(arrange);
  state.entities.watch(arrange);
  state.fix.watch(arrange);
  state.settings.watch(({ density }) => {
    document.documentElement.style.setProperty("--density", String(density));
  });
  preferences.start();
  return all;
}

/** makeStillThere makes the box of the question about a passed pin, whose code is loaded with the first one. */
function makeStillThere(deps: StillThereDeps): HTMLElement {
  const box = element("section", { class: "still-there panel", hidden: "" });
  const stop = deps.state.alerts.watch((alerts) => {
    if (alerts.passed === null) return;
    stop();
    import("./stillthere.ts").then(
      ({ showStillThere }) => {
        showStillThere(box, alerts, deps);
      },
      (error: unknown) => {
        console.warn(error); // without a connection there is nobody to tell the answer to
      },
    );
  });
  return box;
}

/** makeDemo makes the note that the data is not real, shown in the demo only. */
function makeDemo(locale: Observable<Locale>): HTMLElement {
  const text = element("span", {});
  const stop = makeButton({}, () => {
    location.assign(location.pathname);
  });
  const box = element("div", { class: "demo panel", hidden: "" }, text, stop);
  box.hidden = new URLSearchParams(location.search).get("drive") !== "demo";
  locale.watch((words) => {
    setText(text, words.say("demo.label"));
    setText(stop, words.say("demo.stop"));
  });
  return box;
}
