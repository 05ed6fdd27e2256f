// Geometry on the sphere: distances, bearings and places (pure).

/** Place is a point on the globe, in degrees. */
export interface Place {
  lat: number;
  lng: number;
}

/** WGS 84 mean radius in metres, the same as in the service (D4.1). */
const earthRadius = 6_371_008.8;
const radiansPerDegree = Math.PI / 180;

/** distance returns metres along the great circle. */
export function distance(a: Place, b: Place): number {
  const dLat = Math.sin(((b.lat - a.lat) * radiansPerDegree) / 2);
  const dLng = Math.sin(((b.lng - a.lng) * radiansPerDegree) / 2);
  const h = dLat * dLat + Math.cos(a.lat * radiansPerDegree) * Math.cos(b.lat * radiansPerDegree) * dLng * dLng;
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(h)));
}

/** normalizeDegrees maps an angle to [0, 360). */
export function normalizeDegrees(degrees: number): number {
  return ((degrees % 360) + 360) % 360; // the second modulo handles rounding just below 0
}

/** bearing returns the initial bearing of the great circle from a to b, [0, 360); 0 if both are the same place. */
export function bearing(a: Place, b: Place): number {
  const dLng = (b.lng - a.lng) * radiansPerDegree;
  const y = Math.sin(dLng) * Math.cos(b.lat * radiansPerDegree);
  const x = Math.cos(a.lat * radiansPerDegree) * Math.sin(b.lat * radiansPerDegree) - Math.sin(a.lat * radiansPerDegree) * Math.cos(b.lat * radiansPerDegree) * Math.cos(dLng);
  return normalizeDegrees(Math.atan2(y, x) / radiansPerDegree);
}

/** angleBetween returns the signed angle from one bearing to another in degrees, (-180, 180]; positive is clockwise. */
export function angleBetween(from: number, to: number): number {
  const right = normalizeDegrees(to - from);
  return right > 180 ? right - 360 : right;
}

/** destination returns the place at a distance and initial bearing from start. */
export function destination(start: Place, degrees: number, metres: number): Place {
  const way = metres / earthRadius;
  const lat = start.lat * radiansPerDegree;
  const sin = Math.sin(lat) * Math.cos(way) + Math.cos(lat) * Math.sin(way) * Math.cos(degrees * radiansPerDegree);
  const east = Math.atan2(Math.sin(degrees * radiansPerDegree) * Math.sin(way) * Math.cos(lat), Math.cos(way) - Math.sin(lat) * sin);
  return { lat: Math.asin(Math.max(-1, Math.min(1, sin))) / radiansPerDegree, lng: normalizeLongitude(start.lng + east / radiansPerDegree) };
}

/**
 * nearestOnSegment returns the place of the segment from a to b that is nearest to p. It measures on a plane that touches the globe
 * at p, which is accurate to a metre within some ten kilometres, except close to a pole.
 */
export function nearestOnSegment(p: Place, a: Place, b: Place): Place {
  const scale = Math.cos(p.lat * radiansPerDegree);
  const east = angleBetween(a.lng, b.lng);
  const [ax, ay] = [angleBetween(p.lng, a.lng) * scale, a.lat - p.lat];
  const [dx, dy] = [east * scale, b.lat - a.lat];
  const length = dx * dx + dy * dy;
  if (length === 0) return a;
  const share = Math.max(0, Math.min(1, -(ax * dx + ay * dy) / length));
  return { lat: a.lat + share * (b.lat - a.lat), lng: normalizeLongitude(a.lng + share * east) };
}

/** normalizeLongitude maps a longitude to [-180, 180). */
export function normalizeLongitude(lng: number): number {
  return lng >= -180 && lng < 180 ? lng : normalizeDegrees(lng + 180) - 180;
}

/** rounded rounds a place before it leaves the page: to four decimals, about ten metres. */
export function rounded(place: Place): Place {
  return { lat: roundTo4(place.lat), lng: roundTo4(place.lng) };
}

/** roundTo4 avoids -0, which would be written differently from 0. */
function roundTo4(degrees: number): number {
  return Math.round(degrees * 10_000) / 10_000 + 0;
}
