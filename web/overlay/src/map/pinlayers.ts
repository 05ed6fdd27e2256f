// Pins on the map: a GeoJSON source for pins and one for shapes on the ground, both updated by difference, and the layers that draw
// them.

import type { GeoJSONSource, LayerSpecification, Map as MapLibre, SourceSpecification, StyleSpecification } from "maplibre-gl";
import { minUnclusteredZoom, clusterZoom, cluster, mergeClose, type Cluster } from "../pins/clusters.ts";
import { diffFeatures, type Pin } from "../pins/featurediff.ts";
import type { Place } from "../geo/geo.ts";
import { clusterImage, lookOf, pinImage, side, type Icons } from "./icons.ts";
import { lineColour } from "../pins/linecolours.ts";
import type { ContextState } from "./map.ts";
import type { Look } from "../pins/icontint.ts";
import { placeOf, shapeOf, zoneWidthOf } from "../pins/shapes.ts";
import { hitTest, type Target } from "../pins/hittest.ts";
import type { Units } from "../settings/settings.ts";
import type { VisibleEntity } from "../pins/visibility.ts";
import { pinLimitOf } from "../pins/wellknown.ts";
import type { Entity, ViewCluster } from "../net/wire.ts";

const pinSource = "pins";
const groundSource = "ground-of-pins";
const chosenSource = "chosen-pin";

/** Name of the performance mark set when the first pins are on the screen. */
export const firstPinsMark = "first-pins";

/** A touch of the service's clusters zooms in no farther: from there on it answers with pins. */
const maxOpenedZoom = 18;

const disputedOpacity = 0.65; // factor on the opacity

/** opacityOf returns a pin's opacity. */
export function opacityOf({ entity, appearance }: Pick<VisibleEntity, "entity" | "appearance">): number {
  return entity.status === "disputed" ? appearance.opacity * disputedOpacity : appearance.opacity;
}

/** pinOf returns an entity's pin as a feature. */
export function pinOf(visible: VisibleEntity, units: Units = "metric"): Pin {
  const { entity } = visible;
  return {
    type: "Feature",
    id: entity.id,
    geometry: entity.geom,
    properties: { id: entity.id, image: pinImage(entity.kind_id, entity.status, pinLimitOf(entity, units)), opacity: opacityOf(visible) },
  };
}

function clusterPin({ id, lat, lng, count, kind }: Cluster): Pin {
  return { type: "Feature", id, geometry: { type: "Point", coordinates: [lng, lat] }, properties: { id, image: clusterImage(kind, count), opacity: 1, cluster: true } };
}

/** viewClusterPin returns the service's cluster as a feature; one of a single entity looks like that entity's pin. */
function viewClusterPin(cluster: Cluster): Pin {
  if (cluster.count > 1) return clusterPin(cluster);
  const { id, lat, lng, kind } = cluster;
  return { type: "Feature", id, geometry: { type: "Point", coordinates: [lng, lat] }, properties: { id, image: pinImage(kind, "reported"), opacity: 1 } };
}

const empty = (): SourceSpecification => ({ type: "geojson", data: { type: "FeatureCollection", features: [] }, promoteId: "id" });

const image = (look: Look): ["concat", ["get", string], string] => ["concat", ["get", "image"], lookOf(look)];
const camera = (yes: string, no: string): ["case", ["==", ["get", string], string], string, string] => ["case", ["==", ["get", "kind"], "camera"], yes, no];
// Pins are always drawn, and the map's names make room for them.
const onTop = { "icon-allow-overlap": true, "icon-ignore-placement": false, "symbol-z-order": "source" } as const;

/** The pins' layer below all others of theirs. */
export const lowestPinLayer = "zones";

/** layersFor returns all layers of the pins, from bottom to top. */
function layersFor(look: Look): LayerSpecification[] {
  const colour = look === "night" ? camera("#ff9d8a", "#ffb648") : camera("#a11f10", "#b3430a");
  return [
    { id: lowestPinLayer, type: "fill", source: groundSource, filter: ["==", ["geometry-type"], "Polygon"], paint: { "fill-color": colour, "fill-opacity": ["*", 0.22, ["get", "opacity"]] } },
    { id: "zone-rims", type: "line", source: groundSource, filter: ["==", ["geometry-type"], "Polygon"], paint: { "line-color": colour, "line-width": 4, "line-dasharray": [2, 1.5], "line-opacity": ["get", "opacity"] } },
    {
      id: "lines",
      type: "line",
      source: groundSource,
      filter: ["==", ["geometry-type"], "LineString"],
      layout: { "line-cap": "round", "line-join": "round" },
      paint: { "line-color": lineColour(look), "line-width": ["interpolate", ["linear"], ["zoom"], 10, 3, 16, 9], "line-opacity": ["*", 0.85, ["get", "opacity"]] },
    },
    {
      id: "pins",
      type: "symbol",
      source: pinSource,
      layout: { "icon-image": image(look), "icon-anchor": ["case", ["has", "cluster"], "center", "bottom"], ...onTop },
      paint: { "icon-opacity": ["get", "opacity"] },
    },
    { id: "chosen", type: "symbol", source: chosenSource, layout: { "icon-image": image(look), "icon-size": 1.45, "icon-anchor": "bottom", ...onTop } },
  ];
}

/** withPins adds the pins to the style with which a map is opened. */
export function withPins(style: StyleSpecification, look: Look): StyleSpecification {
  return { ...style, sources: { ...style.sources, [pinSource]: empty() }, layers: [...style.layers, ...layersFor(look).filter(isOfPins)] };
}

const isOfPins = (layer: LayerSpecification): boolean => "source" in layer && layer.source === pinSource;

/** Touched is the selection of a touch. */
export type Touched = { entity: Entity } | { cluster: Place; zoom: number };

/** TouchTarget is an area of the screen that can be touched. */
interface TouchTarget {
  place: Place;
  /** Pixels from the place up to the centre of the drawing. */
  up: number;
  touched: Touched;
}

/** Pins draws pins on a map whose style is loaded. */
export class Pins {
  readonly #map: MapLibre;
  readonly #icons: Icons;
  readonly #contextState: ContextState;
  #look: Look;
  #visible: readonly VisibleEntity[] = [];
  #viewClusters: readonly ViewCluster[] = [];
  #chosen: string | null = null;
  #units: Units = "metric";
  #touchTargets = new Map<string, TouchTarget>();
  /** Features that were made before, reused for entities that have not changed. */
  #made = new Map<string, { entity: Entity; opacity: number; pin: Pin; shape: Pin | null }>();
  readonly #shown: Record<string, ReadonlyMap<string, Pin>> = { [pinSource]: new Map(), [groundSource]: new Map(), [chosenSource]: new Map() };
  #hasShapes = false;
  #queue = Promise.resolve();

  /** drawn runs once, when the first pins are on the screen. Until addShapes is called, only the pins themselves are drawn. */
  constructor(map: MapLibre, contextState: ContextState, icons: Icons, look: Look, drawn?: () => void) {
    this.#map = map;
    this.#contextState = contextState;
    this.#icons = icons;
    this.#look = look;
    let before = Math.floor(map.getZoom());
    map.on("zoom", () => {
      const now = Math.floor(map.getZoom());
      const isSame = clusterZoom(now) === clusterZoom(before) && (now === before || this.#viewClusters.length === 0);
      before = now;
      if (isSame) return;
      this.#draw();
    });
    let lost = false;
    map.on("webglcontextlost", () => {
      lost = true;
    });
    map.on("style.load", () => {
      // The style that MapLibre restores dates from before the loss.
      this.#build(lost);
      lost = false;
    });
    this.#build(false);
    this.#markFirstPins(drawn);
  }

  #markFirstPins(drawn?: () => void): void {
    const look = (): void => {
      if (this.#shown[pinSource]?.size === 0 || !this.#contextState.isAvailable() || !this.#map.isSourceLoaded(pinSource)) return;
      if (!this.#arePinsDrawn()) return;
      performance.mark(firstPinsMark);
      this.#map.off("render", look);
      drawn?.();
    };
    this.#map.on("render", look);
  }

  #arePinsDrawn(): boolean {
    try {
      return this.#map.queryRenderedFeatures({ layers: ["pins"] }).length > 0;
    } catch {
      return false; // MapLibre 5 fails for some frames where a tile without pins is being replaced; the next frame is asked again
    }
  }

  /** addShapes adds lines, zones and the enlarged pin. Their shaders take a slow processor longer to compile than those of the pins. */
  addShapes(): void {
    if (this.#hasShapes) return;
    this.#hasShapes = true;
    if (this.#contextState.isAvailable()) this.#build(false);
  }

  /** #build adds missing sources and layers; anew also resets the data of the existing ones. */
  #build(anew: boolean): void {
    for (const [id, shown] of Object.entries(this.#shown)) {
      if (id !== pinSource && !this.#hasShapes) continue;
      const missing = this.#map.getSource(id) === undefined;
      if (missing) this.#map.addSource(id, empty());
      if (missing || anew) this.#map.getSource<GeoJSONSource>(id)?.setData({ type: "FeatureCollection", features: [...shown.values()] });
    }
    let above: string | undefined;
    for (const layer of this.#layers().reverse()) {
      if (this.#map.getLayer(layer.id) === undefined) this.#map.addLayer(layer, above);
      above = layer.id;
    }
    if (anew) this.#recolour();
  }

  /** #layers returns those that are drawn so far. */
  #layers(): LayerSpecification[] {
    return layersFor(this.#look).filter((layer) => this.#hasShapes || isOfPins(layer));
  }

  /** #recolour sets the colours of the layers for the current look. */
  #recolour(): void {
    for (const layer of this.#layers()) {
      if (layer.type === "symbol") this.#map.setLayoutProperty(layer.id, "icon-image", layer.layout?.["icon-image"]);
      if (layer.type === "fill") this.#map.setPaintProperty(layer.id, "fill-color", layer.paint?.["fill-color"]);
      if (layer.type === "line") this.#map.setPaintProperty(layer.id, "line-color", layer.paint?.["line-color"]);
    }
  }

  /** show replaces the shown entities and the service's clusters. */
  show(visible: readonly VisibleEntity[], viewClusters: readonly ViewCluster[] = []): void {
    this.#visible = visible;
    this.#viewClusters = viewClusters;
    this.#draw();
  }

  /** choose enlarges one pin; null for none. */
  choose(id: string | null): void {
    this.#chosen = id;
    this.#draw();
  }

  /** setUnits changes the units of the limits on pins. */
  setUnits(units: Units): void {
    if (units === this.#units) return;
    this.#units = units;
    this.#made.clear();
    this.#draw();
  }

  /** setLook changes the colours of all pins. */
  setLook(look: Look): void {
    if (look === this.#look) return;
    this.#look = look;
    this.#enqueue(async () => {
      await this.#icons.add(this.#images());
      if (this.#contextState.isAvailable()) this.#recolour();
    });
  }

  /** find returns the selection of a touch; null if it touches only the map. */
  find(at: { x: number; y: number }): Touched | null {
    if (!this.#contextState.isAvailable()) return null;
    const targets: (Target & { target: TouchTarget })[] = [];
    const middle = this.#map.getCenter().lng;
    for (const [id, target] of this.#touchTargets) {
      const { lat, lng } = target.place;
      const { x, y } = this.#map.project({ lat, lng: lng + 360 * Math.round((middle - lng) / 360) }); // the copy of the world in view
      targets.push({ id, x, y: y - target.up, target });
    }
    const pin = hitTest(targets, at);
    if (pin !== null) return pin.target.touched;
    const layers = ["lines", "zones"].filter((id) => this.#map.getLayer(id) !== undefined);
    const [ground] = this.#map.queryRenderedFeatures([[at.x - 12, at.y - 12], [at.x + 12, at.y + 12]], { layers });
    const found = this.#visible.find(({ entity }) => entity.id === ground?.properties["id"]);
    return found === undefined ? null : { entity: found.entity };
  }

  /** #enqueue runs tasks that wait for images one after another. */
  #enqueue(task: () => Promise<void>): void {
    this.#queue = this.#queue.then(task).catch((error: unknown) => {
      console.error(error);
    });
  }

  #images(): Set<string> {
    const names = new Set<string>();
    for (const source of [pinSource, chosenSource]) {
      for (const { properties } of this.#shown[source]?.values() ?? []) names.add(String(properties["image"]) + lookOf(this.#look));
    }
    return names;
  }

  #draw(): void {
    const pins = new Map<string, Pin>();
    const ground = new Map<string, Pin>();
    const chosen = new Map<string, Pin>();
    const touchTargets = new Map<string, TouchTarget>();
    const made = new Map<string, { entity: Entity; opacity: number; pin: Pin; shape: Pin | null }>();
    const points: { id: string; lat: number; lng: number; kind: string; age: number; entity: Entity; pin: Pin }[] = [];
    for (const visible of this.#visible) {
      const { entity } = visible;
      const { id } = entity;
      const opacity = opacityOf(visible);
      const before = this.#made.get(id);
      const one = before?.entity === entity && before.opacity === opacity ? before : { entity, opacity, pin: pinOf(visible, this.#units), shape: shapeOf(entity, opacity) };
      made.set(id, one);
      if (one.shape !== null) ground.set(id, one.shape);
      if (zoneWidthOf(entity) > 0) continue; // a pin would claim an exact place
      if (id === this.#chosen) chosen.set(id, one.pin);
      points.push({ id, ...placeOf(entity), kind: entity.kind_id, age: visible.age, entity, pin: one.pin });
    }
    const gravity = (kind: string): number => this.#icons.gravityOf(kind);
    const { single, clusters } = cluster(points, this.#map.getZoom(), gravity);
    for (const { id, lat, lng, entity, pin } of single) {
      pins.set(id, pin);
      touchTargets.set(id, { place: { lat, lng }, up: side / 2, touched: { entity } });
    }
    for (const cluster of clusters) {
      pins.set(cluster.id, clusterPin(cluster));
      touchTargets.set(cluster.id, { place: cluster, up: 0, touched: { cluster, zoom: Math.min(minUnclusteredZoom, this.#map.getZoom() + 2) } });
    }
    const viewClusters = this.#viewClusters.map(({ kind_id, ...rest }) => ({ ...rest, kind: kind_id }));
    for (const cluster of mergeClose(viewClusters, this.#map.getZoom(), gravity)) {
      pins.set(cluster.id, viewClusterPin(cluster));
      touchTargets.set(cluster.id, { place: cluster, up: cluster.count > 1 ? 0 : side / 2, touched: { cluster, zoom: Math.min(maxOpenedZoom, this.#map.getZoom() + 2) } });
    }
    this.#made = made;
    this.#touchTargets = touchTargets;
    this.#update({ [pinSource]: pins, [groundSource]: ground, [chosenSource]: chosen });
  }

  #update(wanted: Record<string, ReadonlyMap<string, Pin>>): void {
    for (const [id, features] of Object.entries(wanted)) {
      const change = diffFeatures(this.#shown[id] ?? new Map(), features);
      if (change === null) continue;
      this.#shown[id] = features;
      const names = id === groundSource ? new Set<string>() : this.#images();
      this.#enqueue(async () => {
        await this.#icons.add(names);
        if (this.#contextState.isAvailable()) this.#map.getSource<GeoJSONSource>(id)?.updateData(change);
      });
    }
  }
}
