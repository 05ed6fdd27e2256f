// The route on the map.

import type { GeoJSONSource, LayerSpecification, Map as MapLibre } from "maplibre-gl";
import type { Place } from "../geo.ts";
import { lowestPinLayer } from "../pins.ts";
import { lowestRouteLayer } from "../baselayers.ts";
import type { NavDeps } from "./navigation.ts";
import { part } from "./routeline.ts";

const source = "route";

const layers: readonly LayerSpecification[] = [
  { id: lowestRouteLayer, type: "line", source, layout: { "line-cap": "round", "line-join": "round" }, paint: { "line-color": "#0a3d7a", "line-width": 13 } },
  { id: "route-line", type: "line", source, layout: { "line-cap": "round", "line-join": "round" }, paint: { "line-color": "#3d8bfd", "line-width": 9 } },
];

/** mountRouteLayers draws nav.led. */
export function mountRouteLayers({ host, nav }: NavDeps): void {
  let map: MapLibre | null = null;
  const draw = (): void => {
    if (map === null) return;
    const led = nav.led.get();
    const places = led === null ? [] : part(led.line, nav.progress.get()?.metres ?? 0, led.line.length);
    if (map.getSource(source) === undefined) {
      if (led === null) return;
      map.addSource(source, { type: "geojson", data: lineOf(places) });
      for (const layer of layers) map.addLayer(layer, map.getLayer(lowestPinLayer) === undefined ? "pins" : lowestPinLayer);
    }
    map.getSource<GeoJSONSource>(source)?.setData(lineOf(places));
  };
  host.map.watch((opened) => {
    map = opened;
    draw();
  });
  nav.led.watch(draw);
  nav.progress.watch(draw);
}

const lineOf = (places: readonly Place[]): GeoJSON.Feature => ({ type: "Feature", properties: {}, geometry: { type: "LineString", coordinates: places.map(({ lat, lng }) => [lng, lat]) } });
