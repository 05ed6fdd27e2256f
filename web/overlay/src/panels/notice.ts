// Notices for the driver: position, connection, and missing entities.

import type { Observable } from "../browser/observable.ts";
import { element } from "../browser/dom.ts";
import { boundsOf } from "../map/extent.ts";
import { greyAfter } from "../pins/freshness.ts";
import { cleanText, entityLabel, kindLabel, streetOf, textOf } from "../pins/entitylabels.ts";
import { distance, normalizeDegrees, type Place } from "../geo/geo.ts";
import { makeButton, setLabel, setText, setTextOrHide } from "../browser/widgets.ts";
import { radius } from "../readers/nearbyreader.ts";
import { canTap, parsePlace, roughAccuracy, type PositionStatus } from "../car/position.ts";
import { placeOf, zoneWidthOf } from "../pins/shapes.ts";
import type { Locale } from "../i18n/locale.ts";
import { isWithoutData, type Actions, type Connection, type State } from "../state/state.ts";
import type { Extent, Kind, Nearest } from "../net/wire.ts";

const updateInterval = 1000; // ms
const longestName = 40; // characters
/** Milliseconds: shorter outages are not reported. */
const minOutageShown = 3000; // ms

/** Milliseconds after which a notice that the driver cannot act on is hidden. */
const noticeDuration = 20_000; // ms

/** transientNotice tracks since when a condition holds and hides its notice after a while (pure). */
export function transientNotice(isSo: boolean, since: number | null, now: number): { since: number | null; shown: boolean } {
  if (!isSo) return { since: null, shown: false };
  const from = since ?? now;
  return { since: from, shown: now - from < noticeDuration };
}

/** makeTransient keeps the state of transientNotice. */
function makeTransient(): (isSo: boolean, now: number) => boolean {
  let since: number | null = null;
  return (isSo, now) => {
    const next = transientNotice(isSo, since, now);
    since = next.since;
    return next.shown;
  };
}

/** PositionFacts are the inputs of the notice about the position. */
export interface PositionFacts {
  status: PositionStatus;
  /** Metres; null if exact or unknown. */
  accuracy: number | null;
  /** No fix came for a while. */
  held: boolean;
  drawable: boolean;
}

/** positionText returns the notice about the position; empty if there is none (pure). */
export function positionText({ status, accuracy, held, drawable }: PositionFacts, { say: speak, format }: Pick<Locale, "say" | "format">): string {
  switch (status) {
    case "unasked":
      return drawable ? "" : speak("place.type");
    case "asking":
      return speak("place.locating");
    case "slow":
    case "refused":
    case "missing":
      return speak(drawable ? `place.${status}` : "place.type");
    case "found":
    case "named":
    case "left":
      if (held) return speak("place.held");
      return accuracy !== null && accuracy > roughAccuracy && drawable ? speak("place.rough", { distance: format.distance(accuracy).text }) : "";
  }
}

/** noDataText returns the notice that nothing is around, with the nearest place that has something (pure). */
export function noDataText(nearest: Nearest | null, from: Place, kinds: readonly Kind[], words: Locale): string {
  const { say: speak, format } = words;
  const around = format.distance(radius).text;
  if (nearest === null) return speak("place.noData", { distance: around });
  const { entity, place } = nearest;
  const name = textOf(entity, "city") || cleanText(place?.name, longestName) || streetOf(entity) || entityLabel(entity, kinds, words);
  return speak("place.nearest", { distance: around, place: name, far: format.distance(distance(from, placeOf(entity))).text });
}

/** isElsewhere reports whether a view shows another place than the driver's surroundings (pure). */
export function isElsewhere({ west, south, east, north }: Extent, here: Place): boolean {
  const fromWest = normalizeDegrees(here.lng - west);
  const isInView = here.lat >= south && here.lat <= north && (east - west >= 360 || fromWest <= east - west);
  return !isInView;
}

/** connectionText returns the notice about an outage; empty if there is none (pure). */
export function connectionText(connection: Connection | null, located: boolean, online: boolean, now: number, { say: speak, format }: Pick<Locale, "say" | "format">): string {
  if (connection === null) return located ? speak(online ? "link.connecting" : "link.offline") : "";
  if (connection.how !== "lost") return "";
  const lost = now - connection.since;
  if (lost < minOutageShown) return "";
  const stale = speak("link.stale", { age: format.duration(lost) });
  return `${speak(online && lost < greyAfter ? "link.reconnecting" : "link.offline")} ${stale}`;
}

/** makeNotice shows each notice on a line of its own. */
export function makeNotice(state: State, actions: Actions, locale: Observable<Locale>): HTMLElement {
  const lines = ["draw", "place", "named", "data", "link", "view", "elsewhere", "law", "hidden", "most"].map((about) => element("p", { hidden: "", "data-about": about }));
  const placeForm = makePlaceForm(actions, locale);
  const showData = makeButton({ id: "show-data", hidden: "" }, () => {
    if (state.nearest.get() === null) actions.lookAround();
    else actions.showNearest();
  });
  const box = element("div", { class: "notice panel", hidden: "" }, element("div", { role: "status" }, ...lines), placeForm, showData);
  const [mapless, named, zoned, hidden, truncated] = [makeTransient(), makeTransient(), makeTransient(), makeTransient(), makeTransient()];
  const draw = (): void => {
    const words = locale.get();
    const pose = state.pose();
    const now = performance.now();
    const drawable = state.drawable.get();
    const status = state.positionStatus.get();
    const following = state.following.get();
    const noData = isWithoutData(state) && following;
    const nearest = state.nearest.get();
    const viewport = state.viewport.get();
    const forbidden = state.view.get()?.hidden ?? state.hidden.get();
    const connection = state.connection.get();
    const texts = [
      mapless(!drawable, now) ? words.say("draw.none") : "",
      state.welcoming.get() ? "" : positionText({ status, accuracy: pose?.accuracy ?? null, held: pose?.held ?? false, drawable }, words),
      named(status === "named" && drawable, now) ? words.say("place.named") : "",
      noData && pose !== null ? noDataText(nearest, pose, state.kinds.get(), words) : "",
      connectionText(connection, pose !== null, navigator.onLine, now, words),
      state.viewFailed.get() && connection?.how !== "lost" ? words.say("view.failed") : "",
      pose !== null && viewport !== null && isElsewhere(viewport, pose) ? words.say("view.elsewhere") : "",
      zoned(state.entities.get().some((entity) => zoneWidthOf(entity) > 0), now) ? words.say("law.zones") : "",
      hidden(forbidden.length > 0, now) ? words.say("law.hidden", { kinds: forbidden.map((id) => kindLabel(id, state.kinds.get(), words)).join(", ") }) : "",
      truncated(state.truncated.get(), now) ? words.say("map.truncated", { count: words.format.number(state.known.get().length) }) : "",
    ];
    lines.forEach((line, at) => {
      setTextOrHide(line, texts[at] ?? "");
    });
    placeForm.hidden = drawable || state.welcoming.get() || (status !== "unasked" && !canTap(status));
    setText(showData, words.say(nearest === null ? "place.showData" : "place.showNearest"));
    showData.hidden = !noData || !drawable || (nearest === null && boundsOf(state.config.get()?.extent) === null);
    box.hidden = texts.every((text) => text === "");
  };
  for (const observable of [locale, state.drawable, state.positionStatus, state.connection, state.fix, state.truncated, state.hidden, state.entities, state.known, state.welcoming, state.following, state.config, state.viewport, state.view, state.viewFailed, state.nearest]) (observable as Observable<unknown>).watch(draw);
  setInterval(draw, updateInterval);
  return box;
}

/** makePlaceForm makes a form for coordinates, for drivers without geolocation and without a map. */
function makePlaceForm(actions: Actions, locale: Observable<Locale>): HTMLFormElement {
  const field = element("input", { type: "text", inputmode: "text", autocomplete: "off", maxlength: "40" });
  const set = element("button", { type: "submit", class: "strong" });
  const form = element("form", { class: "typing", hidden: "" }, field, set);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const place = parsePlace(field.value);
    field.setAttribute("aria-invalid", String(place === null));
    if (place !== null) actions.namePlace(place);
  });
  locale.watch((words) => {
    setLabel(field, words.say("place.coordinates"));
    field.placeholder = words.say("place.coordinates");
    setText(set, words.say("place.set"));
  });
  return form;
}
