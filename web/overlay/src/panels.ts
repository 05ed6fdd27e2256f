// Everything that lies over the map. Each panel watches the state and asks for actions; none knows of another.

import { Choosing } from "./account.ts";
import { makeAttribution } from "./attributionline.ts";
import { makeBanner } from "./banner.ts";
import { makeCard } from "./card.ts";
import { Cell } from "./cell.ts";
import { makeControls } from "./controls.ts";
import { element } from "./dom.ts";
import { makeList } from "./list.ts";
import { makeMenu } from "./menu.ts";
import { makeNotice } from "./notice.ts";
import { makePairing } from "./pairing.ts";
import { press, say } from "./parts.ts";
import { speakAs, type Speech } from "./speech.ts";
import type { Actions, State } from "./state.ts";
import { Tones } from "./tones.ts";
import { Votes } from "./vote.ts";

/** A window that is narrower has no room for a list beside the map. */
const roomy = "(min-width: 900px)";

/** mountPanels makes all panels. main.ts calls it once and puts them over the map. */
export function mountPanels(state: State, actions: Actions): HTMLElement {
  const choosing = new Choosing(state.settings);
  const speech = speakAs(state);
  const tones = new Tones();
  tones.listen(document);
  const votes = new Votes(state, actions, choosing);
  const pairing = makePairing(choosing, speech);
  const signIn = (): void => {
    pairing.open();
  };
  const menu = makeMenu({ state, actions, speech, choosing, tones, signIn });
  const listOpen = new Cell(window.matchMedia(roomy).matches);
  const list = makeList(state, actions, speech);
  const card = makeCard({ state, actions, speech, choosing, votes, signIn });
  const side = element("div", { class: "side" }, card, list);
  const all = element(
    "div",
    { class: "panels" },
    makeBanner(state, actions, speech, tones),
    menu.button,
    side,
    makeControls(state, actions, speech, listOpen),
    element("div", { class: "foot" }, makeDemo(speech), makeNotice(state, actions, speech), makeAttribution(state)),
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
  choosing.start();
  return all;
}

/** makeDemo says that nothing is real, where that is so. */
function makeDemo(speech: Cell<Speech>): HTMLElement {
  const text = element("span", {});
  const stop = press({}, () => {
    location.assign(location.pathname);
  });
  const box = element("div", { class: "demo panel", hidden: "" }, text, stop);
  box.hidden = new URLSearchParams(location.search).get("drive") !== "demo";
  speech.watch((words) => {
    say(text, words.say("demo.label"));
    say(stop, words.say("demo.stop"));
  });
  return box;
}
