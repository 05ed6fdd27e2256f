// Distances, speeds, times and confidence in the driver's language and units (pure).

import type { Units } from "../settings/settings.ts";

/** Written is a formatted number with its unit. */
export interface Written {
  /** "350" */
  value: string;
  /** "m" */
  unit: string;
  /** "350 m", as the language writes it. */
  text: string;
}

/** Format formats for one language and one system of units. It caches Intl's formatters, which are expensive to create. */
export interface Format {
  /** distance formats metres in coarse steps that can be read at a glance. */
  distance(metres: number): Written;
  /** spokenDistance formats a distance for screen readers: "350 metres". */
  spokenDistance(metres: number): string;
  /** length formats an exact value in a unit. */
  length(value: number, unit: LengthUnit): string;
  /** speed formats metres per second as a whole number. */
  speed(metresPerSecond: number): Written;
  /** duration formats milliseconds: "12 sec", "3 min", "2 hr", "5 days". */
  duration(milliseconds: number): string;
  /** number formats a number for the language. */
  number(value: number): string;
}

/** LengthUnit is a unit of length. */
export type LengthUnit = "meter" | "kilometer" | "foot" | "mile";

type Unit = LengthUnit | "kilometer-per-hour" | "mile-per-hour" | "second" | "minute" | "hour" | "day";

const metresPerFoot = 0.3048;
const metresPerMile = 1609.344;

/** Scaled is a rounded value in a unit; below means less than that value. */
interface Scaled {
  value: number;
  unit: Unit;
  digits: 0 | 1;
  below: boolean;
}

/** makeFormat takes a language code such as "de". */
export function makeFormat(language: string, units: Units): Format {
  const tag = language === "ar" ? "ar-u-nu-latn" : language; // the digits of road signs in most countries that read Arabic
  const made = new Map<string, Intl.NumberFormat>();
  const formatter = (unit: Unit, digits: number, unitDisplay: "short" | "long"): Intl.NumberFormat => {
    const key = `${unit} ${String(digits)} ${unitDisplay}`;
    const format =
      made.get(key) ??
      new Intl.NumberFormat(tag, { style: "unit", unit, unitDisplay, minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: unit !== "foot" }); // "2300 ft" is read at a glance
    made.set(key, format);
    return format;
  };
  let plain: Intl.NumberFormat | undefined; // made when it is needed, like the others: the first one takes a slow processor 50 ms
  const write = ({ value, unit, digits, below }: Scaled): Written => written(formatter(unit, digits, "short").formatToParts(value), below);
  return {
    distance: (metres) => write(scaled(metres, units)),
    spokenDistance: (metres) => {
      const { value, unit, digits } = scaled(metres, units);
      return formatter(unit, digits, "long").format(value);
    },
    length: (value, unit) => formatter(unit, 0, "short").format(value),
    speed: (metresPerSecond) => {
      const unit = units === "metric" ? "kilometer-per-hour" : "mile-per-hour";
      const perHour = (Math.max(0, metresPerSecond) * 3600) / (units === "metric" ? 1000 : metresPerMile);
      return write({ value: Math.round(perHour), unit, digits: 0, below: false });
    },
    duration: (milliseconds) => write(duration(milliseconds)).text,
    number: (value) => (plain ??= new Intl.NumberFormat(tag)).format(value),
  };
}

function written(parts: Intl.NumberFormatPart[], below: boolean): Written {
  const of = (inUnit: boolean): string =>
    parts
      .filter(({ type }) => type !== "literal" && (type === "unit") === inUnit)
      .map(({ value }) => value)
      .join("");
  const text = parts.map(({ value }) => value).join("");
  return below ? { value: `< ${of(false)}`, unit: of(true), text: `< ${text}` } : { value: of(false), unit: of(true), text };
}

const feetPerStep = 100;
const maxFeet = 2600; // half a mile: beyond it a tenth of a mile is fine enough

/** scaled rounds a distance to steps of 50 m or 100 ft, and from 1 km or half a mile on to a tenth of a kilometre or mile. */
function scaled(metres: number, units: Units): Scaled {
  const away = Math.max(0, metres);
  const [one, perSmall, small, many, large, perLarge] =
    units === "metric" ? ([50, 1, "meter", 1000, "kilometer", 1000] as const) : ([feetPerStep, metresPerFoot, "foot", maxFeet, "mile", metresPerMile] as const);
  const steps = Math.round(away / perSmall / one);
  if (steps * one < many) return { value: Math.max(1, steps) * one, unit: small, digits: 0, below: steps === 0 };
  const tenths = Math.round((away / perLarge) * 10);
  if (tenths < 100) return { value: tenths / 10, unit: large, digits: 1, below: false };
  return { value: Math.round(away / perLarge), unit: large, digits: 0, below: false };
}

const lengths: readonly [Unit, number][] = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1000],
];

/** duration formats a duration, rounded down so that it never exceeds the elapsed time. */
function duration(milliseconds: number): Scaled {
  const passed = Math.max(0, milliseconds);
  const [unit, length] = lengths.find(([, each]) => passed >= each) ?? (["second", 1000] as const);
  return { value: Math.floor(passed / length), unit, digits: 0, below: false };
}

/** Confidence is a category of confidence. */
export type Confidence = "sure" | "likely" | "open" | "doubtful";

/**
 * confidenceOf maps a confidence of 0 to 1 to a category. By the service's formula (D9.4) with a prior of one half, an entity without
 * votes is open, with one confirmation likely, with two sure, and with one dispute doubtful. Without a dispute nothing is doubtful: a
 * driver's report begins with a lower prior (D17.37), and is not gone because it is new.
 */
export function confidenceOf(confidence: number, disputes: number): Confidence {
  if (confidence >= 0.75) return "sure";
  if (confidence >= 0.6) return "likely";
  return confidence >= 0.4 || disputes === 0 ? "open" : "doubtful";
}
