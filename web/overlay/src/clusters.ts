// Pins that lie on top of each other when zoomed out, taken together (pure). MapLibre's own clusters would be reckoned
// anew with each change of a pin, and their ids change; these keep theirs, so that a source can be updated by difference.

/** From this zoom on each pin stands for itself; who follows the car is never farther out. */
export const apartFrom = 13;

const cell = 72; // pixels; an icon is 56 wide
const world = 512; // pixels at zoom 0
const radians = Math.PI / 180;

export interface Spot {
  id: string;
  lat: number;
  lng: number;
}

/** Cluster stands for several spots, and lies in their middle. */
export interface Cluster extends Spot {
  count: number;
}

/** Parted is what is drawn of many spots. */
export interface Parted<S extends Spot> {
  single: S[];
  clusters: Cluster[];
}

/** level is the zoom for which clusters are made; it changes with whole zooms only. */
export const level = (zoom: number): number => Math.min(apartFrom, Math.max(0, Math.floor(zoom)));

/** part puts the spots of one cell of a grid together. */
export function part<S extends Spot>(spots: readonly S[], zoom: number): Parted<S> {
  const z = level(zoom);
  if (z >= apartFrom) return { single: [...spots], clusters: [] };
  const cells = new Map<string, S[]>();
  const size = world * 2 ** z;
  for (const spot of spots) {
    const key = `${String(Math.floor((east(spot.lng) * size) / cell))}/${String(Math.floor((south(spot.lat) * size) / cell))}`;
    const others = cells.get(key);
    if (others === undefined) cells.set(key, [spot]);
    else others.push(spot);
  }
  const parted: Parted<S> = { single: [], clusters: [] };
  for (const [key, members] of cells) {
    const [first] = members;
    if (members.length === 1 && first !== undefined) parted.single.push(first);
    else parted.clusters.push({ id: `cluster/${String(z)}/${key}`, count: members.length, ...middle(members) });
  }
  return parted;
}

/** Both are parts of the world's side in Web Mercator. */
const east = (lng: number): number => lng / 360 + 0.5;
const south = (lat: number): number => 0.5 - Math.asinh(Math.tan(Math.max(-85.05, Math.min(85.05, lat)) * radians)) / (2 * Math.PI);

function middle(members: readonly Spot[]): { lat: number; lng: number } {
  const sum = members.reduce((all, { lat, lng }) => ({ lat: all.lat + lat, lng: all.lng + lng }), { lat: 0, lng: 0 });
  return { lat: sum.lat / members.length, lng: sum.lng / members.length };
}
