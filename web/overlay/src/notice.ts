// What the driver has to know or do: where the car is, whether the service can be reached, and what is not shown.

import type { Cell } from "./cell.ts";
import { element } from "./dom.ts";
import { greyAfter } from "./freshness.ts";
import { kindOf } from "./naming.ts";
import { label, say, tell } from "./parts.ts";
import { parsePlace, type Finding } from "./position.ts";
import { zoneOf } from "./shapes.ts";
import type { Speech } from "./speech.ts";
import type { Actions, Connection, State } from "./state.ts";

const every = 1000; // ms
/** A break that is shorter is not worth a word. */
const quietFor = 3000; // ms

/** What cannot be helped need not be said for ever. */
const explainFor = 20_000; // ms

/** passing says for how long something has been so, and no more once it was said for a while (pure). */
export function passing(isSo: boolean, since: number | null, now: number): { since: number | null; shown: boolean } {
  if (!isSo) return { since: null, shown: false };
  const from = since ?? now;
  return { since: from, shown: now - from < explainFor };
}

/** makePassing remembers since when. */
function makePassing(): (isSo: boolean, now: number) => boolean {
  let since: number | null = null;
  return (isSo, now) => {
    const next = passing(isSo, since, now);
    since = next.since;
    return next.shown;
  };
}

/** placeText says how far we are with the position; empty: all is well (pure). */
export function placeText(finding: Finding, held: boolean, drawable: boolean, { say: speak }: Pick<Speech, "say">): string {
  switch (finding) {
    case "asking":
      return speak("place.locating");
    case "refused":
    case "missing":
      return speak(drawable ? `place.${finding}` : "place.type");
    case "found":
    case "named":
      return held ? speak("place.held") : "";
  }
}

/** linkText says since when the service is out of reach; empty: it is not (pure). */
export function linkText(connection: Connection | null, located: boolean, online: boolean, now: number, { say: speak, format }: Pick<Speech, "say" | "format">): string {
  if (connection === null) return located ? speak(online ? "link.connecting" : "link.offline") : "";
  if (connection.how !== "lost") return "";
  const lost = now - connection.since;
  if (lost < quietFor) return "";
  const stale = speak("link.stale", { age: format.duration(lost) });
  return `${speak(online && lost < greyAfter ? "link.reconnecting" : "link.offline")} ${stale}`;
}

/** makeNotice shows them, each on a line of its own. */
export function makeNotice(state: State, actions: Actions, speech: Cell<Speech>): HTMLElement {
  const lines = ["draw", "place", "link", "law", "hidden", "most"].map((about) => element("p", { hidden: "", "data-about": about }));
  const typing = makeTyping(actions, speech);
  const box = element("div", { class: "notice panel", hidden: "" }, element("div", { role: "status" }, ...lines), typing);
  const [mapless, zoned, hidden, truncated] = [makePassing(), makePassing(), makePassing(), makePassing()];
  const draw = (): void => {
    const words = speech.get();
    const pose = state.pose();
    const now = performance.now();
    const drawable = state.drawable.get();
    const finding = state.finding.get();
    const forbidden = state.hidden.get();
    const texts = [
      mapless(!drawable, now) ? words.say("draw.none") : "",
      placeText(finding, pose?.held ?? false, drawable, words),
      linkText(state.connection.get(), pose !== null, navigator.onLine, now, words),
      zoned(state.entities.get().some((entity) => zoneOf(entity) > 0), now) ? words.say("law.zones") : "",
      hidden(forbidden.length > 0, now) ? words.say("law.hidden", { kinds: forbidden.map((id) => kindOf(id, state.kinds.get(), words)).join(", ") }) : "",
      truncated(state.truncated.get(), now) ? words.say("map.truncated", { count: words.format.number(state.known.get().length) }) : "",
    ];
    lines.forEach((line, at) => {
      tell(line, texts[at] ?? "");
    });
    typing.hidden = drawable || (finding !== "refused" && finding !== "missing");
    box.hidden = texts.every((text) => text === "");
  };
  for (const cell of [speech, state.drawable, state.finding, state.connection, state.fix, state.truncated, state.hidden, state.entities]) (cell as Cell<unknown>).watch(draw);
  setInterval(draw, every);
  return box;
}

/** makeTyping is for a driver who can neither be located nor touch a map. */
function makeTyping(actions: Actions, speech: Cell<Speech>): HTMLFormElement {
  const field = element("input", { type: "text", inputmode: "text", autocomplete: "off", maxlength: "40" });
  const set = element("button", { type: "submit", class: "strong" });
  const form = element("form", { class: "typing", hidden: "" }, field, set);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const place = parsePlace(field.value);
    field.setAttribute("aria-invalid", String(place === null));
    if (place !== null) actions.namePlace(place);
  });
  speech.watch((words) => {
    label(field, words.say("place.coordinates"));
    field.placeholder = words.say("place.coordinates");
    say(set, words.say("place.set"));
  });
  return form;
}
