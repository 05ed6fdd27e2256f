// Performance marks of lines that are on the screen, by which make bench BENCH=web measures.

import type { Map as MapLibre } from "maplibre-gl";

/** Names of the marks: the ways that are offered, and the route that is driven. */
export const waysDrawnMark = "ways-drawn";
export const routeDrawnMark = "route-drawn";

/** markWhenDrawn sets a mark, unless it is set, when a source's latest data is on the screen. The benchmark clears the mark before. */
export function markWhenDrawn(map: MapLibre, source: string, mark: string): void {
  const look = (): void => {
    if (map.getSource(source) === undefined || !map.isSourceLoaded(source)) return;
    map.off("render", look);
    if (performance.getEntriesByName(mark).length === 0) performance.mark(mark);
  };
  map.on("render", look);
}
