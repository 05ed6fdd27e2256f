// The roads of the service's last answer, for the list of alerts ahead (pure). Announcements are decided anew each time.

import { rangeOf, type AlertPin, type Car, type ListedAlert } from "./alertrules.ts";
import { angleBetween, bearing, distance, type Place } from "../geo/geo.ts";
import type { AlertAnswer } from "../net/wire.ts";

/** RoadAnswer holds the service's positions of pins along the roads. */
export interface RoadAnswer {
  /** When and where it was asked, and to where the car was heading. */
  at: number;
  place: Place;
  heading: number;
  /** Metres along the road by the id of a pin; null: the roads lead elsewhere. Other pins were not looked at. */
  metres: ReadonlyMap<string, number | null>;
}

/** How long an answer holds: a car that goes on, turns or drives for longer may be on another road. */
export const answerHolds = { ms: 15_000, metres: 400, degrees: 30 };
/** The service lists no more. */
const maxListed = 20;

/** roadAnswerOf keeps an answer's positions of the pins that the page knew when it asked; null if the service did not search along roads. */
export function roadAnswerOf({ alerts, along }: AlertAnswer, asked: readonly AlertPin[], car: Place & { heading: number }, now: number): RoadAnswer | null {
  if (along !== "route" && along !== "probable") return null;
  const farthest = alerts.length < maxListed ? Infinity : Math.max(...alerts.map(({ distance_m }) => distance_m));
  const metres = new Map<string, number | null>();
  for (const pin of asked) {
    const alert = alerts.find(({ entity }) => entity.id === pin.id || pin.merged.includes(entity.id));
    const away = distance(car, pin);
    if (alert?.match === "road") metres.set(pin.id, alert.distance_m);
    else if (alert === undefined && away <= Math.min(rangeOf(pin.kind), farthest) && !pin.kind.startsWith("charger.") && pin.zone === 0 && !pin.line) metres.set(pin.id, null);
  }
  return { at: now, place: { lat: car.lat, lng: car.lng }, heading: car.heading, metres };
}

/**
 * withRoads returns the pins that are listed with where the roads lead, by the service's last answer: those on the road ahead with their
 * distance along it, also where it bends out of the corridor, and those on other roads as such.
 */
export function withRoads<P extends AlertPin>(listed: readonly ListedAlert<P>[], pins: readonly P[], answer: RoadAnswer | null, car: Car | null, now: number): readonly ListedAlert<P>[] {
  const heading = car?.heading ?? null;
  if (answer === null || car === null || heading === null || now - answer.at > answerHolds.ms) return listed;
  const driven = distance(answer.place, car);
  if (driven > answerHolds.metres || Math.abs(angleBetween(heading, answer.heading)) > answerHolds.degrees) return listed;
  const all = listed.map((alert) => {
    const metres = alert.road === undefined ? answer.metres.get(alert.pin.id) : undefined;
    if (metres === undefined) return alert;
    return metres === null ? { ...alert, road: null } : { ...alert, road: metres - driven, distance: Math.max(0, metres - driven) };
  });
  const known = new Set(listed.map(({ pin }) => pin.id));
  for (const pin of pins) {
    const metres = answer.metres.get(pin.id);
    if (metres === undefined || metres === null || metres < driven || known.has(pin.id)) continue;
    all.push({ pin, distance: metres - driven, bearing: bearing(car, pin), stage: "ahead", due: false, road: metres - driven });
  }
  return all.sort((a, b) => a.distance - b.distance);
}
