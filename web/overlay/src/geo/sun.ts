// The sun's altitude, and the choice between day and night (pure).

import type { Place } from "./geo.ts";

/** Theme is the colour scheme of the page. */
export type Theme = "day" | "night";

const radians = Math.PI / 180;

const sin = (degrees: number): number => Math.sin(degrees * radians);
const cos = (degrees: number): number => Math.cos(degrees * radians);

/**
 * sunAltitude returns the altitude of the sun's centre in degrees, without refraction; at is in milliseconds since 1970. The
 * formulas are those of NOAA's solar calculator, accurate to some hundredths of a degree within a century of 2000.
 */
export function sunAltitude({ lat, lng }: Place, at: number): number {
  const days = at / 86_400_000 - 10_957.5; // since noon of 1 January 2000
  const century = days / 36_525;
  const meanLongitude = 280.46646 + century * (36_000.76983 + century * 0.0003032);
  const meanAnomaly = 357.52911 + century * (35_999.05029 - century * 0.0001537);
  const eccentricity = 0.016708634 - century * (0.000042037 + century * 0.0000001267);
  const centre =
    sin(meanAnomaly) * (1.914602 - century * (0.004817 + century * 0.000014)) +
    sin(2 * meanAnomaly) * (0.019993 - century * 0.000101) +
    sin(3 * meanAnomaly) * 0.000289;
  const node = 125.04 - 1934.136 * century;
  const longitude = meanLongitude + centre - 0.00569 - 0.00478 * sin(node);
  const obliquity = 23.4392911 - century * 0.0130042 + 0.00256 * cos(node);
  const declination = Math.asin(sin(obliquity) * sin(longitude));
  const y = Math.tan((obliquity * radians) / 2) ** 2;
  const equationOfTime =
    (y * sin(2 * meanLongitude) -
      2 * eccentricity * sin(meanAnomaly) +
      4 * eccentricity * y * sin(meanAnomaly) * cos(2 * meanLongitude) -
      0.5 * y * y * sin(4 * meanLongitude) -
      1.25 * eccentricity * eccentricity * sin(2 * meanAnomaly)) /
    radians;
  const hourAngle = (days % 1) * 360 + lng + equationOfTime; // days begin at noon
  return Math.asin(sin(lat) * Math.sin(declination) + cos(lat) * Math.cos(declination) * cos(hourAngle)) / radians;
}

// Hysteresis: between the two altitudes the theme stays, so that it does not flicker. Headlights come on around here.
const nightAltitude = -3;
const dayAltitude = -1;

/** themeBySun chooses by the sun's altitude; before is the present theme, null initially. */
export function themeBySun(altitude: number, before: Theme | null): Theme {
  if (altitude < nightAltitude) return "night";
  if (altitude > dayAltitude) return "day";
  return before ?? (altitude < (nightAltitude + dayAltitude) / 2 ? "night" : "day");
}

/** themeFor applies the driver's choice. altitude is null while the position is unknown; then the browser's preference decides. */
export function themeFor(choice: Theme | "auto", altitude: number | null, before: Theme | null, prefersNight: boolean): Theme {
  if (choice !== "auto") return choice;
  if (altitude === null) return prefersNight ? "night" : "day";
  return themeBySun(altitude, before);
}
