// Distances, directions and places on the sphere (pure).

export interface Place {
  lat: number;
  lng: number;
}

/** WGS 84 mean radius in metres, as the service reckons (D4.1). */
const radius = 6_371_008.8;
const radians = Math.PI / 180;

/** distance in metres along the great circle. */
export function distance(a: Place, b: Place): number {
  const dLat = Math.sin(((b.lat - a.lat) * radians) / 2);
  const dLng = Math.sin(((b.lng - a.lng) * radians) / 2);
  const h = dLat * dLat + Math.cos(a.lat * radians) * Math.cos(b.lat * radians) * dLng * dLng;
  return 2 * radius * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** direction is an angle as degrees clockwise from north, [0, 360). */
export function direction(degrees: number): number {
  return ((degrees % 360) + 360) % 360; // the second one takes care of what was a hair below 0
}

/** bearing is the direction in which the shortest way from a to b begins, [0, 360); 0 if the two are one place. */
export function bearing(a: Place, b: Place): number {
  const dLng = (b.lng - a.lng) * radians;
  const y = Math.sin(dLng) * Math.cos(b.lat * radians);
  const x = Math.cos(a.lat * radians) * Math.sin(b.lat * radians) - Math.sin(a.lat * radians) * Math.cos(b.lat * radians) * Math.cos(dLng);
  return direction(Math.atan2(y, x) / radians);
}

/** turn is the shortest way from one direction to another in degrees, (-180, 180]; to the right is positive. */
export function turn(from: number, to: number): number {
  const right = direction(to - from);
  return right > 180 ? right - 360 : right;
}

/** along is the place that lies so many metres from start, setting out in a direction. */
export function along(start: Place, degrees: number, metres: number): Place {
  const way = metres / radius;
  const lat = start.lat * radians;
  const sin = Math.sin(lat) * Math.cos(way) + Math.cos(lat) * Math.sin(way) * Math.cos(degrees * radians);
  const east = Math.atan2(Math.sin(degrees * radians) * Math.sin(way) * Math.cos(lat), Math.cos(way) - Math.sin(lat) * sin);
  return { lat: Math.asin(Math.max(-1, Math.min(1, sin))) / radians, lng: wrap(start.lng + east / radians) };
}

/** wrap is a longitude within [-180, 180). */
export function wrap(lng: number): number {
  return lng >= -180 && lng < 180 ? lng : direction(lng + 180) - 180;
}

/** rounded is a place as it may leave the page: to four decimals, some ten metres. */
export function rounded(place: Place): Place {
  return { lat: round4(place.lat), lng: round4(place.lng) };
}

/** round4 never gives -0, which would be written as a place of its own. */
function round4(degrees: number): number {
  return Math.round(degrees * 10_000) / 10_000 + 0;
}
