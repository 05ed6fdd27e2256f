// Converts the controls of a form to a config (pure). The service judges the config; errors that are found here save a request.

import type { Config, Field, FieldError } from "./api.ts";
import type { ConfigValue } from "./host.ts";

/** The text that answers and forms show in place of a secret that is set. If it is sent back, the secret stays (D16.12). */
export const mask = "••••";

/** Value is the value of a control: a switch has a boolean, all others a text. */
export type Value = string | boolean;

/** initialValue returns the first value of a control: the one that is set, or the default of an app that is not installed yet. */
export function initialValue(field: Field, config: Config, isInstalled: boolean): Value {
  const value = own(config, field.key) ?? (isInstalled && !field.required ? undefined : field.default);
  if (field.type === "boolean") return value === true;
  return value === undefined ? "" : String(value);
}

const own = (config: Config, key: string): ConfigValue | undefined => (Object.prototype.hasOwnProperty.call(config, key) ? config[key] : undefined);

/** configOf makes a config of the values, in which blank ones are missing (D16.5). */
export function configOf(schema: readonly Field[], values: ReadonlyMap<string, Value>): { config: Config; errors: FieldError[] } {
  const entries: [string, ConfigValue][] = [];
  const errors: FieldError[] = [];
  for (const field of schema) {
    const value = values.get(field.key) ?? "";
    if (typeof value === "boolean") {
      entries.push([field.key, value]);
      continue;
    }
    const text = field.type === "text" ? value : value.trim();
    if (text === "") {
      if (field.required) errors.push({ field: field.key, code: "missing" });
      continue;
    }
    if (field.type !== "number") {
      entries.push([field.key, text]);
      continue;
    }
    const figure = parseNumber(text);
    if (figure === null) errors.push({ field: field.key, code: "invalid" });
    else if (figure < (field.min ?? -Infinity) || figure > (field.max ?? Infinity)) errors.push({ field: field.key, code: "range" });
    else entries.push([field.key, figure]);
  }
  return { config: Object.fromEntries(entries), errors };
}

/** parseNumber takes a decimal comma, too; null: it is no number. */
export function parseNumber(text: string): number | null {
  const figure = Number(text.trim().replace(",", "."));
  return text.trim() === "" || !Number.isFinite(figure) ? null : figure;
}

/** stepped returns the next value of a number's control, within its bounds. */
export function stepped({ min, max, step = 1 }: Field, text: string, up: boolean): string {
  const lowest = min ?? -Infinity;
  const present = parseNumber(text);
  const start = present ?? (Number.isFinite(lowest) ? lowest : 0);
  const next = present === null ? start : start + (up ? step : -step);
  const bounded = Math.min(max ?? Infinity, Math.max(lowest, next));
  return String(Number(bounded.toPrecision(12))); // 0.1 + 0.2
}

/** errorKey returns the field that an error of the service is about: `config.token`, `config["token"]` or `token`. */
export const errorKey = (field: string): string => field.replace(/^config\.?/, "").replace(/^\["?|"?\]$/g, "");
