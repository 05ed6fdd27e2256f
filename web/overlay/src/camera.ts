// Where the map looks while the car drives: it follows until a finger takes it, and draws a frame only when one is due.

import type { Map as MapLibre } from "maplibre-gl";
import type { Car } from "./car.ts";
import { angleBetween, type Place } from "./geo.ts";
import type { Pose } from "./deadreckoning.ts";
import type { CameraMode, State } from "./state.ts";

/** CameraView is what the map shows. */
export interface CameraView {
  center: Place;
  zoom: number;
  /** Degrees clockwise from north that are up. */
  bearing: number;
  /** How far below the middle of the screen the car is, as a share of its height: so much more is seen of what comes. */
  carOffset: number;
  /** Pixels at the left that are not seen. */
  covered: number;
}

const zoomBySpeed: readonly (readonly [speed: number, zoom: number])[] = [
  [6, 16.4],
  [14, 15.7],
  [25, 14.8],
  [36, 14.1],
];

/** zoomFor looks farther ahead the faster the car is; null: unknown. */
export function zoomFor(speed: number | null): number {
  const at = speed ?? 0;
  for (let i = 1; i < zoomBySpeed.length; i++) {
    const [before, after] = [zoomBySpeed[i - 1], zoomBySpeed[i]];
    if (before === undefined || after === undefined || at > after[0]) continue;
    const share = Math.max(0, (at - before[0]) / (after[0] - before[0]));
    return before[1] + (after[1] - before[1]) * share;
  }
  return zoomBySpeed[zoomBySpeed.length - 1]?.[1] ?? 14;
}

const zoomDeadBand = 0.35; // the zoom stays until it would be so much off, so that it does not breathe with the traffic
const zoomPerSecond = 0.4;

/** ZoomTransition is a zoom on its way. */
export interface ZoomTransition {
  zoom: number;
  target: number;
}

/** stepZoom goes on towards the zoom of a speed. */
export function stepZoom({ zoom, target }: ZoomTransition, speed: number | null, milliseconds: number): ZoomTransition {
  const wanted = zoomFor(speed);
  const nextTarget = Math.abs(wanted - target) > zoomDeadBand ? wanted : target;
  const step = (zoomPerSecond * Math.min(milliseconds, 250)) / 1000;
  return { zoom: zoom + Math.max(-step, Math.min(step, nextTarget - zoom)), target: nextTarget };
}

const carOffsetAhead = 0.22;
/** In a window that is higher than wide the buttons lie below the car. */
const portraitOffsetFactor = 0.6;

/** cameraView is the view of a car that is followed; up is what was up before, for a car that does not know where it goes. */
export function cameraView(pose: Pose, mode: CameraMode, zoom: number, up: number, covered: number): CameraView {
  const ahead = mode === "heading" && pose.heading !== null;
  return { center: pose, zoom, bearing: mode === "north" ? 0 : (pose.heading ?? up), carOffset: ahead ? carOffsetAhead : 0, covered };
}

const minVisiblePixels = 0.3;
const minVisibleDegrees = 0.1;
const minVisibleZoom = 0.004;
const metresPerDegree = 111_195;
const pixelsAtZoom0 = 512;

/** isVisiblyDifferent says whether anybody could see the difference. */
export function isVisiblyDifferent(before: CameraView, after: CameraView): boolean {
  if (Math.abs(after.zoom - before.zoom) >= minVisibleZoom || before.carOffset !== after.carOffset || before.covered !== after.covered) return true;
  if (Math.abs(angleBetween(before.bearing, after.bearing)) >= minVisibleDegrees) return true;
  const perDegree = (pixelsAtZoom0 * 2 ** after.zoom) / 360;
  const east = (after.center.lng - before.center.lng) * perDegree;
  const north = ((after.center.lat - before.center.lat) * perDegree) / Math.cos((after.center.lat * Math.PI) / 180);
  return Math.hypot(east, north) >= minVisiblePixels;
}

/** pixelsPerMetre is the scale of the map at a place. */
export function pixelsPerMetre(zoom: number, lat: number): number {
  return (pixelsAtZoom0 * 2 ** zoom) / 360 / metresPerDegree / Math.cos((lat * Math.PI) / 180);
}

/** Camera moves the map and the car on it. */
export class Camera {
  readonly #map: MapLibre;
  readonly #state: State;
  readonly #car: Car;
  #zoom: ZoomTransition | null = null;
  #shown: CameraView | null = null;
  #frame: number | null = null;
  #frameAt = 0;

  constructor(map: MapLibre, state: State, car: Car) {
    this.#map = map;
    this.#state = state;
    this.#car = car;
    const release = ({ originalEvent }: { originalEvent?: unknown }): void => {
      if (originalEvent !== undefined) state.following.set(false); // what the page itself moves has none
    };
    map.on("dragstart", release);
    map.on("zoomstart", release);
    map.on("rotatestart", release);
    map.on("move", () => {
      if (!state.following.get()) this.#drawCar();
    });
    const requestFrame = (): void => {
      this.#requestFrame();
    };
    map.on("resize", () => {
      this.#shown = null;
      requestFrame();
    });
    state.motion.watch(requestFrame);
    state.cameraMode.watch(requestFrame);
    state.covered.watch(requestFrame);
    state.following.watch((following) => {
      if (!following) this.#zoom = null;
      this.#shown = null;
      requestFrame();
    });
  }

  #requestFrame(): void {
    this.#frame ??= requestAnimationFrame((at) => {
      this.#draw(at);
    });
  }

  /** draw asks for a next frame only while something moves. */
  #draw(at: number): void {
    this.#frame = null;
    const pose = this.#state.pose();
    if (pose === null) return;
    const passed = at - this.#frameAt;
    this.#frameAt = at;
    const moving = this.#state.following.get() ? this.#follow(pose, passed) : false;
    if (!this.#state.following.get()) this.#drawCar();
    if (moving || (pose.speed ?? 0) >= 0.5 || this.#isBlending()) this.#requestFrame();
  }

  /** A fix that is fresh may still be on its way from where the car was drawn. */
  #isBlending(): boolean {
    const motion = this.#state.motion.get();
    const pose = this.#state.pose();
    return motion !== null && pose !== null && !pose.held && (motion.correction.metres > 0.1 || Math.abs(motion.correction.angleBetween) > 0.1) && (pose.lat !== motion.lat || pose.lng !== motion.lng);
  }

  /** follow says whether the zoom is still on its way. */
  #follow(pose: Pose, passed: number): boolean {
    const target = zoomFor(pose.speed);
    this.#zoom = this.#zoom === null ? { zoom: target, target } : stepZoom(this.#zoom, pose.speed, passed);
    const view = cameraView(pose, this.#state.cameraMode.get(), this.#zoom.zoom, this.#shown?.bearing ?? 0, this.#state.covered.get());
    if (this.#shown === null || isVisiblyDifferent(this.#shown, view)) {
      this.#shown = view;
      const { clientWidth: width, clientHeight: height } = this.#map.getContainer();
      const carOffset = width < height ? view.carOffset * portraitOffsetFactor : view.carOffset;
      this.#map.jumpTo({ center: view.center, zoom: view.zoom, bearing: view.bearing, padding: { top: 2 * carOffset * height, right: 0, bottom: 0, left: view.covered } });
      this.#drawCar();
    }
    return this.#zoom.zoom !== this.#zoom.target;
  }

  #drawCar(): void {
    const pose = this.#state.pose();
    if (pose === null) return;
    // While the map follows, the car is where the map was told to look, to the pixel.
    const place = this.#state.following.get() && this.#shown !== null ? this.#shown.center : pose;
    const { x, y } = this.#map.project(place);
    this.#car.draw({ x, y, rotation: pose.heading === null ? null : pose.heading - this.#map.getBearing(), held: pose.held, accuracyRadius: (pose.accuracy ?? 0) * pixelsPerMetre(this.#map.getZoom(), pose.lat) });
  }
}

