// The question after a long press on the map: whether to drive to that place, or whether the driver is there.

import type { Map as MapLibre, MapMouseEvent, MapTouchEvent } from "maplibre-gl";
import { element } from "../browser/dom.ts";
import { normalizeLongitude, type Place } from "../geo/geo.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Observable } from "../browser/observable.ts";
import type { Actions } from "../state/state.ts";
import { makeButton, makeIcon, setLabel, setText } from "../browser/widgets.ts";

const pressDuration = 600; // ms
const maxPressMove = 10; // pixels
const shownFor = 8000; // ms
const size = { width: 300, height: 152 }; // pixels, at most, to keep the question on the screen

interface Point {
  x: number;
  y: number;
}

/** isSamePlace reports whether a finger has not moved noticeably (pure). */
export const isSamePlace = (a: Point, b: Point): boolean => Math.hypot(a.x - b.x, a.y - b.y) <= maxPressMove;

/** promptCorner returns the upper left corner of the question above a point, so that it is on the screen (pure). */
export function promptCorner({ x, y }: Point, width: number, height: number): Point {
  const clamp = (value: number, most: number): number => Math.round(Math.max(8, Math.min(most - 8, value)));
  return { x: clamp(x - size.width / 2, width - size.width), y: clamp(y - size.height - 12, height - size.height) };
}

/** LongPressPrompt is the question after a long press. */
export interface LongPressPrompt {
  /** takesClick reports whether a click belongs to the question: it ends the press that opened it, or closes it. */
  takesClick(point: Point): boolean;
}

/** makeLongPressPrompt listens for long presses. While the map follows the car, the place is that at the time of the press. */
export function makeLongPressPrompt(map: MapLibre, actions: Actions, locale: Observable<Locale>): LongPressPrompt {
  let pressed: { point: Point; place: Place } | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const drive = makeButton({ class: "strong", id: "drive-here" }, () => {
    if (pressed !== null) actions.driveTo({ place: pressed.place, name: "", detail: "" });
    hide();
  });
  const here = makeButton({ class: "place-here" }, () => {
    if (pressed !== null) actions.namePlace(pressed.place);
    hide();
  });
  const close = makeButton({ class: "signed" }, () => {
    hide();
  }, makeIcon("close"));
  const box = element("div", { class: "here panel", role: "group", hidden: "" }, drive, close, here);
  map.getContainer().append(box);
  const hide = (): void => {
    clearTimeout(hiding);
    if (box.contains(document.activeElement)) map.getCanvas().focus({ preventScroll: true });
    box.hidden = true;
    pressed = null;
  };
  box.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") hide();
  });
  const show = (point: Point, { lat, lng }: Place): void => {
    const { clientWidth: width, clientHeight: height } = map.getContainer();
    const corner = promptCorner(point, width, height);
    pressed = { point, place: { lat, lng: normalizeLongitude(lng) } };
    box.style.left = `${String(corner.x)}px`;
    box.style.top = `${String(corner.y)}px`;
    box.hidden = false;
    drive.focus({ preventScroll: true });
    clearTimeout(hiding);
    hiding = setTimeout(hide, shownFor);
  };
  const cancel = (): void => {
    clearTimeout(timer);
  };
  let start: Point = { x: 0, y: 0 };
  const begin = ({ point, lngLat, originalEvent }: MapMouseEvent | MapTouchEvent): void => {
    cancel();
    if ("touches" in originalEvent ? originalEvent.touches.length !== 1 : originalEvent.button !== 0) return;
    start = { x: point.x, y: point.y };
    timer = setTimeout(() => {
      show(start, lngLat);
    }, pressDuration);
  };
  const move = ({ point }: MapMouseEvent | MapTouchEvent): void => {
    if (!isSamePlace(start, point)) cancel();
  };
  map.on("touchstart", begin);
  map.on("mousedown", begin);
  map.on("touchmove", move);
  map.on("mousemove", move);
  for (const end of ["touchend", "touchcancel", "mouseup", "dragstart"] as const) map.on(end, cancel);
  map.on("contextmenu", ({ point, lngLat, originalEvent }) => {
    cancel();
    originalEvent.preventDefault(); // otherwise the browser's menu covers the question
    show(point, lngLat);
  });
  locale.watch(({ say: speak }) => {
    setText(drive, speak("nav.driveThere"));
    setText(here, speak("place.here"));
    setLabel(close, speak("do.close"));
    setLabel(box, speak("nav.driveThere"));
  });
  return {
    takesClick(point) {
      if (pressed === null) return false;
      if (!isSamePlace(pressed.point, point)) hide();
      return true;
    },
  };
}
