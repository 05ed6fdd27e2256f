// Arrows of maneuvers, drawn as strokes 48 by 48.

import type { BannerLine, Maneuver, Modifier } from "./types.ts";

/** ManeuverDrawing is an arrow: its paths, and whether it is mirrored. */
export interface ManeuverDrawing {
  /** The path that the driver follows. */
  paths: readonly string[];
  /** The roads around it, drawn faintly. */
  faint: readonly string[];
  isMirrored: boolean;
  /** A text in its middle: the exit of a roundabout. */
  text: string;
}

const right: Partial<Record<Modifier, string>> = {
  straight: "M24 44V8M13 19L24 8L35 19",
  "slight right": "M18 44V28L33 12M20 12H33V25",
  right: "M16 44V20H38M28 9L39 20L28 31",
  "sharp right": "M15 44V10L35 30M36 15V31H20",
  uturn: "M34 44V18A10 10 0 0 0 14 18V36M4 27L14 37L24 27",
};

const mirrored: Partial<Record<Modifier, Modifier>> = { left: "right", "slight left": "slight right", "sharp left": "sharp right" };

const flag = "M14 44V6H38L32 14L38 22H14";
const ferry = "M6 30H42L36 42H12ZM14 30V20H34V30M24 20V10";
/** Behind the arrow of a fork, the way that is not taken. */
const otherBranch: Partial<Record<Modifier, string>> = { "slight right": "M18 28L8 14", right: "M16 28L8 14", straight: "M24 28L38 16" };

const centre = { x: 24, y: 22 };
const radius = 11;

/** drawingOf returns the arrow of a maneuver. */
export function drawingOf({ type, modifier = "straight", exit }: Pick<Maneuver, "type" | "modifier" | "exit">, line: Pick<BannerLine, "degrees" | "driving_side"> | null = null): ManeuverDrawing {
  const plain = { faint: [], isMirrored: false, text: "" };
  if (type === "arrive") return { ...plain, paths: [flag] };
  if (type === "notification") return { ...plain, paths: [ferry] };
  if (line?.degrees !== undefined && !type.startsWith("exit")) {
    return { paths: roundabout(line.degrees), faint: [`M${String(centre.x - radius)} ${String(centre.y)}a${String(radius)} ${String(radius)} 0 1 0 ${String(2 * radius)} 0a${String(radius)} ${String(radius)} 0 1 0 ${String(-2 * radius)} 0`], isMirrored: line.driving_side === "left", text: exit === undefined ? "" : String(exit) };
  }
  const other = mirrored[modifier];
  const base = other ?? modifier;
  const branch = type === "fork" || type === "off ramp" ? otherBranch[base] : undefined;
  const isLeftUTurn = modifier === "uturn" && line?.driving_side === "left";
  return { paths: [right[base] ?? right.straight ?? ""], faint: branch === undefined ? [] : [branch], isMirrored: other !== undefined || isLeftUTurn, text: "" };
}

/** roundabout draws the way from below around the ring, counterclockwise, and out of it. */
function roundabout(degrees: number): string[] {
  const driven = Math.max(30, Math.min(345, degrees));
  const angle = (driven * Math.PI) / 180;
  const at = (distance: number, turn = 0): string => `${(centre.x + distance * Math.sin(angle + turn)).toFixed(1)} ${(centre.y + distance * Math.cos(angle + turn)).toFixed(1)}`;
  const ring = `M24 46V${String(centre.y + radius)}A${String(radius)} ${String(radius)} 0 ${driven > 180 ? "1" : "0"} 0 ${at(radius)}L${at(21)}`;
  return [ring, `M${at(15, -0.45)}L${at(21)}L${at(15, 0.45)}`];
}

const namespace = "http://www.w3.org/2000/svg";

function svg(tag: string, attributes: Readonly<Record<string, string>>, ...children: Node[]): SVGElement {
  const made = document.createElementNS(namespace, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** makeManeuverIcon draws an arrow, which screen readers skip. */
export function makeManeuverIcon({ paths, faint, isMirrored, text }: ManeuverDrawing): SVGElement {
  const drawn = svg("g", isMirrored ? { transform: "translate(48 0) scale(-1 1)" } : {}, ...faint.map((d) => svg("path", { d, class: "faint" })), ...paths.map((d) => svg("path", { d })));
  const icon = svg("svg", { viewBox: "0 0 48 48", class: "arrow", "aria-hidden": "true" }, drawn);
  if (text !== "") {
    const number = svg("text", { x: "24", y: "27", "text-anchor": "middle" });
    number.textContent = text;
    icon.append(number);
  }
  return icon;
}

const laneArrows: Readonly<Record<string, string>> = {
  straight: "M24 44V8M15 17L24 8L33 17",
  "slight right": "M24 44V26L36 14M25 13H37V25",
  right: "M24 44V22H40M32 13L41 22L32 31",
  "sharp right": "M20 44V14L36 30M37 17V31H23",
  uturn: "M32 44V18A8 8 0 0 0 16 18V34M8 26L16 35L24 26",
};

/** makeLaneIcon draws the arrows of a lane; the one that is driven stands out. */
export function makeLaneIcon(directions: readonly string[], active: string | null): SVGElement {
  const arrows = (directions.length === 0 ? ["straight"] : directions).map((direction) => {
    const isLeft = direction.endsWith("left");
    const d = laneArrows[isLeft ? direction.replace("left", "right") : direction] ?? laneArrows["straight"] ?? "";
    return svg("path", { d, class: direction === active ? "taken" : "other", ...(isLeft && { transform: "translate(48 0) scale(-1 1)" }) });
  });
  return svg("svg", { viewBox: "0 0 48 48", class: "arrow", "aria-hidden": "true" }, ...arrows);
}
