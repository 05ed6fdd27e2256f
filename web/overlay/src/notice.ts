// What the driver has to know or do: where the car is, and whether the service can be reached.

import type { Cell } from "./cell.ts";
import { element } from "./dom.ts";
import { greyAfter } from "./decay.ts";
import { tell } from "./parts.ts";
import type { Finding } from "./position.ts";
import type { Speech } from "./speech.ts";
import type { Connection, State } from "./state.ts";

const every = 1000; // ms
/** A break that is shorter is not worth a word. */
const quietFor = 3000; // ms

/** placeText says how far we are with the position; empty: all is well (pure). */
export function placeText(finding: Finding, held: boolean, { say }: Pick<Speech, "say">): string {
  switch (finding) {
    case "asking":
      return say("place.locating");
    case "refused":
    case "missing":
      return say(`place.${finding}`);
    case "found":
    case "named":
      return held ? say("place.held") : "";
  }
}

/** linkText says since when the service is out of reach; empty: it is not (pure). */
export function linkText(connection: Connection | null, located: boolean, online: boolean, now: number, { say, format }: Pick<Speech, "say" | "format">): string {
  if (connection === null) return located ? say(online ? "link.connecting" : "link.offline") : "";
  if (connection.how !== "lost") return "";
  const lost = now - connection.since;
  if (lost < quietFor) return "";
  const stale = say("link.stale", { age: format.duration(lost) });
  return `${say(online && lost < greyAfter ? "link.reconnecting" : "link.offline")} ${stale}`;
}

/** makeNotice shows them, each on a line of its own. */
export function makeNotice(state: State, speech: Cell<Speech>): HTMLElement {
  const lines = ["draw", "place", "link"].map((about) => element("p", { hidden: "", "data-about": about }));
  const box = element("div", { class: "notice panel", role: "status", hidden: "" }, ...lines);
  const draw = (): void => {
    const words = speech.get();
    const pose = state.pose();
    const texts = [
      state.drawable.get() ? "" : words.say("draw.none"),
      placeText(state.finding.get(), pose?.held ?? false, words),
      linkText(state.connection.get(), pose !== null, navigator.onLine, performance.now(), words),
    ];
    lines.forEach((line, at) => {
      tell(line, texts[at] ?? "");
    });
    box.hidden = texts.every((text) => text === "");
  };
  for (const cell of [speech, state.drawable, state.finding, state.connection, state.fix]) (cell as Cell<unknown>).watch(draw);
  setInterval(draw, every);
  return box;
}
