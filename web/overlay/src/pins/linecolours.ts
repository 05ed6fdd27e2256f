// Colours of lines on the map, by how much they slow a driver down (pure).

import type { ExpressionSpecification } from "maplibre-gl";
import type { Look } from "./icontint.ts";
import type { Entity } from "../net/wire.ts";

/** Severity of a line: closed roads, jams by level, and hazards that merely ask for care. */
export type Severity = "closed" | "standstill" | "heavy" | "slow" | "care";

/** Levels of a jam as providers give them, 0 to 5; the last means closed. */
const [heavyLevel, standstillLevel, closedLevel] = [3, 4, 5];

/** severityOf returns the severity of an entity's line. A jam without a level counts as heavy. */
export function severityOf({ kind_id, properties }: Pick<Entity, "kind_id" | "properties">): Severity {
  if (kind_id.startsWith("alert.road_closed")) return "closed";
  if (kind_id.startsWith("alert.accident")) return "standstill";
  if (!kind_id.startsWith("traffic.")) return "care";
  const { level } = properties;
  if (typeof level !== "number") return "heavy";
  if (level >= closedLevel) return "closed";
  if (level >= standstillLevel) return "standstill";
  return level >= heavyLevel ? "heavy" : "slow";
}

const colours: Record<"day" | "night", Record<Severity, string>> = {
  day: { closed: "#5c0a14", standstill: "#b3170c", heavy: "#d9480f", slow: "#b26a00", care: "#b26a00" },
  night: { closed: "#ff4f7b", standstill: "#ff6a5a", heavy: "#ff9a4d", slow: "#ffd166", care: "#ffd166" },
};

/** lineColour returns the colour of lines by the property "severity" of their features. */
export function lineColour(look: Look): ExpressionSpecification {
  const { closed, standstill, heavy, slow } = colours[look === "night" ? "night" : "day"];
  return ["match", ["get", "severity"], "closed", closed, "standstill", standstill, "heavy", heavy, slow];
}
