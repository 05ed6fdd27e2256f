// The camera of the map: it follows the car until the driver moves the map, and renders a frame only when the view changes.

import type { Map as MapLibre } from "maplibre-gl";
import type { Car } from "./car.ts";
import { angleBetween, type Place } from "../geo/geo.ts";
import type { Pose } from "../car/deadreckoning.ts";
import { placeOf } from "../pins/shapes.ts";
import { isStationary, stationaryZoom } from "./stationaryzoom.ts";
import type { CameraMode, State } from "../state/state.ts";

/** CameraView is a view of the map. */
export interface CameraView {
  center: Place;
  zoom: number;
  /** Bearing of the top edge, in degrees clockwise from north. */
  bearing: number;
  /** How far the car is below the centre of the screen, as a share of its height, so that more of the road ahead is visible. */
  carOffset: number;
  /** Pixels at the left that panels cover; below 0 at the right. */
  covered: number;
  /** Pixels at the top and at the bottom that panels cover; 0 for both if the car may be as low as usual. */
  coveredAbove: number;
  coveredBelow: number;
}

const zoomBySpeed: readonly (readonly [speed: number, zoom: number])[] = [
  [6, 16.4],
  [14, 15.7],
  [25, 14.8],
  [36, 14.1],
];

/** zoomFor returns a lower zoom for a higher speed; null if the speed is unknown. */
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

const zoomDeadBand = 0.35; // hysteresis, so that the zoom does not follow every change of speed
const zoomPerSecond = 0.4;
const fastZoomPerSecond = 1.2; // from standing to driving and back
const stationaryAfter = 5000; // ms: a car at a traffic light does not stand yet

/** ZoomTransition is the present zoom and the one it moves towards. */
export interface ZoomTransition {
  zoom: number;
  target: number;
}

/** stepZoom moves the zoom towards the wanted one. */
export function stepZoom({ zoom, target }: ZoomTransition, wanted: number, milliseconds: number, perSecond = zoomPerSecond): ZoomTransition {
  const nextTarget = Math.abs(wanted - target) > zoomDeadBand ? wanted : target;
  const step = (perSecond * Math.min(milliseconds, 250)) / 1000;
  return { zoom: zoom + Math.max(-step, Math.min(step, nextTarget - zoom)), target: nextTarget };
}

const carOffsetAhead = 0.22;
/** Windows so low have panels where the car would be: a browser at 200 % zoom. */
const lowWindow = 500; // pixels
const lowOffsetFactor = 0.4;
/** In a portrait window the buttons are below the car. */
const portraitOffsetFactor = 0.6;

/** Covered holds the pixels at the edges that panels cover. */
export type Covered = Pick<CameraView, "covered" | "coveredAbove" | "coveredBelow">;

/** cameraView returns the view that follows a car; up is the previous bearing, for a car without a heading. */
export function cameraView(pose: Pose, mode: CameraMode, zoom: number, up: number, covered: Covered): CameraView {
  const ahead = mode === "heading" && pose.heading !== null;
  return { center: pose, zoom, bearing: mode === "north" ? 0 : (pose.heading ?? up), carOffset: ahead ? carOffsetAhead : 0, ...covered };
}

/** paddingOf returns the sides of a map that the view leaves free (pure): the car is drawn in the middle of the rest. */
export function paddingOf({ carOffset, covered, coveredAbove, coveredBelow }: CameraView, width: number, height: number): { top: number; right: number; bottom: number; left: number } {
  const factor = width < height ? portraitOffsetFactor : height < lowWindow ? lowOffsetFactor : 1;
  const top = coveredBelow > 0 ? coveredAbove : 2 * carOffset * factor * height;
  return { top, right: Math.max(0, -covered), bottom: coveredBelow, left: Math.max(0, covered) };
}

const minVisiblePixels = 0.3;
const minVisibleDegrees = 0.1;
const minVisibleZoom = 0.004;
const metresPerDegree = 111_195;
const pixelsAtZoom0 = 512;

/** isVisiblyDifferent reports whether the difference between two views can be seen. */
export function isVisiblyDifferent(before: CameraView, after: CameraView): boolean {
  if (Math.abs(after.zoom - before.zoom) >= minVisibleZoom || before.carOffset !== after.carOffset) return true;
  if (before.covered !== after.covered || before.coveredAbove !== after.coveredAbove || before.coveredBelow !== after.coveredBelow) return true;
  if (Math.abs(angleBetween(before.bearing, after.bearing)) >= minVisibleDegrees) return true;
  const perDegree = (pixelsAtZoom0 * 2 ** after.zoom) / 360;
  const east = (after.center.lng - before.center.lng) * perDegree;
  const north = ((after.center.lat - before.center.lat) * perDegree) / Math.cos((after.center.lat * Math.PI) / 180);
  return Math.hypot(east, north) >= minVisiblePixels;
}

/** pixelsPerMetre returns the scale of the map at a latitude. */
export function pixelsPerMetre(zoom: number, lat: number): number {
  return (pixelsAtZoom0 * 2 ** zoom) / 360 / metresPerDegree / Math.cos((lat * Math.PI) / 180);
}

/** Camera moves the map and the car marker. */
export class Camera {
  readonly #map: MapLibre;
  readonly #state: State;
  readonly #car: Car;
  #zoom: ZoomTransition | null = null;
  #shown: CameraView | null = null;
  #frame: number | null = null;
  #frameAt = 0;
  /** When the car last drove; null if it has only stood. */
  #droveAt: number | null = null;
  #standing: ReturnType<typeof setTimeout> | undefined;
  /** The zoom moves fast, because the car has stopped or driven off. */
  #isFast = false;
  #hadPins = false;
  #isHeld = false;

  constructor(map: MapLibre, state: State, car: Car) {
    this.#map = map;
    this.#state = state;
    this.#car = car;
    const release = ({ originalEvent }: { originalEvent?: unknown }): void => {
      if (originalEvent !== undefined) state.following.set(false); // moves by the page itself have no original event
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
    state.guidance.watch(requestFrame);
    state.covered.watch(requestFrame);
    state.coveredAbove.watch(requestFrame);
    state.coveredBelow.watch(requestFrame);
    state.entities.watch(requestFrame);
    state.cameraMode.watch((mode) => {
      if (!state.following.get()) map.jumpTo({ bearing: mode === "north" ? 0 : (state.pose()?.heading ?? 0) });
    });
    state.following.watch((following) => {
      if (!following) this.#zoom = null;
      this.#shown = null;
      requestFrame();
    });
  }

  /** hold stops moving the map until release is called. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#requestFrame();
  }

  #requestFrame(): void {
    this.#frame ??= requestAnimationFrame((at) => {
      this.#draw(at);
    });
  }

  /** #draw requests the next frame only while something moves. */
  #draw(at: number): void {
    this.#frame = null;
    const pose = this.#state.pose();
    if (pose === null || this.#isHeld) return;
    const passed = at - this.#frameAt;
    this.#frameAt = at;
    const moving = this.#state.following.get() ? this.#follow(pose, at, passed) : false;
    if (!this.#state.following.get()) this.#drawCar();
    if (moving || (pose.speed ?? 0) >= 0.5 || this.#isBlending()) this.#requestFrame();
  }

  /** Right after a fix the car may still be blending from where it was drawn before. */
  #isBlending(): boolean {
    const motion = this.#state.motion.get();
    const pose = this.#state.pose();
    return motion !== null && pose !== null && !pose.held && (motion.correction.metres > 0.1 || Math.abs(motion.correction.angleBetween) > 0.1) && (pose.lat !== motion.lat || pose.lng !== motion.lng);
  }

  /** #wantedZoom returns the zoom for the car's speed, or that for the pins around a car that stands. */
  #wantedZoom(pose: Pose, at: number): number {
    const led = this.#state.guidance.get()?.zoom() ?? null;
    if (led !== null) return led;
    const isDriving = !isStationary(pose);
    if (isDriving && (this.#droveAt === null || at - this.#droveAt >= stationaryAfter)) this.#isFast = true;
    if (isDriving) this.#droveAt = at;
    else if (pose.accuracy === null) this.#droveAt = null; // a place that was set by hand
    if (this.#droveAt !== null && at - this.#droveAt < stationaryAfter) {
      clearTimeout(this.#standing);
      if (!isDriving) this.#standing = setTimeout(() => {
        this.#isFast = true;
        this.#requestFrame(); // a browser reports no fixes of a car that stands
      }, stationaryAfter);
      return zoomFor(pose.speed);
    }
    const entities = this.#state.entities.get();
    const { clientWidth, clientHeight } = this.#map.getContainer();
    const frame = { width: clientWidth - Math.abs(this.#state.covered.get()), height: clientHeight - this.#state.coveredAbove.get() - this.#state.coveredBelow.get(), bearing: this.#shown?.bearing ?? 0 };
    return stationaryZoom(pose, entities.map(placeOf), frame);
  }

  #covered(): Covered {
    const { covered, coveredAbove, coveredBelow } = this.#state;
    return { covered: covered.get(), coveredAbove: coveredAbove.get(), coveredBelow: coveredBelow.get() };
  }

  /** #follow reports whether the zoom is still changing. */
  #follow(pose: Pose, at: number, passed: number): boolean {
    const target = this.#wantedZoom(pose, at);
    // The first pins arrive after the first fix: the map is not moved twice.
    const hasPins = this.#state.entities.get().length > 0;
    if (hasPins && !this.#hadPins && this.#droveAt === null) this.#zoom = null;
    this.#hadPins = hasPins;
    this.#zoom = this.#zoom === null ? { zoom: target, target } : stepZoom(this.#zoom, target, passed, this.#isFast ? fastZoomPerSecond : zoomPerSecond);
    if (this.#zoom.zoom === this.#zoom.target) this.#isFast = false;
    const view = cameraView(pose, this.#state.cameraMode.get(), this.#zoom.zoom, this.#shown?.bearing ?? 0, this.#covered());
    if (this.#shown === null || isVisiblyDifferent(this.#shown, view)) {
      this.#shown = view;
      const { clientWidth: width, clientHeight } = this.#map.getContainer();
      this.#map.jumpTo({ center: view.center, zoom: view.zoom, bearing: view.bearing, padding: paddingOf(view, width, clientHeight) });
      this.#drawCar();
    }
    return this.#zoom.zoom !== this.#zoom.target;
  }

  #drawCar(): void {
    const pose = this.#state.pose();
    if (pose === null) return;
    // While the map follows, the car is drawn exactly at the map's centre.
    const place = this.#state.following.get() && this.#shown !== null ? this.#shown.center : pose;
    const { x, y } = this.#map.project(place);
    this.#car.draw({ x, y, rotation: pose.heading === null ? null : pose.heading - this.#map.getBearing(), held: pose.held, accuracyRadius: (pose.accuracy ?? 0) * pixelsPerMetre(this.#map.getZoom(), pose.lat) });
  }
}

