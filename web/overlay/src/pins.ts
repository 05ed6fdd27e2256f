// Pins on the map: one GeoJSON source for them and one for what lies on the ground, updated by difference, and the layers that
// draw them.

import type { GeoJSONSource, LayerSpecification, Map as MapLibre, SourceSpecification } from "maplibre-gl";
import { apartFrom, level, part, type Cluster } from "./clusters.ts";
import type { PinAppearance } from "./freshness.ts";
import { difference, type Pin } from "./difference.ts";
import type { Place } from "./geo.ts";
import { clusterImage, lookOf, pinImage, side, type Icons } from "./icons.ts";
import type { Presence } from "./map.ts";
import type { Look } from "./pixels.ts";
import { placeOf, shapeOf, zoneOf } from "./shapes.ts";
import { hit, type Target } from "./touch.ts";
import type { Entity } from "./wire.ts";

const pinSource = "pins";
const groundSource = "ground-of-pins";
const chosenSource = "chosen-pin";

/** The mark of performance.mark when the first pins are on the screen: how long a driver waited for them. */
export const firstPinsMark = "first-pins";

const disputedOpacity = 0.65; // of what it would be

/** Aged is an entity that is shown. */
export interface Aged {
  entity: Entity;
  appearance: PinAppearance;
}

/** opacityOf is how strongly a pin is drawn. */
export function opacityOf({ entity, appearance }: Aged): number {
  return entity.status === "disputed" ? appearance.opacity * disputedOpacity : appearance.opacity;
}

/** pinOf is an entity as the map knows it. */
export function pinOf(aged: Aged): Pin {
  const { entity } = aged;
  return {
    type: "Feature",
    id: entity.id,
    geometry: entity.geom,
    properties: { id: entity.id, image: pinImage(entity.kind_id, entity.status), opacity: opacityOf(aged) },
  };
}

function clusterPin({ id, lat, lng, count }: Cluster): Pin {
  return { type: "Feature", id, geometry: { type: "Point", coordinates: [lng, lat] }, properties: { id, image: clusterImage(count), opacity: 1, cluster: true } };
}

const empty = (): SourceSpecification => ({ type: "geojson", data: { type: "FeatureCollection", features: [] }, promoteId: "id" });

const image = (look: Look): ["concat", ["get", string], string] => ["concat", ["get", "image"], lookOf(look)];
const camera = (yes: string, no: string): ["case", ["==", ["get", string], string], string, string] => ["case", ["==", ["get", "kind"], "camera"], yes, no];
const onTop = { "icon-allow-overlap": true, "icon-ignore-placement": true, "symbol-z-order": "source" } as const;

/** layersFor are all layers of the pins, from the ground up. */
function layersFor(look: Look): LayerSpecification[] {
  const colour = look === "night" ? camera("#ff9d8a", "#ffb648") : camera("#a11f10", "#b3430a");
  return [
    { id: "zones", type: "fill", source: groundSource, filter: ["==", ["geometry-type"], "Polygon"], paint: { "fill-color": colour, "fill-opacity": ["*", 0.22, ["get", "opacity"]] } },
    { id: "zone-rims", type: "line", source: groundSource, filter: ["==", ["geometry-type"], "Polygon"], paint: { "line-color": colour, "line-width": 4, "line-dasharray": [2, 1.5], "line-opacity": ["get", "opacity"] } },
    {
      id: "lines",
      type: "line",
      source: groundSource,
      filter: ["==", ["geometry-type"], "LineString"],
      layout: { "line-cap": "round", "line-join": "round" },
      paint: { "line-color": look === "night" ? "#ff7a5c" : "#c62f1c", "line-width": ["interpolate", ["linear"], ["zoom"], 10, 3, 16, 9], "line-opacity": ["*", 0.85, ["get", "opacity"]] },
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

/** Touched is what a finger meant. */
export type Touched = { entity: Entity } | { cluster: Place; apart: number };

/** Mark is what can be touched on the screen. */
interface Mark {
  place: Place;
  /** Pixels from the place up to the middle of what is drawn. */
  up: number;
  touched: Touched;
}

/** Pins draws on a map whose style is loaded. */
export class Pins {
  readonly #map: MapLibre;
  readonly #icons: Icons;
  readonly #presence: Presence;
  #look: Look;
  #aged: readonly Aged[] = [];
  #chosen: string | null = null;
  #marks = new Map<string, Mark>();
  /** Pins and shapes that were made before, for what has not changed since. */
  #made = new Map<string, { entity: Entity; opacity: number; pin: Pin; shape: Pin | null }>();
  readonly #shown: Record<string, ReadonlyMap<string, Pin>> = { [pinSource]: new Map(), [groundSource]: new Map(), [chosenSource]: new Map() };
  #turn = Promise.resolve();

  constructor(map: MapLibre, presence: Presence, icons: Icons, look: Look) {
    this.#map = map;
    this.#presence = presence;
    this.#icons = icons;
    this.#look = look;
    let before = level(map.getZoom());
    map.on("zoom", () => {
      const now = level(map.getZoom());
      if (now === before) return;
      before = now;
      this.#draw();
    });
    let lost = false;
    map.on("webglcontextlost", () => {
      lost = true;
    });
    map.on("style.load", () => {
      // The style that MapLibre restores is as old as the loss.
      this.#build(lost);
      lost = false;
    });
    this.#build(false);
    this.#markFirst();
  }

  #markFirst(): void {
    const look = (): void => {
      if (this.#shown[pinSource]?.size === 0 || !this.#presence.isHere() || !this.#map.isSourceLoaded(pinSource)) return;
      if (this.#map.queryRenderedFeatures({ layers: ["pins"] }).length === 0) return;
      performance.mark(firstPinsMark);
      this.#map.off("render", look);
    };
    this.#map.on("render", look);
  }

  /** build adds what the style does not have, and with anew fills what it has. */
  #build(anew: boolean): void {
    for (const [id, shown] of Object.entries(this.#shown)) {
      const missing = this.#map.getSource(id) === undefined;
      if (missing) this.#map.addSource(id, empty());
      if (missing || anew) this.#map.getSource<GeoJSONSource>(id)?.setData({ type: "FeatureCollection", features: [...shown.values()] });
    }
    for (const layer of layersFor(this.#look)) if (this.#map.getLayer(layer.id) === undefined) this.#map.addLayer(layer);
    if (anew) this.#colour();
  }

  /** colour gives the layers the colours of the look. */
  #colour(): void {
    for (const layer of layersFor(this.#look)) {
      if (layer.type === "symbol") this.#map.setLayoutProperty(layer.id, "icon-image", layer.layout?.["icon-image"]);
      if (layer.type === "fill") this.#map.setPaintProperty(layer.id, "fill-color", layer.paint?.["fill-color"]);
      if (layer.type === "line") this.#map.setPaintProperty(layer.id, "line-color", layer.paint?.["line-color"]);
    }
  }

  /** show replaces what is shown by these. */
  show(aged: readonly Aged[]): void {
    this.#aged = aged;
    this.#draw();
  }

  /** choose draws one pin larger; null: none. */
  choose(id: string | null): void {
    this.#chosen = id;
    this.#draw();
  }

  /** setLook changes the colours of all. */
  setLook(look: Look): void {
    if (look === this.#look) return;
    this.#look = look;
    this.#do(async () => {
      await this.#icons.add(this.#images());
      if (this.#presence.isHere()) this.#colour();
    });
  }

  /** find says what a touch means; null: the map. */
  find(at: { x: number; y: number }): Touched | null {
    if (!this.#presence.isHere()) return null;
    const targets: (Target & { mark: Mark })[] = [];
    for (const [id, mark] of this.#marks) {
      const { x, y } = this.#map.project(mark.place);
      targets.push({ id, x, y: y - mark.up, mark });
    }
    const pin = hit(targets, at);
    if (pin !== null) return pin.mark.touched;
    const layers = ["lines", "zones"].filter((id) => this.#map.getLayer(id) !== undefined);
    const [ground] = this.#map.queryRenderedFeatures([[at.x - 12, at.y - 12], [at.x + 12, at.y + 12]], { layers });
    const found = this.#aged.find(({ entity }) => entity.id === ground?.properties["id"]);
    return found === undefined ? null : { entity: found.entity };
  }

  /** do keeps the order of what waits for images. */
  #do(task: () => Promise<void>): void {
    this.#turn = this.#turn.then(task).catch((error: unknown) => {
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
    const marks = new Map<string, Mark>();
    const made = new Map<string, { entity: Entity; opacity: number; pin: Pin; shape: Pin | null }>();
    const spots: { id: string; lat: number; lng: number; entity: Entity; pin: Pin }[] = [];
    for (const aged of this.#aged) {
      const { entity } = aged;
      const { id } = entity;
      const opacity = opacityOf(aged);
      const before = this.#made.get(id);
      const one = before?.entity === entity && before.opacity === opacity ? before : { entity, opacity, pin: pinOf(aged), shape: shapeOf(entity, opacity) };
      made.set(id, one);
      if (one.shape !== null) ground.set(id, one.shape);
      if (zoneOf(entity) > 0) continue; // a pin would say: here
      if (id === this.#chosen) chosen.set(id, one.pin);
      spots.push({ id, ...placeOf(entity), entity, pin: one.pin });
    }
    const { single, clusters } = part(spots, this.#map.getZoom());
    for (const { id, lat, lng, entity, pin } of single) {
      pins.set(id, pin);
      marks.set(id, { place: { lat, lng }, up: side / 2, touched: { entity } });
    }
    for (const cluster of clusters) {
      pins.set(cluster.id, clusterPin(cluster));
      marks.set(cluster.id, { place: cluster, up: 0, touched: { cluster, apart: Math.min(apartFrom, this.#map.getZoom() + 2) } });
    }
    this.#made = made;
    this.#marks = marks;
    this.#update({ [pinSource]: pins, [groundSource]: ground, [chosenSource]: chosen });
  }

  #update(wanted: Record<string, ReadonlyMap<string, Pin>>): void {
    for (const [id, features] of Object.entries(wanted)) {
      const change = difference(this.#shown[id] ?? new Map(), features);
      if (change === null) continue;
      this.#shown[id] = features;
      const names = id === groundSource ? new Set<string>() : this.#images();
      this.#do(async () => {
        await this.#icons.add(names);
        if (this.#presence.isHere()) this.#map.getSource<GeoJSONSource>(id)?.updateData(change);
      });
    }
  }
}
