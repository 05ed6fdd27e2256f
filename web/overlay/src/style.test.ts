import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { grounds } from "./state/theme.ts";

const sheet = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");
const style = sheet("./base.css");

/** colours returns the custom properties of a rule that are colours. */
function colours(selector: string): Map<string, string> {
  const rule = new RegExp(`^${selector.replace(/[[\]]/g, "\\$&")} \\{([^}]*)\\}`, "m").exec(style)?.[1] ?? "";
  return new Map([...rule.matchAll(/--([\w-]+):\s*(#[\da-f]{3,6});/g)].map(([, name = "", value = ""]) => [name, value]));
}

function luminance(colour: string): number {
  const digits = colour.length === 4 ? colour.slice(1).replace(/./g, "$&$&") : colour.slice(1);
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const share = parseInt(digits.slice(at, at + 2), 16) / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a: string, b: string): number {
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((one, other) => other - one);
  return (light + 0.05) / (dark + 0.05);
}

// Text on its background: AAA.
const texts = [
  ["ink", "panel"],
  ["ink", "ground"],
  ["soft", "panel"],
  ["accent", "panel"],
  ["on-accent", "accent"],
  ["there", "panel"],
  ["on-there", "there"],
  ["gone", "panel"],
  ["on-gone", "gone"],
  ["on-ahead", "ahead"],
  ["on-near", "near"],
] as const;

// Borders and icons.
const edges = [
  ["line", "panel"],
  ["accent", "ground"],
] as const;

describe.each([
  ["day", ":root"],
  ["night", '[data-theme="night"]'],
] as const)("%s", (theme, selector) => {
  const named = colours(selector);
  const of = (name: string): string => {
    const value = named.get(name);
    if (value === undefined) throw new Error(`no --${name}`);
    return value;
  };

  it("has the ground that the browser's bars get", () => {
    expect(of("ground")).toBe(grounds[theme]);
  });

  it.each(texts)("%s can be read on %s", (front, back) => {
    expect(contrast(of(front), of(back))).toBeGreaterThanOrEqual(7);
  });

  it.each(edges)("%s is seen on %s", (front, back) => {
    expect(contrast(of(front), of(back))).toBeGreaterThanOrEqual(3);
  });
});

it("black on white is 21 to 1", () => {
  expect(contrast("#000", "#ffffff")).toBeCloseTo(21);
});

it("no column of the panels is auto, which the oldest browser makes as wide as what spans it and a flexible one", () => {
  const panels = sheet("./panels/panels.css");
  expect(/--columns: ([^;]*);/.exec(panels)?.[1]).toMatch(/^(fit-content\(0\)|minmax\(0, 1fr\)|\s)+$/);
  const columns = [...panels.matchAll(/grid-template: [^;/]*\/ ([^;]*);/g)].map(([, after]) => after);
  expect(new Set(columns)).toEqual(new Set(["var(--columns)"]));
});

describe.each(["./base.css", "./panels/panels.css", "./panels/menu.css", "./map/map.css", "./contrast.css"])("%s", (name) => {
  const rules = sheet(name).replace(/\/\*[\s\S]*?\*\//g, "");

  it("depends on no hover, and neither blurs nor moves", () => {
    expect(rules).not.toMatch(/:hover|blur\(|backdrop-filter|animation|transition|@keyframes|text-shadow|box-shadow/);
  });

  it("asks for nothing that the oldest browser lacks", () => {
    expect(rules).not.toMatch(/(^|[\s;{])(gap|inset|aspect-ratio):|:(is|where|has)\(|\d(dvh|svh|lvh)\b|@(layer|container)/m);
  });

  it("is readable at one sitting", () => {
    expect(sheet(name).split("\n").length).toBeLessThanOrEqual(300);
  });
});
