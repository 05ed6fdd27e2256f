// Destinations in links: `?to=lat,lng`, with a name or as a geo: URI of another app (RFC 5870, and the labels that Android adds) (pure).

import type { Place } from "../geo/geo.ts";
import type { Destination } from "../state/state.ts";

const maxLink = 2000; // characters; longer ones are not parsed
const maxName = 80; // characters

/** parseLink parses the value of `?to=`; null if it names no place. */
export function parseLink(text: string | null): Destination | null {
  const link = (text ?? "").trim();
  if (link === "" || link.length > maxLink) return null;
  return /^geo:/i.test(link) ? parseGeoURI(link) : named(placeOf(link), "");
}

/** parseGeoURI parses "geo:52.1,5.2;u=20?z=16&q=52.1,5.2(Town hall)". Where q has a place of its own, that is meant. */
function parseGeoURI(link: string): Destination | null {
  const [path = "", ...rest] = link.slice("geo:".length).split("?");
  const [coordinates = "", ...parameters] = path.split(";");
  if (parameters.some((one) => /^crs=/i.test(one) && !/^crs=wgs84$/i.test(one))) return null;
  const query = new URLSearchParams(rest.join("?"));
  const [, asked = "", label = ""] = /^([^(]*)(?:\(([\s\S]*)\))?$/.exec((query.get("q") ?? "").trim()) ?? [];
  const place = placeOf(coordinates);
  const isUnset = place === null || (place.lat === 0 && place.lng === 0); // apps write 0,0 where only q counts
  return named(placeOf(asked) ?? (isUnset ? null : place), label);
}

const named = (place: Place | null, name: string): Destination | null => (place === null ? null : { place, name: cleanName(name), detail: "" });

/** placeOf parses "52.1,5.2", also with an altitude; null for anything else. */
function placeOf(text: string): Place | null {
  const parts = text.split(",").map((part) => part.trim());
  if (parts.length < 2 || parts.length > 3 || !parts.every((part) => /^[+-]?(\d{1,3}|\d{0,3}\.\d{1,30})$/.test(part))) return null;
  const [lat = NaN, lng = NaN] = parts.map(Number);
  return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? { lat, lng } : null;
}

/** cleanName returns a foreign name as one short line, without characters that are invisible or change the direction of the text. */
export function cleanName(name: string): string {
  const line = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu, " ").replace(/\s+/g, " ").trim();
  return Array.from(line.slice(0, 4 * maxName)).slice(0, maxName).join("");
}
