// The imports between the modules of web/, for the test that keeps them free of circles.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, sep } from "node:path";
import ts from "typescript";

/** Imports maps a module to the modules that it imports, by paths relative to the folder that was read. */
export type Imports = ReadonlyMap<string, readonly string[]>;

const excluded = new Set(["node_modules", "dist", "shots"]);

/** readImports reads the imports of all TypeScript modules in a folder: static and dynamic ones, of values and of types alike. */
export function readImports(folder: string): Imports {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts") && !name.split(sep).some((part) => excluded.has(part)));
  return new Map(files.map((name) => [name.split(sep).join("/"), importsOf(folder, name)]));
}

function importsOf(folder: string, name: string): string[] {
  const { importedFiles } = ts.preProcessFile(readFileSync(join(folder, name), "utf8"), true, true);
  const local = importedFiles.map(({ fileName }) => fileName).filter((path) => path.startsWith(".") && path.endsWith(".ts"));
  return [...new Set(local.map((path) => relative(folder, join(folder, dirname(name), path)).split(sep).join(posix.sep)))];
}

/** findCircles returns each set of modules that import each other, directly or through others (Tarjan 1972). */
export function findCircles(imports: Imports): string[][] {
  const [index, lowest] = [new Map<string, number>(), new Map<string, number>()];
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (module: string): number => {
    const own = index.size;
    index.set(module, own);
    let low = own;
    stack.push(module);
    for (const next of imports.get(module) ?? []) {
      if (!index.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, index.get(next) ?? low);
    }
    lowest.set(module, low);
    if (low === own) {
      const circle = stack.splice(stack.indexOf(module));
      if (circle.length > 1 || imports.get(module)?.includes(module)) circles.push(circle.sort());
    }
    return low;
  };
  for (const module of imports.keys()) if (!index.has(module)) visit(module);
  return circles;
}
