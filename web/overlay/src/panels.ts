// Everything that lies over the map.

import { element } from "./dom.ts";
import { makeMenu } from "./menu.ts";
import { makeNotice } from "./notice.ts";
import type { Actions, State } from "./state.ts";

/** mountPanels makes the panels, which follow the state and ask for actions. */
export function mountPanels(state: State, actions: Actions): HTMLElement {
  const notice = makeNotice();
  const credits = element("p", { class: "attribution", hidden: "" });
  state.attributions.watch((texts) => {
    credits.textContent = texts.join(" · ");
    credits.hidden = texts.length === 0;
  });
  const tell = (): void => {
    const { say } = state.words.get();
    const finding = state.finding.get();
    if (finding === "asking") notice.say(say("place.locating"));
    else if (finding === "refused" || finding === "missing") notice.say(say(`place.${finding}`));
    else notice.say(state.drawable.get() ? null : say("draw.none"));
  };
  for (const cell of [state.finding, state.words, state.drawable]) (cell as { watch(watcher: () => void): void }).watch(tell);
  const back = element("button", { type: "button", hidden: "" });
  back.addEventListener("click", () => {
    actions.recentre();
  });
  return element("div", {}, notice.element, credits, back, makeMenu());
}
