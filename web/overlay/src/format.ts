// Distances, speeds, times and confidence in the driver's language and units (pure).

import type { Units } from "./settings.ts";

/** Written is a figure with its unit. */
export interface Written {
  /** "350" */
  value: string;
  /** "m" */
  unit: string;
  /** "350 m", as the language writes it. */
  text: string;
}

/** Format writes in one language and one system of units. It holds Intl's formatters, which are dear to make. */
export interface Format {
  /** distance in metres, for the eye: in steps that a driver can take in. */
  distance(metres: number): Written;
  /** spokenDistance is the same for a screen reader: "350 metres". */
  spokenDistance(metres: number): string;
  /** speed in metres a second, as a whole number. */
  speed(metresPerSecond: number): Written;
  /** duration of milliseconds: "12 sec", "3 min", "2 hr", "5 days". */
  duration(milliseconds: number): string;
  /** number as the language writes it. */
  number(value: number): string;
}

type Unit = "meter" | "kilometer" | "foot" | "mile" | "kilometer-per-hour" | "mile-per-hour" | "second" | "minute" | "hour" | "day";

const metresPerFoot = 0.3048;
const metresPerMile = 1609.344;

/** Scaled is a figure in a unit, rounded; below: it is less than that. */
interface Scaled {
  value: number;
  unit: Unit;
  digits: 0 | 1;
  below: boolean;
}

/** makeFormat takes a language such as "de". */
export function makeFormat(language: string, units: Units): Format {
  const made = new Map<string, Intl.NumberFormat>();
  const formatter = (unit: Unit, digits: number, unitDisplay: "short" | "long"): Intl.NumberFormat => {
    const key = `${unit} ${String(digits)} ${unitDisplay}`;
    const format =
      made.get(key) ??
      new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay, minimumFractionDigits: digits, maximumFractionDigits: digits });
    made.set(key, format);
    return format;
  };
  const plain = new Intl.NumberFormat(language);
  const write = ({ value, unit, digits, below }: Scaled): Written => written(formatter(unit, digits, "short").formatToParts(value), below);
  return {
    distance: (metres) => write(scaled(metres, units)),
    spokenDistance: (metres) => {
      const { value, unit, digits } = scaled(metres, units);
      return formatter(unit, digits, "long").format(value);
    },
    speed: (metresPerSecond) => {
      const unit = units === "metric" ? "kilometer-per-hour" : "mile-per-hour";
      const perHour = (Math.max(0, metresPerSecond) * 3600) / (units === "metric" ? 1000 : metresPerMile);
      return write({ value: Math.round(perHour), unit, digits: 0, below: false });
    },
    duration: (milliseconds) => write(duration(milliseconds)).text,
    number: (value) => plain.format(value),
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

/** scaled rounds a distance to what can be read at a glance: steps of 50 m or 100 ft, and a tenth of a kilometre or mile. */
function scaled(metres: number, units: Units): Scaled {
  const away = Math.max(0, metres);
  const [step, small, many, large, perLarge] =
    units === "metric" ? ([50, "meter", 1000, "kilometer", 1000] as const) : ([100 * metresPerFoot, "foot", 1000 * metresPerFoot, "mile", metresPerMile] as const);
  const steps = Math.round(away / step);
  if (steps * step < many - 1e-9) {
    const one = units === "metric" ? 50 : 100;
    return { value: Math.max(1, steps) * one, unit: small, digits: 0, below: steps === 0 };
  }
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

/** duration is rounded down, and so never tells more than has passed. */
function duration(milliseconds: number): Scaled {
  const passed = Math.max(0, milliseconds);
  const [unit, length] = lengths.find(([, each]) => passed >= each) ?? (["second", 1000] as const);
  return { value: Math.floor(passed / length), unit, digits: 0, below: false };
}

/** Confidence is how sure one may be that a pin is there. */
export type Confidence = "sure" | "likely" | "open" | "doubtful";

/**
 * confidenceOf puts a confidence of 0 to 1 into words. By the service's formula (D9.4) and a prior of a half, what nobody voted
 * on is open, one confirm makes it likely, two make it sure, and one dispute makes it doubtful.
 */
export function confidenceOf(confidence: number): Confidence {
  if (confidence >= 0.75) return "sure";
  if (confidence >= 0.6) return "likely";
  return confidence >= 0.4 ? "open" : "doubtful";
}
