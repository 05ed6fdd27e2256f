// The list of alerts ahead: beside the map, or as the whole page where no map can be drawn.

import { maxDistance, secondsTo, type ListedAlert } from "../alerts/alertrules.ts";
import type { Observable } from "../browser/observable.ts";
import { element } from "../browser/dom.ts";
import { rove } from "../browser/focus.ts";
import { isGrey } from "../pins/freshness.ts";
import { angleBetween, distance } from "../geo/geo.ts";
import { iconOf, entityLabel, streetOf } from "../pins/entitylabels.ts";
import { keyedList, makeButton, setText, setAttribute, setTextOrHide, type KeyedItem } from "../browser/widgets.ts";
import { placeOf, zoneWidthOf } from "../pins/shapes.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Actions, State } from "../state/state.ts";
import type { Entity } from "../net/wire.ts";

/** ListLine is an entity with its distance in metres. */
export interface ListLine {
  entity: Entity;
  distance: number;
}

const maxNearby = 20;

/** roundedSeconds rounds to whole minutes from one minute on (pure). */
export const roundedSeconds = (seconds: number): number => (seconds < 60 ? seconds : Math.round(seconds / 60) * 60);

/** nearbyLines returns the entities that are near but not ahead, nearest first (pure). */
export function nearbyLines(entities: readonly Entity[], place: { lat: number; lng: number }, ahead: readonly ListedAlert<{ entity: Entity } & ListedAlert["pin"]>[]): ListLine[] {
  const listed = new Set(ahead.map(({ pin }) => pin.id));
  return entities
    .filter(({ id }) => !listed.has(id))
    .map((entity) => ({ entity, distance: Math.max(0, distance(place, placeOf(entity)) - zoneWidthOf(entity) / 2) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, maxNearby);
}

const maxAside = 60; // metres to each side of the way straight ahead: what is farther away is on another street

/** isOnWay reports whether the road leads to a pin; where that is not known, whether it lies straight ahead, rather than beside the way (pure). */
export function isOnWay({ distance: metres, bearing: towards, road, pin: { zone } }: Pick<ListedAlert, "distance" | "bearing" | "road"> & { pin: Pick<ListedAlert["pin"], "zone"> }, heading: number): boolean {
  if (road !== undefined) return road !== null;
  const off = Math.abs(angleBetween(heading, towards));
  return zone > 0 || (off < 90 && metres * Math.sin((off * Math.PI) / 180) <= maxAside);
}

/** makeList shows the alerts ahead and, without a map, the entities around. */
export function makeList(state: State, actions: Actions, locale: Observable<Locale>): HTMLElement {
  const title = element("h2", {});
  const none = element("p", { class: "empty", hidden: "" });
  const ahead = element("ul", { class: "ahead" });
  const besideTitle = element("h2", { hidden: "" });
  const beside = element("ul", { class: "beside" });
  const aroundTitle = element("h2", { hidden: "" });
  const around = element("ul", {});
  const box = element("section", { class: "list panel" }, element("div", { class: "scroll" }, title, none, ahead, besideTitle, beside, aroundTitle, around));
  const make = ({ entity }: ListLine): KeyedItem<ListLine> => makeLine(entity, state, actions, locale);
  const showAhead = keyedList<ListLine>(ahead, ({ entity }) => entity.id, make);
  const showBeside = keyedList<ListLine>(beside, ({ entity }) => entity.id, make);
  const showAround = keyedList<ListLine>(around, ({ entity }) => entity.id, make);

  const roved = rove(box, ".line");
  const draw = (): void => {
    const words = locale.get();
    const { listed } = state.alerts.get();
    const pose = state.pose();
    const directed = pose !== null && pose.heading !== null;
    setText(title, words.say(directed ? "ahead.title" : "ahead.around"));
    const heading = pose?.heading ?? null;
    const onWay = listed.filter((alert) => heading === null || isOnWay(alert, heading));
    const offWay = listed.filter((alert) => !onWay.includes(alert));
    const lineOf = ({ pin, distance: metres }: (typeof listed)[number]): ListLine => ({ entity: pin.entity, distance: metres });
    const isRead = state.connection.get() !== null;
    setTextOrHide(none, onWay.length > 0 || pose === null || !isRead ? "" : directed ? words.say("ahead.empty") : words.say("ahead.emptyAround", { distance: words.format.distance(maxDistance).text }));
    showAhead(onWay.map(lineOf));
    setTextOrHide(besideTitle, offWay.length > 0 ? words.say("ahead.beside") : "");
    showBeside(offWay.map(lineOf));
    box.classList.toggle("grey", isGrey(state.connection.get(), performance.now()));
    const others = state.drawable.get() || pose === null || !directed ? [] : nearbyLines(state.entities.get(), pose, listed);
    setTextOrHide(aroundTitle, others.length > 0 ? words.say("ahead.around") : "");
    showAround(others);
    roved();
  };
  for (const observable of [state.alerts, state.entities, state.kinds, state.drawable, locale]) (observable as Observable<unknown>).watch(draw);
  return box;
}

function makeLine(first: Entity, state: State, actions: Actions, locale: Observable<Locale>): KeyedItem<ListLine> {
  const icon = element("img", { alt: "", class: "icon" });
  const kind = element("span", { class: "kind" });
  const street = element("span", { class: "street" });
  const metres = element("strong", {});
  const time = element("span", { class: "time" });
  const open = makeButton({ class: "line" }, () => {
    actions.select(first.id);
  }, icon, element("span", { class: "what" }, kind, street), element("span", { class: "figures" }, metres, time));
  return {
    element: element("li", {}, open),
    update({ entity, distance: away }) {
      const words = locale.get();
      setAttribute(icon, "src", iconOf(entity, state.kinds.get()));
      setText(kind, entityLabel(entity, state.kinds.get(), words));
      setTextOrHide(street, streetOf(entity));
      setText(metres, words.format.distance(away).text);
      const seconds = secondsTo(away, state.pose()?.speed ?? null);
      setTextOrHide(time, seconds === null ? "" : words.format.duration(roundedSeconds(seconds) * 1000));
    },
  };
}
