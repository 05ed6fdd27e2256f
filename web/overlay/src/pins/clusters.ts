// Clusters of pins for low zooms (pure). MapLibre's own clusters are computed again and get new ids with each change of a pin; these
// have stable ids, so that the source can be updated by difference.

/** From this zoom on pins are not clustered; while the map follows the car it never zooms out farther. */
export const minUnclusteredZoom = 13;

const cellSize = 72; // pixels; an icon is 56 wide
/** The newest pins stay single, so that people see the one that they have just added: for how long, in ms, and how many. */
const [newFor, mostNew] = [120_000, 3];
const worldSize = 512; // pixels at zoom 0
const radians = Math.PI / 180;

/** ClusterPoint is a point to be clustered. */
export interface ClusterPoint {
  id: string;
  lat: number;
  lng: number;
  kind: string;
  /** Milliseconds since it was first seen; missing if that does not matter. */
  age?: number;
}

/** Cluster stands for several points and lies at their centroid. Its kind is the gravest of theirs. */
export interface Cluster extends ClusterPoint {
  count: number;
}

/** Gravity of a kind: the highest of a cluster's kinds is shown. */
export type Gravity = (kind: string) => number;

/** ClusteredPoints are the single points and clusters to draw. */
export interface ClusteredPoints<S extends ClusterPoint> {
  single: S[];
  clusters: Cluster[];
}

/** clusterZoom returns the zoom that clusters are computed for, a whole number. */
export const clusterZoom = (zoom: number): number => Math.min(minUnclusteredZoom, Math.max(0, Math.floor(zoom)));

/** cluster groups the points that fall into one cell of a grid. */
export function cluster<S extends ClusterPoint>(points: readonly S[], zoom: number, gravity: Gravity): ClusteredPoints<S> {
  const z = clusterZoom(zoom);
  if (z >= minUnclusteredZoom) return { single: [...points], clusters: [] };
  const cells = new Map<string, S[]>();
  const size = worldSize * 2 ** z;
  const newest = newestOf(points);
  for (const point of points) {
    if (newest.includes(point)) continue;
    const key = `${String(Math.floor((mercatorX(point.lng) * size) / cellSize))}/${String(Math.floor((mercatorY(point.lat) * size) / cellSize))}`;
    const others = cells.get(key);
    if (others === undefined) cells.set(key, [point]);
    else others.push(point);
  }
  const clustered: ClusteredPoints<S> = { single: [], clusters: [] };
  for (const [key, members] of cells) {
    const [first] = members;
    if (members.length === 1 && first !== undefined) clustered.single.push(first);
    else clustered.clusters.push({ id: `cluster/${String(z)}/${key}`, count: members.length, kind: gravest(members, first?.kind ?? "", gravity), ...centroid(members) });
  }
  clustered.single.push(...newest); // above all others
  return clustered;
}

/** newestOf returns the newest points of those that are new. */
function newestOf<S extends ClusterPoint>(points: readonly S[]): S[] {
  const age = ({ age = Infinity }: S): number => age;
  return points.filter((point) => age(point) < newFor).sort((a, b) => age(a) - age(b)).slice(0, mostNew);
}

const minGap = 54; // pixels between two clusters, about an icon's width

/** mergeClose joins clusters that would cover each other's counts, and the result has all of theirs. */
export function mergeClose(clusters: readonly Cluster[], zoom: number, gravity: Gravity): Cluster[] {
  const size = worldSize * 2 ** Math.floor(zoom);
  const kept: { x: number; y: number; cluster: Cluster }[] = [];
  for (const cluster of [...clusters].sort((a, b) => b.count - a.count)) {
    const [x, y] = [mercatorX(cluster.lng) * size, mercatorY(cluster.lat) * size];
    const near = kept.find((one) => Math.hypot(one.x - x, one.y - y) < minGap);
    if (near === undefined) {
      kept.push({ x, y, cluster });
      continue;
    }
    const { count, kind } = near.cluster;
    near.cluster = { ...near.cluster, count: count + cluster.count, kind: gravity(cluster.kind) > gravity(kind) ? cluster.kind : kind };
  }
  return kept.map(({ cluster }) => cluster);
}

/** Both return shares of the world's width in Web Mercator. */
const mercatorX = (lng: number): number => lng / 360 + 0.5;
const mercatorY = (lat: number): number => 0.5 - Math.asinh(Math.tan(Math.max(-85.05, Math.min(85.05, lat)) * radians)) / (2 * Math.PI);

function gravest(members: readonly ClusterPoint[], first: string, gravity: Gravity): string {
  let found = first;
  for (const { kind } of members) if (gravity(kind) > gravity(found)) found = kind;
  return found;
}

function centroid(members: readonly ClusterPoint[]): { lat: number; lng: number } {
  const sum = members.reduce((all, { lat, lng }) => ({ lat: all.lat + lat, lng: all.lng + lng }), { lat: 0, lng: 0 });
  return { lat: sum.lat / members.length, lng: sum.lng / members.length };
}
