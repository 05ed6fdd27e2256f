// Pins on the map: one GeoJSON source, updated by difference, and the layers that draw it.

import type { GeoJSONSource, Map as MapLibre } from "maplibre-gl";
import { difference, type Pin } from "./difference.ts";
import type { Entity } from "./wire.ts";

export const pinSource = "pins";
export const pinLayer = "pins";

/** pinOf is an entity as the map knows it. */
export function pinOf(entity: Entity): Pin {
  return {
    type: "Feature",
    id: entity.id,
    geometry: entity.geom,
    properties: { id: entity.id, kind: entity.kind_id, status: entity.status },
  };
}

export interface Pins {
  /** show replaces what is shown by these. */
  show(entities: readonly Entity[]): void;
}

/** drawPins adds source and layers to a map whose style is loaded. */
export function drawPins(map: MapLibre): Pins {
  map.addSource(pinSource, { type: "geojson", data: { type: "FeatureCollection", features: [] }, promoteId: "id" });
  map.addLayer({
    id: pinLayer,
    type: "symbol",
    source: pinSource,
    layout: { "icon-image": ["get", "kind"], "icon-anchor": "bottom", "icon-allow-overlap": true, "icon-ignore-placement": true },
  });
  let shown: ReadonlyMap<string, Pin> = new Map();
  return {
    show(entities) {
      const wanted = new Map(entities.map((entity) => [entity.id, pinOf(entity)]));
      const change = difference(shown, wanted);
      shown = wanted;
      if (change !== null) map.getSource<GeoJSONSource>(pinSource)?.updateData(change);
    },
  };
}
