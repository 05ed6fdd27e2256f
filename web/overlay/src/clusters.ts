// Pins that lie on top of each other when zoomed out, taken together (pure). MapLibre's own clusters would be reckoned
// anew with each change of a pin, and their ids change; these keep theirs, so that a source can be updated by difference.

/** From this zoom on each pin stands for itself; who follows the car is never farther out. */
export const minUnclusteredZoom = 13;

const cellSize = 72; // pixels; an icon is 56 wide
const worldSize = 512; // pixels at zoom 0
const radians = Math.PI / 180;

export interface ClusterPoint {
  id: string;
  lat: number;
  lng: number;
}

/** Cluster stands for several spots, and lies in their middle. */
export interface Cluster extends ClusterPoint {
  count: number;
}

/** ClusteredPoints is what is drawn of many spots. */
export interface ClusteredPoints<S extends ClusterPoint> {
  single: S[];
  clusters: Cluster[];
}

/** clusterZoom is the zoom for which clusters are made; it changes with whole zooms only. */
export const clusterZoom = (zoom: number): number => Math.min(minUnclusteredZoom, Math.max(0, Math.floor(zoom)));

/** cluster puts the spots of one cell of a grid together. */
export function cluster<S extends ClusterPoint>(points: readonly S[], zoom: number): ClusteredPoints<S> {
  const z = clusterZoom(zoom);
  if (z >= minUnclusteredZoom) return { single: [...points], clusters: [] };
  const cells = new Map<string, S[]>();
  const size = worldSize * 2 ** z;
  for (const point of points) {
    const key = `${String(Math.floor((mercatorX(point.lng) * size) / cellSize))}/${String(Math.floor((mercatorY(point.lat) * size) / cellSize))}`;
    const others = cells.get(key);
    if (others === undefined) cells.set(key, [point]);
    else others.push(point);
  }
  const clustered: ClusteredPoints<S> = { single: [], clusters: [] };
  for (const [key, members] of cells) {
    const [first] = members;
    if (members.length === 1 && first !== undefined) clustered.single.push(first);
    else clustered.clusters.push({ id: `cluster/${String(z)}/${key}`, count: members.length, ...centroid(members) });
  }
  return clustered;
}

/** Both are parts of the world's side in Web Mercator. */
const mercatorX = (lng: number): number => lng / 360 + 0.5;
const mercatorY = (lat: number): number => 0.5 - Math.asinh(Math.tan(Math.max(-85.05, Math.min(85.05, lat)) * radians)) / (2 * Math.PI);

function centroid(members: readonly ClusterPoint[]): { lat: number; lng: number } {
  const sum = members.reduce((all, { lat, lng }) => ({ lat: all.lat + lat, lng: all.lng + lng }), { lat: 0, lng: 0 });
  return { lat: sum.lat / members.length, lng: sum.lng / members.length };
}
