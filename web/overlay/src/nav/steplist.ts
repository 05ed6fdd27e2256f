// All maneuvers that are left, as a list that is large enough to drive by where the browser draws no map.

import { watchAll } from "../browser/observable.ts";
import { element } from "../browser/dom.ts";
import { keyedList, setLabel, setText, type KeyedItem } from "../browser/widgets.ts";
import { stepAt } from "./maneuver.ts";
import { drawingOf, makeManeuverIcon } from "./maneuvericon.ts";
import type { NavDeps } from "./deps.ts";
import type { LineStep } from "./routeline.ts";
import { cleanText } from "../pins/entitylabels.ts";
import { turnDistanceText } from "./triptexts.ts";

const maxRows = 30;
const longest = 120; // characters

interface Row {
  key: string;
  distance: string;
  text: string;
  at: LineStep;
  before: LineStep;
}

/** mountStepList shows it in place of the map. */
export function mountStepList({ host, nav }: NavDeps): void {
  const rows = element("ol", {});
  const title = element("h2", {});
  const list = element("section", { class: "steps panel", hidden: "" }, element("div", { class: "scroll", tabindex: "0" }, title, rows));
  host.slots.side.prepend(list);
  const show = keyedList<Row>(rows, ({ key }) => key, makeRow);
  watchAll([nav.phase, nav.led, nav.progress, host.state.drawable, host.locale], () => {
    const [led, progress] = [nav.led.get(), nav.progress.get()];
    list.hidden = host.state.drawable.get() || nav.phase.get() !== "led" || led === null || progress === null;
    if (list.hidden || led === null || progress === null) return;
    const { say, format } = host.locale.get();
    const { units } = host.state.settings.get();
    setText(title, say("nav.steps"));
    setLabel(list, say("nav.steps"));
    const { steps } = led.line;
    const first = stepAt(led.line, progress.metres) + 1;
    show(
      steps.slice(first, first + maxRows).flatMap((at, i) => {
        const before = steps[first + i - 1];
        if (before === undefined) return [];
        const voice = before.step.voiceInstructions ?? [];
        const text = cleanText(before.step.bannerInstructions?.[0]?.primary.text ?? voice[voice.length - 1]?.announcement, longest);
        return [{ key: `${String(led.line.length)} ${String(first + i)}`, distance: turnDistanceText(at.start - progress.metres, units, format), text, at, before }];
      }),
    );
  });
}

function makeRow({ at, before }: Row): KeyedItem<Row> {
  const [figure, name] = [element("strong", { class: "figure" }), element("span", { class: "name" })];
  const icon = element("div", { class: "turn" });
  icon.append(makeManeuverIcon(drawingOf(at.step.maneuver, before.step.bannerInstructions?.[0]?.primary ?? null)));
  return {
    element: element("li", {}, icon, figure, name),
    update({ distance, text }) {
      setText(figure, distance);
      setText(name, text);
    },
  };
}
