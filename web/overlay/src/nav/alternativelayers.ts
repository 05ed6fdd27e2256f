// The ways that are offered, on the map: the chosen one above the others, and a touch on a line that chooses it.

import { watchAll } from "../browser/observable.ts";
import { byId } from "../browser/dom.ts";
import type { GeoJSONSource, LayerSpecification, Map as MapLibre, MapMouseEvent } from "maplibre-gl";
import { lowestPinLayer } from "../map/pinlayers.ts";
import type { Theme } from "../geo/sun.ts";
import { markWhenDrawn, waysDrawnMark } from "./renderingmarks.ts";
import type { NavDeps } from "./deps.ts";
import { routeLineOf, type RouteLine } from "./routeline.ts";
import { boundsOf, chosenWay } from "./routefacts.ts";

const source = "ways";
const reach = 30; // pixels around a line that belong to it: half of what is touchable
const padding = 56; // pixels

const colours: Record<Theme, { chosen: string; chosenCase: string; other: string; otherCase: string; end: string; endCase: string }> = {
  day: { chosen: "#2f7be8", chosenCase: "#0b3a78", other: "#8b98a6", otherCase: "#4a5560", end: "#101418", endCase: "#ffffff" },
  night: { chosen: "#5aa2ff", chosenCase: "#0a1c33", other: "#7b8894", otherCase: "#2a323a", end: "#f4f6f8", endCase: "#10161c" },
};

function layersFor(theme: Theme): LayerSpecification[] {
  const c = colours[theme];
  const line = (id: string, chosen: boolean, color: string, width: number): LayerSpecification => ({
    id, type: "line", source, filter: ["==", ["get", "chosen"], chosen], layout: { "line-cap": "round", "line-join": "round" }, paint: { "line-color": color, "line-width": width },
  });
  return [
    line("ways-other-case", false, c.otherCase, 11),
    line("ways-other", false, c.other, 7),
    line("ways-chosen-case", true, c.chosenCase, 14),
    line("ways-chosen", true, c.chosen, 9),
    { id: "ways-end", type: "circle", source, filter: ["==", ["geometry-type"], "Point"], paint: { "circle-radius": 9, "circle-color": c.end, "circle-stroke-color": c.endCase, "circle-stroke-width": 4 } },
  ];
}

const lineOf = ({ places }: RouteLine): [number, number][] => places.map(({ lat, lng }) => [lng, lat]);

/** mountAlternativeLayers draws nav.routes in the phase "choosing", and calls choose with the number of a line that was touched. panel covers a part of the map. */
export function mountAlternativeLayers({ host, nav }: NavDeps, panel: HTMLElement, choose: (way: number) => void): void {
  let map: MapLibre | null = null;
  let lines: readonly RouteLine[] = [];
  let shown: readonly unknown[] = [];
  const draw = (): void => {
    const routes = nav.phase.get() === "choosing" ? nav.routes.get() : [];
    if (routes !== shown) {
      shown = routes;
      lines = routes.map(routeLineOf);
      if (lines.length > 0) showAll();
    }
    if (map === null || (lines.length === 0 && map.getSource(source) === undefined)) return;
    const chosen = nav.chosen.get();
    const features = lines.map((line, way): GeoJSON.Feature => ({ type: "Feature", properties: { chosen: way === chosen }, geometry: { type: "LineString", coordinates: lineOf(line) } }));
    const ends = lines.length === 0 ? [] : nav.stops.get().map(({ place }): GeoJSON.Feature => ({ type: "Feature", properties: {}, geometry: { type: "Point", coordinates: [place.lng, place.lat] } }));
    put(map, { type: "FeatureCollection", features: [...features, ...ends] });
    if (lines.length > 0) markWhenDrawn(map, source, waysDrawnMark);
  };
  const put = (on: MapLibre, data: GeoJSON.FeatureCollection): void => {
    const there = on.getSource<GeoJSONSource>(source);
    if (there !== undefined) {
      there.setData(data);
      return;
    }
    if (!on.isStyleLoaded()) {
      void on.once("idle", draw);
      return;
    }
    on.addSource(source, { type: "geojson", data });
    const above = on.getLayer(lowestPinLayer) === undefined ? undefined : lowestPinLayer;
    for (const layer of layersFor(host.state.theme.get())) on.addLayer(layer, above);
    showAll(); // a map that was just opened has moved to the car meanwhile
  };
  const showAll = (): void => {
    const bounds = boundsOf(lines.flatMap(({ places }) => [...places]));
    if (map === null || bounds === null) return;
    host.state.following.set(false);
    const room = roomBeside(panel.getBoundingClientRect(), host.slots.all.querySelector(".attribution")?.getBoundingClientRect());
    const { clientWidth, clientHeight } = map.getContainer();
    const fits = room.left + room.right < clientWidth * 0.9 && room.top + room.bottom < clientHeight * 0.9;
    map.fitBounds(bounds, { padding: fits ? room : 20, maxZoom: 16, bearing: 0, pitch: 0, animate: false });
  };
  const touch = ({ point }: MapMouseEvent): void => {
    if (map === null || nav.phase.get() !== "choosing" || lines.length < 2) return;
    const on = map;
    const drawn = lines.map((line) => lineOf(line).map((at) => on.project(at)));
    const way = chosenWay(drawn, point, reach);
    if (way !== null && way !== nav.chosen.get()) choose(way);
  };
  host.map.watch((opened) => {
    map = opened;
    shown = [];
    map?.on("click", touch);
    draw();
  });
  host.state.theme.watch((theme) => {
    for (const { id, paint } of layersFor(theme)) {
      if (map?.getLayer(id) === undefined) continue;
      for (const [name, value] of Object.entries(paint ?? {})) map.setPaintProperty(id, name, value);
    }
  });
  watchAll([nav.phase, nav.routes, nav.chosen], draw);
  new ResizeObserver(() => {
    if (nav.phase.get() === "choosing" && lines.length > 0 && !host.state.following.get()) showAll();
  }).observe(panel);
}

/** roomBeside returns the padding that leaves a panel, the buttons and the attribution free, so that the destination is seen. */
function roomBeside({ left, right, top, bottom, width }: DOMRect, attribution: DOMRect | undefined): { top: number; bottom: number; left: number; right: number } {
  const below = attribution === undefined ? 0 : window.innerHeight - attribution.top + 24;
  const room = { top: padding, bottom: Math.min(window.innerHeight * 0.4, Math.max(padding, below)), left: padding, right: padding + 60 };
  if (bottom <= top) return room;
  const area = byId("map").getBoundingClientRect(); // smaller than the window beside an app
  if (width > area.width * 0.6) return { ...room, bottom: padding / 2 + area.bottom - top, right: padding };
  return left - area.left < area.right - right ? { ...room, left: padding + right - area.left } : { ...room, right: padding + area.right - left };
}
