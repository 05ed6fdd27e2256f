// Configs for trying an app: made of its schema, so that each field has a value that a driver could set.

import type { Parts } from "../../../overlay/src/apps/host.ts";

/** Config holds the values that a driver set. */
export type Config = Parts["config"];

/** Field is a field of a config_schema, as far as samples need it. */
export interface Field {
  key: string;
  type: "text" | "number" | "boolean" | "select" | "url";
  required?: boolean;
  default?: string | number | boolean;
  options?: string[];
  min?: number;
  max?: number;
  max_length?: number;
}

const types = ["text", "number", "boolean", "select", "url"];

/** parseSchema reads a config_schema. It checks only members that samples need; the service checks the rest when an app is submitted. */
export function parseSchema(value: unknown): Field[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new Error("config_schema must be an array of fields");
  return value.map((field: Partial<Field> | null, at) => {
    const key = field?.key;
    if (typeof key !== "string" || !types.includes(field?.type ?? "")) throw new Error(`config_schema[${String(at)}] must have a key and a type`);
    if (field?.type === "select" && !field.options?.length) throw new Error(`config_schema[${String(at)}] must have options`);
    return field as Field;
  });
}

/** parseConfig reads the values that a developer set. */
export function parseConfig(value: unknown): Config {
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw new Error("config must be an object");
  for (const [key, set] of Object.entries(value)) {
    if (!["string", "number", "boolean"].includes(typeof set)) throw new Error(`config.${key} must be a string, a number or a boolean`);
  }
  return value as Config;
}

function sampleOf(field: Field): string | number | boolean {
  if (field.default !== undefined) return field.default;
  switch (field.type) {
    case "boolean":
      return true;
    case "number":
      return field.min ?? Math.min(field.max ?? 1, 1);
    case "select":
      return field.options?.[0] ?? "";
    case "url":
      return "https://example.org/";
    case "text":
      return "Sample".slice(0, field.max_length);
  }
}

/** fullConfig returns a config with a value for every field: the one that the developer set, otherwise a sample. */
export function fullConfig(schema: readonly Field[], set: Config): Config {
  return { ...Object.fromEntries(schema.map((field) => [field.key, sampleOf(field)])), ...set };
}

/** blankConfig returns the config of a driver who set only required fields: the others have their default or are missing. */
export function blankConfig(schema: readonly Field[], set: Config): Config {
  const given = schema.filter((field) => field.required === true || field.default !== undefined);
  return Object.fromEntries(given.map((field) => [field.key, field.default ?? set[field.key] ?? sampleOf(field)]));
}
