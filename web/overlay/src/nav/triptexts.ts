// Distances and times as a driver reads them (pure).

import type { Format, LengthUnit } from "../i18n/format.ts";
import type { Units } from "../settings/settings.ts";

/** Length is a rounded distance. */
interface Length {
  value: number;
  unit: LengthUnit;
}

const metresPerFoot = 0.3048;

/** turnDistance rounds the distance to a maneuver: finer than the page's other distances, because a driver turns by it. null: coarse enough. */
export function turnDistance(metres: number, units: Units): Length | null {
  const away = Math.max(0, metres);
  if (units === "metric") {
    if (away >= 1000) return null;
    const step = away >= 300 ? 50 : 10;
    return { value: Math.min(950, Math.round(away / step) * step), unit: "meter" };
  }
  const feet = away / metresPerFoot;
  if (feet >= 1000) return null;
  const step = feet >= 500 ? 100 : 50;
  return { value: Math.round(feet / step) * step, unit: "foot" };
}

/** turnDistanceText writes the distance to a maneuver. */
export function turnDistanceText(metres: number, units: Units, format: Format): string {
  const near = turnDistance(metres, units);
  return near === null ? format.distance(metres).text : format.length(near.value, near.unit);
}

/** leftText writes how long something takes, in hours and whole minutes that are begun: "1 hr 5 min". */
export function leftText(seconds: number, format: Format): string {
  const minutes = Math.max(1, Math.ceil(seconds / 60 - 0.01));
  const hours = Math.floor(minutes / 60);
  const rest = minutes % 60;
  if (hours === 0) return format.duration(minutes * 60_000);
  const written = format.duration(Math.min(hours, 23) * 3_600_000);
  if (hours > 23) return format.duration(hours * 3_600_000);
  return rest === 0 ? written : `${written} ${format.duration(rest * 60_000)}`;
}

/** clockText writes the time of day. */
export function clockText(at: number, language: string): string {
  return new Date(at).toLocaleTimeString(language === "ar" ? "ar-u-nu-latn" : language === "en" ? "en-GB" : language, { hour: "2-digit", minute: "2-digit" });
}
