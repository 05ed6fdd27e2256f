// The difference between two sets of features, as MapLibre's GeoJSON source takes it (pure).

import type { Feature, GeoJsonProperties, Geometry } from "geojson";
import type { GeoJSONSourceDiff } from "maplibre-gl";

/** Pin is a feature with a string id and plain property values. */
export type Pin = Feature<Geometry, NonNullable<GeoJsonProperties>> & { id: string };

const equal = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

/** diffFeatures returns the update from the shown features to the wanted ones; null if they are equal. */
export function diffFeatures(shown: ReadonlyMap<string, Pin>, wanted: ReadonlyMap<string, Pin>): GeoJSONSourceDiff | null {
  const remove = [...shown.keys()].filter((id) => !wanted.has(id));
  const add: Pin[] = [];
  const update: NonNullable<GeoJSONSourceDiff["update"]> = [];
  for (const [id, pin] of wanted) {
    const before = shown.get(id);
    if (before === pin) continue;
    if (before === undefined) {
      add.push(pin);
      continue;
    }
    const moved = !equal(before.geometry, pin.geometry);
    const removeProperties = Object.keys(before.properties).filter((key) => !(key in pin.properties));
    const addOrUpdateProperties = Object.entries(pin.properties)
      .filter(([key, value]) => !equal(before.properties[key], value))
      .map(([key, value]: [string, unknown]) => ({ key, value }));
    if (moved || removeProperties.length > 0 || addOrUpdateProperties.length > 0) {
      update.push({ id, ...(moved && { newGeometry: pin.geometry }), removeProperties, addOrUpdateProperties });
    }
  }
  return remove.length + add.length + update.length === 0 ? null : { remove, add, update };
}
