// Texts of an entity's well-known properties for cards and banners (pure). Loaded when a card or a banner is first shown.

import { cleanText } from "./entitylabels.ts";
import { ranges, numberOf } from "./wellknown.ts";
import type { Locale } from "../i18n/locale.ts";
import type { Entity } from "../net/wire.ts";

const longest = 200; // characters of a provider's text on a card
const metresPerSecond = 1 / 3.6;
const day = 86_400_000; // ms

/** textProperty reads a provider's text, isolated so that its direction does not change the line's. */
function textProperty({ properties }: Pick<Entity, "properties">, name: string): string {
  const text = cleanText(properties[name], longest);
  return text === "" ? "" : `\u2068${text}\u2069`;
}

const flag = ({ properties }: Pick<Entity, "properties">, name: string): boolean => properties[name] === true;

/** timeOf reads a time in RFC 3339 as milliseconds since 1970; null if there is none. */
function timeOf({ properties }: Pick<Entity, "properties">, name: string): number | null {
  const value = properties[name];
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value)) return null;
  const time = Date.parse(value);
  return Number.isNaN(time) ? null : time;
}

/** moment writes a time: the hour within a day of now, otherwise the date too. */
function moment(time: number, now: number, language: string): string {
  const hour = { hour: "numeric", minute: "2-digit" } as const;
  const options: Intl.DateTimeFormatOptions = Math.abs(time - now) < day ? { weekday: "short", ...hour } : { day: "numeric", month: "short", year: "numeric" };
  return new Intl.DateTimeFormat(language, options).format(time);
}

const directions = ["compass.0", "compass.1", "compass.2", "compass.3", "compass.4", "compass.5", "compass.6", "compass.7"] as const;
const levels = ["level.0", "level.1", "level.2", "level.3", "level.4", "level.5"] as const;

function direction(entity: Entity, { say }: Locale): string {
  if (flag(entity, "both_directions")) return say("detail.bothDirections");
  const named = textProperty(entity, "direction");
  const { properties } = entity;
  const [, full] = ranges.bearing;
  // Relays of older releases call it heading_degrees.
  const bearing = numberOf(entity, "bearing") ?? numberOf({ properties: { bearing: properties["heading_degrees"] } }, "bearing");
  const point = bearing === null ? undefined : directions[Math.round((bearing / full) * directions.length) % directions.length];
  const text = named !== "" ? named : point === undefined ? "" : say(point);
  return text === "" ? "" : say("detail.direction", { direction: text });
}

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== "").join(" · ");

/** traffic describes how much an event disturbs traffic: "Heavy traffic · 9 km/h · +12 min". */
function traffic(entity: Entity, words: Locale, brief: boolean): string {
  const { say, format } = words;
  const level = numberOf(entity, "level");
  const key = entity.kind_id.startsWith("traffic.") && level !== null ? levels[Math.round(level)] : undefined;
  const speed = numberOf(entity, "speed_kmh");
  const delay = numberOf(entity, "delay_seconds");
  const length = numberOf(entity, "length_metres");
  const lanes = Math.round(numberOf(entity, "lanes_closed") ?? 0);
  return joined(
    key === undefined ? "" : say(key),
    flag(entity, "closed") ? say("detail.closed") : lanes > 0 ? words.count("detail.lanes", lanes, format.number(lanes)) : "",
    speed === null || brief ? "" : format.speed(speed * metresPerSecond).text,
    delay === null || delay < 60 ? "" : `+${format.duration(delay * 1000)}`,
    length === null || length === 0 || brief ? "" : say("detail.length", { distance: format.distance(length).text }),
  );
}

/** summaryOf returns the most important of it in a few words, for a banner; empty if there is nothing. */
export const summaryOf = (entity: Entity, words: Locale): string => traffic(entity, words, true);

function validity(entity: Entity, now: number, { say, language }: Locale): string {
  const starts = timeOf(entity, "starts_at");
  const ends = timeOf(entity, "ends_at");
  return joined(
    starts === null || starts <= now ? "" : say("detail.from", { time: moment(starts, now, language) }),
    ends === null || ends <= now ? "" : say("detail.until", { time: moment(ends, now, language) }),
  );
}

function power(entity: Entity, words: Locale): string {
  const { say, format } = words;
  const kw = numberOf(entity, "max_kw");
  const total = numberOf(entity, "evses");
  const free = numberOf(entity, "available");
  const broken = Math.round(numberOf(entity, "out_of_order") ?? 0);
  const places =
    free !== null && total !== null && free <= total
      ? say("detail.freeOf", { free: format.number(Math.round(free)), total: format.number(Math.round(total)) })
      : free !== null
        ? say("detail.free", { free: format.number(Math.round(free)) })
        : total === null || total === 0
          ? ""
          : words.count("detail.places", Math.round(total), format.number(Math.round(total)));
  return joined(
    kw === null || kw === 0 ? "" : `${format.number(kw < 10 ? Math.round(kw * 10) / 10 : Math.round(kw))} kW`,
    places,
    broken > 0 ? say("detail.broken", { count: format.number(broken) }) : "",
  );
}

const maxPlugs = 6;

function plugs(entity: Entity): string {
  const value = entity.properties["plugs"];
  if (!Array.isArray(value)) return "";
  const names = value.slice(0, maxPlugs).map((plug: unknown) => textProperty({ properties: { plug } }, "plug"));
  return joined(...names);
}

function charger(entity: Entity, words: Locale, now: number): string[] {
  const { say, format } = words;
  const status = timeOf(entity, "status_at");
  const price = textProperty(entity, "price");
  const hours = textProperty(entity, "opening_hours");
  const known = status !== null && status <= now && numberOf(entity, "available") !== null;
  return [
    power(entity, words),
    known ? say("detail.statusAge", { age: format.duration(now - status) }) : "",
    plugs(entity),
    price === "" ? "" : say("detail.price", { price }),
    hours === "" ? "" : say("detail.hours", { hours }),
    joined(textProperty(entity, "name"), textProperty(entity, "operator")),
  ];
}

/** detailsOf returns the lines of a card about an entity's properties, without the limit, which is a road sign. */
export function detailsOf(entity: Entity, words: Locale, now: number): string[] {
  const { say } = words;
  const end = textProperty(entity, "end_node");
  const lines = entity.kind_id.startsWith("charger.")
    ? charger(entity, words, now)
    : [
        traffic(entity, words, false),
        direction(entity, words),
        end !== "" && entity.kind_id.startsWith("traffic.") ? say("detail.jamEnd", { place: end }) : "",
        flag(entity, "detour") ? say("detail.detour") : "",
        validity(entity, now, words),
      ];
  return [...lines, textProperty(entity, "description")].filter((line) => line !== "");
}
