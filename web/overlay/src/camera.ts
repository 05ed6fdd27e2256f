// Where the map looks while the car drives: it follows until a finger takes it, and draws a frame only when one is due.

import type { Map as MapLibre } from "maplibre-gl";
import type { Car } from "./car.ts";
import { turn, type Place } from "./geo.ts";
import type { Pose } from "./deadreckoning.ts";
import type { CameraMode, State } from "./state.ts";

/** View is what the map shows. */
export interface View {
  center: Place;
  zoom: number;
  /** Degrees clockwise from north that are up. */
  bearing: number;
  /** How far below the middle of the screen the car is, as a share of its height: so much more is seen of what comes. */
  low: number;
  /** Pixels at the left that are not seen. */
  covered: number;
}

const zooms: readonly (readonly [speed: number, zoom: number])[] = [
  [6, 16.4],
  [14, 15.7],
  [25, 14.8],
  [36, 14.1],
];

/** zoomFor looks farther ahead the faster the car is; null: unknown. */
export function zoomFor(speed: number | null): number {
  const at = speed ?? 0;
  for (let i = 1; i < zooms.length; i++) {
    const [before, after] = [zooms[i - 1], zooms[i]];
    if (before === undefined || after === undefined || at > after[0]) continue;
    const share = Math.max(0, (at - before[0]) / (after[0] - before[0]));
    return before[1] + (after[1] - before[1]) * share;
  }
  return zooms[zooms.length - 1]?.[1] ?? 14;
}

const zoomDeadBand = 0.35; // the zoom stays until it would be so much off, so that it does not breathe with the traffic
const zoomPerSecond = 0.4;

/** Zooming is a zoom on its way. */
export interface Zooming {
  zoom: number;
  target: number;
}

/** zoomOn goes on towards the zoom of a speed. */
export function zoomOn({ zoom, target }: Zooming, speed: number | null, milliseconds: number): Zooming {
  const wanted = zoomFor(speed);
  const aim = Math.abs(wanted - target) > zoomDeadBand ? wanted : target;
  const step = (zoomPerSecond * Math.min(milliseconds, 250)) / 1000;
  return { zoom: zoom + Math.max(-step, Math.min(step, aim - zoom)), target: aim };
}

const carLow = 0.22;
/** In a window that is higher than wide the buttons lie below the car. */
const lessLow = 0.6;

/** viewOf is the view of a car that is followed; up is what was up before, for a car that does not know where it goes. */
export function viewOf(pose: Pose, mode: CameraMode, zoom: number, up: number, covered: number): View {
  const ahead = mode === "heading" && pose.heading !== null;
  return { center: pose, zoom, bearing: mode === "north" ? 0 : (pose.heading ?? up), low: ahead ? carLow : 0, covered };
}

const leastPixels = 0.3;
const leastDegrees = 0.1;
const leastZoom = 0.004;
const metresPerDegree = 111_195;
const pixelsAtZoom0 = 512;

/** differs says whether anybody could see the difference. */
export function differs(before: View, after: View): boolean {
  if (Math.abs(after.zoom - before.zoom) >= leastZoom || before.low !== after.low || before.covered !== after.covered) return true;
  if (Math.abs(turn(before.bearing, after.bearing)) >= leastDegrees) return true;
  const perDegree = (pixelsAtZoom0 * 2 ** after.zoom) / 360;
  const east = (after.center.lng - before.center.lng) * perDegree;
  const north = ((after.center.lat - before.center.lat) * perDegree) / Math.cos((after.center.lat * Math.PI) / 180);
  return Math.hypot(east, north) >= leastPixels;
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
  #zooming: Zooming | null = null;
  #shown: View | null = null;
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
    const wake = (): void => {
      this.#wake();
    };
    map.on("resize", () => {
      this.#shown = null;
      wake();
    });
    state.motion.watch(wake);
    state.cameraMode.watch(wake);
    state.covered.watch(wake);
    state.following.watch((following) => {
      if (!following) this.#zooming = null;
      this.#shown = null;
      wake();
    });
  }

  #wake(): void {
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
    if (moving || (pose.speed ?? 0) >= 0.5 || this.#isBlending()) this.#wake();
  }

  /** A fix that is fresh may still be on its way from where the car was drawn. */
  #isBlending(): boolean {
    const motion = this.#state.motion.get();
    const pose = this.#state.pose();
    return motion !== null && pose !== null && !pose.held && (motion.correction.metres > 0.1 || Math.abs(motion.correction.turn) > 0.1) && (pose.lat !== motion.lat || pose.lng !== motion.lng);
  }

  /** follow says whether the zoom is still on its way. */
  #follow(pose: Pose, passed: number): boolean {
    const target = zoomFor(pose.speed);
    this.#zooming = this.#zooming === null ? { zoom: target, target } : zoomOn(this.#zooming, pose.speed, passed);
    const view = viewOf(pose, this.#state.cameraMode.get(), this.#zooming.zoom, this.#shown?.bearing ?? 0, this.#state.covered.get());
    if (this.#shown === null || differs(this.#shown, view)) {
      this.#shown = view;
      const { clientWidth: width, clientHeight: height } = this.#map.getContainer();
      const low = width < height ? view.low * lessLow : view.low;
      this.#map.jumpTo({ center: view.center, zoom: view.zoom, bearing: view.bearing, padding: { top: 2 * low * height, right: 0, bottom: 0, left: view.covered } });
      this.#drawCar();
    }
    return this.#zooming.zoom !== this.#zooming.target;
  }

  #drawCar(): void {
    const pose = this.#state.pose();
    if (pose === null) return;
    // While the map follows, the car is where the map was told to look, to the pixel.
    const place = this.#state.following.get() && this.#shown !== null ? this.#shown.center : pose;
    const { x, y } = this.#map.project(place);
    this.#car.draw({ x, y, turned: pose.heading === null ? null : pose.heading - this.#map.getBearing(), held: pose.held, reach: (pose.accuracy ?? 0) * pixelsPerMetre(this.#map.getZoom(), pose.lat) });
  }
}

