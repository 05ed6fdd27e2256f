// Distances, directions and places on the sphere (pure).

export interface Place {
  lat: number;
  lng: number;
}

/** WGS 84 mean radius in metres, as the service reckons (D4.1). */
const earthRadius = 6_371_008.8;
const radiansPerDegree = Math.PI / 180;

/** distance in metres along the great circle. */
export function distance(a: Place, b: Place): number {
  const dLat = Math.sin(((b.lat - a.lat) * radiansPerDegree) / 2);
  const dLng = Math.sin(((b.lng - a.lng) * radiansPerDegree) / 2);
  const h = dLat * dLat + Math.cos(a.lat * radiansPerDegree) * Math.cos(b.lat * radiansPerDegree) * dLng * dLng;
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** normalizeDegrees is an angle as degrees clockwise from north, [0, 360). */
export function normalizeDegrees(degrees: number): number {
  return ((degrees % 360) + 360) % 360; // the second one takes care of what was a hair below 0
}

/** bearing is the direction in which the shortest way from a to b begins, [0, 360); 0 if the two are one place. */
export function bearing(a: Place, b: Place): number {
  const dLng = (b.lng - a.lng) * radiansPerDegree;
  const y = Math.sin(dLng) * Math.cos(b.lat * radiansPerDegree);
  const x = Math.cos(a.lat * radiansPerDegree) * Math.sin(b.lat * radiansPerDegree) - Math.sin(a.lat * radiansPerDegree) * Math.cos(b.lat * radiansPerDegree) * Math.cos(dLng);
  return normalizeDegrees(Math.atan2(y, x) / radiansPerDegree);
}

/** angleBetween is the shortest way from one direction to another in degrees, (-180, 180]; to the right is positive. */
export function angleBetween(from: number, to: number): number {
  const right = normalizeDegrees(to - from);
  return right > 180 ? right - 360 : right;
}

/** destination is the place that lies so many metres from start, setting out in a direction. */
export function destination(start: Place, degrees: number, metres: number): Place {
  const way = metres / earthRadius;
  const lat = start.lat * radiansPerDegree;
  const sin = Math.sin(lat) * Math.cos(way) + Math.cos(lat) * Math.sin(way) * Math.cos(degrees * radiansPerDegree);
  const east = Math.atan2(Math.sin(degrees * radiansPerDegree) * Math.sin(way) * Math.cos(lat), Math.cos(way) - Math.sin(lat) * sin);
  return { lat: Math.asin(Math.max(-1, Math.min(1, sin))) / radiansPerDegree, lng: normalizeLongitude(start.lng + east / radiansPerDegree) };
}

/** normalizeLongitude is a longitude within [-180, 180). */
export function normalizeLongitude(lng: number): number {
  return lng >= -180 && lng < 180 ? lng : normalizeDegrees(lng + 180) - 180;
}

/** rounded is a place as it may leave the page: to four decimals, some ten metres. */
export function rounded(place: Place): Place {
  return { lat: roundTo4(place.lat), lng: roundTo4(place.lng) };
}

/** roundTo4 never gives -0, which would be written as a place of its own. */
function roundTo4(degrees: number): number {
  return Math.round(degrees * 10_000) / 10_000 + 0;
}
