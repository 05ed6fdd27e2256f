// The stops in their order, which large handles and keys change.

import { watchAll } from "../browser/observable.ts";
import { cleanText } from "../pins/entitylabels.ts";
import { element } from "../browser/dom.ts";
import { keyedList, makeButton, makeIcon, setLabel, setText, setTextOrHide, type KeyedItem } from "../browser/widgets.ts";
import type { ChoiceDeps } from "./deps.ts";
import { makeNavIcon } from "./navicons.ts";
import { maxStops, moveStop, removeStop, rowAt } from "./stops.ts";
import type { Stop } from "./types.ts";

const longest = 80; // characters of a name

/** StopsView lists the stops; it is hidden until it is opened. */
export interface StopsView {
  element: HTMLElement;
  open(): void;
}

interface Row {
  stop: Stop;
  at: number;
  of: number;
}

/** makeStopsView makes the list of stops; showChargers opens the chargers in its place. */
export function makeStopsView(deps: ChoiceDeps, showChargers: () => void): StopsView {
  const { host, nav, actions, addStop } = deps;
  const list = element("ol", { class: "stops" });
  const add = makeButton({ id: "nav-add-stop" }, addStop);
  const chargers = makeButton({ id: "nav-stop-chargers" }, showChargers);
  const box = element("div", { class: "scroll", hidden: "" }, list, element("div", { class: "pair" }, add, chargers));
  const change = (stops: readonly Stop[]): void => {
    if (stops === nav.stops.get()) return;
    if (nav.phase.get() === "led") actions.changeStops(stops);
    else replaceStops(deps, stops);
  };
  const showRows = keyedList<Row>(list, ({ stop }) => keyOf(stop), () => makeRow(deps, list, change));
  const draw = (): void => {
    const { say } = host.locale.get();
    const stops = nav.stops.get();
    showRows(stops.map((stop, at) => ({ stop, at, of: stops.length })));
    setText(add, say("nav.addStop"));
    setText(chargers, say("nav.chargers"));
    add.hidden = chargers.hidden = stops.length >= maxStops;
  };
  watchAll([nav.stops, host.locale], draw);
  return { element: box, open: draw };
}

const keyOf = ({ place, name }: Stop): string => `${String(place.lat)},${String(place.lng)},${name}`;

/** replaceStops offers ways over other stops, and leaves the view that is open. */
function replaceStops({ nav, actions }: ChoiceDeps, stops: readonly Stop[]): void {
  if (nav.phase.get() !== "choosing") return;
  actions.choose(stops);
}

/** makeRow makes a row of a stop with a handle, which is dragged or moved by the arrow keys. */
function makeRow({ host, nav }: ChoiceDeps, list: HTMLElement, change: (stops: readonly Stop[]) => void): KeyedItem<Row> {
  let row: Row | null = null;
  const [name, detail] = [element("strong", {}), element("small", {})];
  const handle = makeButton({ class: "signed handle" }, () => undefined, makeNavIcon("handle"));
  const remove = makeButton({ class: "signed" }, () => {
    if (row !== null) change(removeStop(nav.stops.get(), row.at));
  }, makeIcon("close"));
  const item = element("li", {}, handle, element("span", { class: "what" }, name, detail), remove);
  const move = (to: number): void => {
    if (row !== null) change(moveStop(nav.stops.get(), row.at, to));
    handle.focus();
  };
  handle.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : 0;
    if (step === 0 || row === null) return;
    event.preventDefault();
    move(row.at + step);
  });
  let from: { y: number; id: number } | null = null;
  handle.addEventListener("pointerdown", (event) => {
    from = { y: event.clientY, id: event.pointerId };
    handle.setPointerCapture(event.pointerId);
    item.classList.add("dragged");
  });
  handle.addEventListener("pointermove", ({ clientY, pointerId }) => {
    if (from?.id === pointerId) item.style.transform = `translateY(${String(clientY - from.y)}px)`;
  });
  const end = (dragged: number | null): void => {
    from = null;
    item.style.transform = "";
    item.classList.remove("dragged");
    if (row === null || dragged === null) return;
    const to = rowAt(row.at, dragged, list.clientHeight / Math.max(1, row.of), row.of);
    if (to !== row.at) move(to);
  };
  handle.addEventListener("pointerup", ({ clientY }) => {
    end(from === null ? null : clientY - from.y);
  });
  handle.addEventListener("pointercancel", () => {
    end(null);
  });
  return {
    element: item,
    update(next) {
      row = next;
      const { say } = host.locale.get();
      const text = cleanText(next.stop.name, longest) || say("nav.pinned");
      setText(name, text);
      setTextOrHide(detail, cleanText(next.stop.detail, longest));
      setLabel(handle, say("nav.move", { name: text }));
      setLabel(remove, say("nav.remove", { name: text }));
      remove.hidden = handle.hidden = next.of < 2;
    },
  };
}
