// All panels over the map. Each panel watches the state and calls actions; no panel knows another.

import { Preferences } from "../state/account.ts";
import { awaitApps } from "../apps/entry.ts";
import { makeAttribution } from "../map/attributionline.ts";
import { makeBanner } from "./banner.ts";
import { makeCard } from "./card.ts";
import { Observable } from "../browser/observable.ts";
import { DetailsLoader } from "../pins/detailsloader.ts";
import { makeControls } from "./controls.ts";
import { makeDemoStrip } from "./demostrip.ts";
import { element } from "../browser/dom.ts";
import { keepFocus } from "../browser/focus.ts";
import { makeList } from "./list.ts";
import { makeMenu } from "./menu.ts";
import { makeNotice } from "./notice.ts";
import { makePairing } from "./pairing.ts";
import type { Locale } from "../i18n/locale.ts";
import { makeWhereToButton, type NavigationEntry } from "../nav/entry.ts";
import type { Slots } from "../nav/deps.ts";
import { makeScaleBar } from "./scalebar.ts";
import { makeReport } from "../report/entry.ts";
import { makeSpeedometer } from "./speedometer.ts";
import type { Actions, State } from "../state/state.ts";
import { AlertSounds } from "../alerts/alertsounds.ts";
import type { StillThereDeps } from "./stillthere.ts";
import { Votes } from "./vote.ts";

/** Narrower windows have no room for a list beside the map. */
const roomy = "(min-width: 900px)";

/** Panels are all panels, with the parts that navigation uses once it is loaded. */
export interface Panels {
  element: HTMLElement;
  preferences: Preferences;
  sounds: AlertSounds;
  slots: Slots;
  listOpen: Observable<boolean>;
}

/** mountPanels makes all panels. main.ts calls it once and adds them to the page. */
export function mountPanels(state: State, actions: Actions, locale: Observable<Locale>, entry: NavigationEntry): Panels {
  const preferences = new Preferences(state.settings);
  const tones = new AlertSounds();
  tones.unlockOn(document);
  const votes = new Votes(state, actions, preferences);
  const pairing = makePairing(preferences, locale);
  const signIn = (): void => {
    pairing.open();
  };
  const listOpen = new Observable(window.matchMedia(roomy).matches);
  const menu = makeMenu({ state, actions, locale, preferences, tones, signIn, apps: awaitApps(state, { locale, preferences, listOpen, signIn }) });
  const list = makeList(state, actions, locale);
  const details = new DetailsLoader();
  const card = makeCard({ state, actions, locale, preferences, votes, details, signIn });
  const side = element("div", { class: "side" }, card, list);
  const banner = makeBanner(state, actions, locale, tones, details);
  banner.append(makeStillThere({ state, locale, preferences, votes, signIn }));
  const controls = makeControls({ state, actions, locale, preferences, sounds: tones, listOpen });
  const head = element("div", { class: "head" }, makeWhereToButton(entry, locale), banner, makeDemoStrip(state, actions, locale));
  const report = makeReport({ state, actions, locale, preferences });
  const foot = element("div", { class: "foot" }, makeNotice(state, actions, locale), report.panel, controls.prompts, report.button);
  const all = element(
    "div",
    { class: "panels" },
    head,
    menu.button,
    side,
    controls.element,
    foot,
    makeSpeedometer(state, locale),
    element("div", { class: "base" }, makeScaleBar(state, locale), makeAttribution(state)),
    menu.element,
    pairing.element,
  );
  const arrange = (): void => {
    const mapless = !state.drawable.get();
    all.classList.toggle("mapless", mapless);
    list.hidden = !mapless && (!listOpen.get() || !card.hidden || state.fix.get() === null);
    all.classList.toggle("listing", !list.hidden || !card.hidden);
  };
  listOpen.watch(arrange);
  state.drawable.watch(arrange);
  state.selected.watch(arrange);
  state.entities.watch(arrange);
  state.fix.watch(arrange);
  state.settings.watch(({ density }) => {
    document.documentElement.style.setProperty("--density", String(density));
  });
  keepFocus(all);
  preferences.start();
  return { element: all, preferences, sounds: tones, slots: { head, foot, side, all }, listOpen };
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
