// The alert: what lies ahead and how far away it still is, large, with a tone when it is announced.

import type { Banner as Alert } from "./announcer.ts";
import type { Cell } from "./cell.ts";
import { element } from "./dom.ts";
import { iconOf, nameOf, streetOf } from "./naming.ts";
import { label, press, say, setAttribute, sign, tell } from "./parts.ts";
import type { Speech } from "./speech.ts";
import type { Actions, AlertCandidate, State } from "./state.ts";
import type { Tones } from "./tones.ts";

const hereWithin = 25; // metres

/** makeBanner shows state.alerts. */
export function makeBanner(state: State, actions: Actions, speech: Cell<Speech>, tones: Tones): HTMLElement {
  const icon = element("img", { alt: "", class: "icon" });
  const figure = element("strong", { class: "figure" });
  const kind = element("span", { class: "kind" });
  const street = element("span", { class: "street" });
  const mute = element("small", { hidden: "" });
  const open = press({ class: "alert" }, () => {
    actions.select(shown?.pin.id ?? null);
  }, icon, element("span", { class: "what" }, kind, street, mute), figure);
  const away = press({ class: "signed away" }, () => {
    if (shown !== null) actions.dismiss(shown.pin.id);
  }, sign("close"));
  const spoken = element("p", { class: "unseen", role: "alert" });
  const box = element("div", { class: "banner", hidden: "" }, open, away);
  let shown: Alert<AlertCandidate> | null = null;

  const draw = (): void => {
    const words = speech.get();
    shown = state.alerts.get().banner;
    box.hidden = shown === null;
    if (shown === null) return;
    const { entity, zone } = shown.pin;
    setAttribute(icon, "src", iconOf(entity, state.kinds.get()));
    say(kind, zone > 0 && shown.distance === 0 ? words.say("banner.inZone") : nameOf(entity, state.kinds.get(), words));
    tell(street, streetOf(entity));
    say(figure, shown.distance < hereWithin ? words.say("banner.here") : words.format.distance(shown.distance).text);
    tell(mute, state.settings.get().tones && !tones.ready.get() ? words.say("tones.touch") : "");
    setAttribute(box, "data-stage", shown.stage);
    label(away, words.say("banner.dismiss"));
  };

  let announced: unknown = null;
  state.alerts.watch(({ announce }) => {
    draw();
    if (announce === null || announce === announced) return;
    announced = announce;
    const words = speech.get();
    const { entity } = announce.pin;
    const values = { kind: nameOf(entity, state.kinds.get(), words), distance: words.format.spokenDistance(announce.distance) };
    const on = streetOf(entity);
    say(spoken, on === "" ? words.say("banner.spoken", values) : words.say("banner.spokenStreet", { ...values, street: on }));
    if (state.settings.get().tones) tones.play(announce.stage);
  });
  for (const cell of [speech, state.kinds, tones.ready]) (cell as Cell<unknown>).watch(draw);
  const region = element("section", { class: "alerts" }, box, spoken);
  speech.watch((words) => {
    label(region, words.say("banner.label"));
  });
  return region;
}
