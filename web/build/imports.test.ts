import { fileURLToPath } from "node:url";
import { describe, expect, it, test } from "vitest";
import { findCircles, readImports, type Imports } from "./imports.ts";

const graph = (...arrows: [string, string[]][]): Imports => new Map(arrows);

describe("findCircles", () => {
  test.each<[string, Imports, string[][]]>([
    ["nothing", graph(), []],
    ["a diamond", graph(["a", ["b", "c"]], ["b", ["d"]], ["c", ["d"]], ["d", []]), []],
    ["two modules", graph(["a", ["b"]], ["b", ["a"]]), [["a", "b"]]],
    ["a module that imports itself", graph(["a", ["a"]]), [["a"]]],
    ["a circle behind another module", graph(["a", ["b"]], ["b", ["c"]], ["c", ["d"]], ["d", ["b"]]), [["b", "c", "d"]]],
    ["two circles", graph(["a", ["b", "c"]], ["b", ["a"]], ["c", ["d"]], ["d", ["c"]]), [["c", "d"], ["a", "b"]]],
  ])("%s", (_, imports, want) => {
    expect(findCircles(imports)).toEqual(want);
  });
});

const imports = readImports(fileURLToPath(new URL("..", import.meta.url)));

describe("the modules of web/", () => {
  it("are read, with their imports of values and types, static and dynamic", () => {
    for (const folder of ["overlay/src/", "overlay/worker/", "console/src/", "test/", "build/"]) expect([...imports.keys()].some((name) => name.startsWith(folder))).toBe(true);
    expect(imports.get("overlay/src/nav/entry.ts")).toEqual(expect.arrayContaining(["overlay/src/browser/dom.ts", "overlay/src/nav/deps.ts", "overlay/src/nav/navigation.ts"]));
    expect([...imports.values()].flat().filter((name) => !imports.has(name) && !name.startsWith("../"))).toEqual([]);
  });

  it("are in no circle", () => {
    expect(findCircles(imports)).toEqual([]);
  });
});

// The folders of overlay/src, lowest first; main.ts lists them with their modules. "" is main.ts.
const order = ["geo", "browser", "settings", "net", "i18n", "car", "pins", "alerts", "state", "readers", "offline", "map", "report", "apps", "nav", "panels", ""];

describe("the folders of overlay/src", () => {
  const folderOf = (name: string): string => /^overlay\/src\/([^/]+)\//.exec(name)?.[1] ?? "";
  const modules = [...imports].filter(([name]) => name.startsWith("overlay/src/") && !name.endsWith(".test.ts"));

  it("are all in the order", () => {
    expect(new Set(modules.map(([name]) => folderOf(name)))).toEqual(new Set(order));
  });

  it("import only lower ones", () => {
    const up = modules.flatMap(([name, imported]) => imported.filter((other) => order.indexOf(folderOf(other)) > order.indexOf(folderOf(name))).map((other) => `${name} imports ${other}`));
    expect(up).toEqual([]);
  });
});
