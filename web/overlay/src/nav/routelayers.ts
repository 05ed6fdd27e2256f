// Draws the led route on the map: its line in the colours of traffic, the driven part, and the arrow at the next junction.

import { watchAll } from "../browser/observable.ts";
import type { GeoJSONSource, LayerSpecification, Map as MapLibre } from "maplibre-gl";
import { lowestRouteLayer } from "../map/baselayers.ts";
import { lowestPinLayer } from "../map/pinlayers.ts";
import type { Theme } from "../geo/sun.ts";
import { walkTo } from "./arrival.ts";
import { markWhenDrawn, routeDrawnMark } from "./renderingmarks.ts";
import { aheadAt } from "./maneuver.ts";
import type { NavDeps } from "./deps.ts";
import { arrowFeatures, collection, drivenFeature, flowFeatures, isEmpty, lineFeature, longDriven } from "./routefeatures.ts";
import type { RouteLine } from "./routeline.ts";

/** Sources: the route, its driven parts (old and recent), and the parts that change with each junction. */
const sources = ["route", "route-driven", "route-lately", "route-arrow", "route-dashes"] as const;

type SourceName = (typeof sources)[number];

const latelyInterval = 0.8; // seconds between two drawings of the line behind the car
const minDriven = 3; // metres
const arrowWithin = 500; // metres

const colours: Record<Theme, { case: string; low: string; moderate: string; heavy: string; severe: string; closed: string; driven: string; arrow: string; arrowCase: string; dashes: string }> = {
  day: { case: "#0b3a78", low: "#2f7be8", moderate: "#e08a00", heavy: "#d1470f", severe: "#a3170c", closed: "#3d0808", driven: "#7d8790", arrow: "#ffffff", arrowCase: "#0b2545", dashes: "#0b3a78" },
  night: { case: "#0a1c33", low: "#5aa2ff", moderate: "#ffb02e", heavy: "#ff7a45", severe: "#ff5a4d", closed: "#ffd0cc", driven: "#5c6670", arrow: "#ffffff", arrowCase: "#06121f", dashes: "#9cc9ff" },
};

const width = (at10: number, at16: number): ["interpolate", ["linear"], ["zoom"], number, number, number, number] => ["interpolate", ["linear"], ["zoom"], 10, at10, 16, at16];
const inMetres = (at16: number): ["interpolate", ["exponential", number], ["zoom"], number, number, number, number] => ["interpolate", ["exponential", 2], ["zoom"], 14, at16 / 4, 18, at16 * 4];
const round = { "line-cap": "round", "line-join": "round" } as const;

/** layersFor returns all layers, from bottom to top. */
function layersFor(theme: Theme): LayerSpecification[] {
  const c = colours[theme];
  const line = (id: string, source: SourceName, paint: NonNullable<Extract<LayerSpecification, { type: "line" }>["paint"]>): LayerSpecification => ({ id, type: "line", source, layout: round, paint });
  return [
    line(lowestRouteLayer, "route", { "line-color": c.case, "line-width": width(6, 15) }),
    line("route-line", "route", { "line-color": ["match", ["get", "flow"], "moderate", c.moderate, "heavy", c.heavy, "severe", c.severe, "closed", c.closed, c.low], "line-width": width(4, 10) }),
    line("route-driven", "route-driven", { "line-color": c.driven, "line-width": width(5, 12) }),
    line("route-lately", "route-lately", { "line-color": c.driven, "line-width": width(5, 12) }),
    { id: "route-dashes", type: "line", source: "route-dashes", paint: { "line-color": c.dashes, "line-width": 5, "line-dasharray": [1.5, 1.2] } },
    line("route-arrow-case", "route-arrow", { "line-color": c.arrowCase, "line-width": inMetres(11) }),
    { id: "route-arrow", type: "line", source: "route-arrow", filter: ["==", ["geometry-type"], "LineString"], layout: round, paint: { "line-color": c.arrow, "line-width": inMetres(7) } },
    { id: "route-arrow-head", type: "fill", source: "route-arrow", filter: ["==", ["geometry-type"], "Polygon"], paint: { "fill-color": c.arrow } },
  ];
}

/** RouteLayers draws on an open map. */
class RouteLayers {
  readonly #map: MapLibre;
  readonly #data = new Map<SourceName, GeoJSON.Feature | GeoJSON.FeatureCollection>();
  /** Sources whose layers are drawn. Each further one costs a slow processor masks for all its tiles in every frame, also an empty one. */
  readonly #visible = new Set<SourceName>();
  #theme: Theme;

  constructor(map: MapLibre, theme: Theme) {
    this.#map = map;
    this.#theme = theme;
    let isLost = false;
    map.on("webglcontextlost", () => {
      isLost = true;
    });
    map.on("style.load", () => {
      this.#build(isLost); // the style that MapLibre restores dates from before the loss
      isLost = false;
    });
  }

  set(name: SourceName, data: GeoJSON.Feature | GeoJSON.FeatureCollection): void {
    this.#data.set(name, data);
    this.#show(name, !isEmpty(data));
    if (this.#map.getSource(name) === undefined) this.#build(false);
    else this.#map.getSource<GeoJSONSource>(name)?.setData(data);
    if (name === "route") markWhenDrawn(this.#map, name, routeDrawnMark);
  }

  #show(name: SourceName, visible: boolean): void {
    if (visible === this.#visible.has(name)) return;
    if (visible) this.#visible.add(name);
    else this.#visible.delete(name);
    for (const layer of layersFor(this.#theme)) {
      if ("source" in layer && layer.source === name && this.#map.getLayer(layer.id) !== undefined) this.#map.setLayoutProperty(layer.id, "visibility", visible ? "visible" : "none");
    }
  }

  setTheme(theme: Theme): void {
    if (theme === this.#theme) return;
    this.#theme = theme;
    for (const layer of layersFor(theme)) {
      if (this.#map.getLayer(layer.id) === undefined) continue;
      for (const [name, value] of Object.entries(layer.paint ?? {})) this.#map.setPaintProperty(layer.id, name, value);
    }
  }

  /** #build adds missing sources and layers, once there is something to draw. */
  #build(anew: boolean): void {
    if (this.#data.size === 0 || !this.#map.isStyleLoaded()) {
      if (this.#data.size > 0) {
        void this.#map.once("idle", () => {
          this.#build(false);
        });
      }
      return;
    }
    for (const name of sources) {
      const data = this.#data.get(name) ?? collection([]);
      if (this.#map.getSource(name) === undefined) this.#map.addSource(name, { type: "geojson", data });
      else if (anew) this.#map.getSource<GeoJSONSource>(name)?.setData(data);
    }
    const above = this.#map.getLayer(lowestPinLayer) === undefined ? "pins" : lowestPinLayer;
    for (const layer of layersFor(this.#theme)) {
      if (this.#map.getLayer(layer.id) !== undefined || !("source" in layer)) continue;
      const visibility = this.#visible.has(layer.source as SourceName) ? "visible" : "none";
      this.#map.addLayer({ ...layer, layout: { ...layer.layout, visibility } }, this.#map.getLayer(above) === undefined ? undefined : above);
    }
  }
}

/** mountRouteLayers draws nav.led, and the rest of the way on foot once it is driven. */
export function mountRouteLayers({ host, nav }: NavDeps): void {
  let layers: RouteLayers | null = null;
  let drawn: RouteLine | null = null;
  let drivenTo = 0;
  let latelyTo = -Infinity;
  let arrowAt: number | null = null;
  const drawLine = (): void => {
    const line = (nav.phase.get() === "led" ? nav.led.get()?.line : nav.arrived.get()?.line) ?? null;
    if (layers === null || line === drawn) return;
    drawn = line;
    drivenTo = 0;
    latelyTo = -Infinity;
    arrowAt = null;
    layers.set("route", line === null || nav.phase.get() === "arrived" ? collection([]) : flowFeatures(line));
    for (const name of ["route-driven", "route-lately", "route-arrow"] as const) layers.set(name, collection([]));
  };
  const drawProgress = (): void => {
    const [led, progress] = [nav.led.get(), nav.progress.get()];
    if (layers === null || led === null || progress === null || led.line !== drawn) return;
    const { line } = led;
    const from = longDriven(drivenTo, progress.driven);
    if (from !== drivenTo) {
      drivenTo = from;
      latelyTo = -Infinity;
      layers.set("route-driven", drivenFeature(line, 0, drivenTo));
    }
    if (Math.abs(progress.driven - latelyTo) >= Math.max(minDriven, progress.speed * latelyInterval)) {
      latelyTo = progress.driven;
      layers.set("route-lately", drivenFeature(line, drivenTo, latelyTo));
    }
    const { next } = aheadAt(line, progress.metres);
    const at = next !== null && next.maneuver.type !== "arrive" && next.distance < arrowWithin ? progress.metres + next.distance : null;
    if (at === arrowAt || (at !== null && arrowAt !== null && Math.abs(at - arrowAt) < 1)) return;
    arrowAt = at;
    layers.set("route-arrow", collection(at === null ? [] : arrowFeatures(line, at)));
  };
  const drawDashes = (): void => {
    if (layers === null) return;
    const progress = nav.progress.get();
    const arrived = nav.phase.get() === "arrived" ? nav.arrived.get() : null;
    const fix = host.state.fix.get();
    const end = arrived?.line.places[arrived.line.places.length - 1];
    if (arrived !== null && end !== undefined && walkTo(arrived.line, arrived.destination.place) > 0) layers.set("route-dashes", lineFeature([end, arrived.destination.place]));
    else if (progress?.isOff === true && fix !== null) layers.set("route-dashes", lineFeature([fix, progress.nearest]));
    else layers.set("route-dashes", collection([]));
  };
  host.map.watch((map) => {
    layers = map === null ? null : new RouteLayers(map, host.state.theme.get());
    drawn = null;
    drawLine();
    drawProgress();
  });
  host.state.theme.watch((theme) => {
    layers?.setTheme(theme);
  });
  watchAll([nav.phase, nav.led, nav.arrived], drawLine);
  watchAll([nav.led, nav.progress], drawProgress);
  let dashes = "";
  watchAll([nav.phase, nav.progress], () => {
    const now = nav.phase.get() === "arrived" ? "walk" : nav.progress.get()?.isOff === true ? "back" : "";
    if (now === "" && dashes === "") return;
    dashes = now;
    drawDashes();
  });
}
