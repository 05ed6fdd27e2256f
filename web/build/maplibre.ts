// Splits MapLibre's bundle into its three parts, so that it runs under a policy without blob: and eval.
//
// MapLibre's standard bundle builds its worker from strings at run time and needs worker-src blob:. Its other bundle, for strict
// policies, contains the code shared by page and worker twice: 372 KB instead of 276 KB (gzip), more than the page's whole budget for
// JavaScript. So the standard bundle is split at its three define() calls:
//
//   map-shared.js   shared by both; a classic script, because the worker is one (module workers came with Chromium 80)
//   map-worker.js   the worker, which loads map-shared.js
//   map-library.js  the module that `import … from 'maplibre-gl'` resolves to; it loads map-shared.js and sets the worker's URL
//
// A page can start the worker before the library is loaded, as self.maplibreWorker; the library's first worker is that one then.

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { rolldown } from "rolldown";
import type { Plugin } from "vite";

const require = createRequire(import.meta.url);

/** Run-time imports of maplibre-gl that overlay/src may use; types are not restricted. */
const names = ["Map", "prewarm", "setWorkerCount"];

// Polyfills of what MapLibre uses and the oldest supported browser lacks.
const missing = `
if (!Object.hasOwn) Object.hasOwn = (o, key) => Object.prototype.hasOwnProperty.call(o, key);
if (!Array.prototype.at) Object.defineProperty(Array.prototype, "at", {
  configurable: true, writable: true,
  value(i) { i = Math.trunc(i) || 0; return this[i < 0 ? this.length + i : i]; },
});`;

/** Where the library starts a worker. */
const startsWorker = /new Worker\((\w+\.\w+\.WORKER_URL)\)/g;

const licence = "/*! MapLibre GL JS, 3-Clause BSD: see maplibre-licence.txt */\n";

/** maplibre emits the three files and redirects imports of maplibre-gl to them. */
export function maplibre(target: string): Plugin {
  let base = "/";
  return {
    name: "wayside:maplibre",
    enforce: "pre",
    configResolved(config) {
      base = config.base;
    },
    resolveId(id) {
      return id === "maplibre-gl" ? { id: "./map-library.js", external: true } : null;
    },
    transformIndexHtml() {
      return ["map-shared.js", "map-library.js"].map((file) => ({
        tag: "link",
        attrs: { rel: "modulepreload", href: base + file },
        injectTo: "head",
      }));
    },
    async generateBundle() {
      const text = await readFile(require.resolve("maplibre-gl/LICENSE.txt"), "utf8");
      this.emitFile({ type: "asset", fileName: "maplibre-licence.txt", source: text });
      for (const [fileName, code] of await pieces()) {
        this.emitFile({ type: "asset", fileName, source: licence + (await lower(code, target)) });
      }
    },
  };
}

/** pieces returns the source of each file. */
async function pieces(): Promise<[string, string][]> {
  const path = require.resolve("maplibre-gl/dist/maplibre-gl.js");
  const bundle = await readFile(path, "utf8");
  const factories = new Map<string, string>();
  for (const [, name, factory] of bundle.matchAll(/^define\("(\w+)",\[[^\]]*\],(\(function[^]*?\}\))\);$/gm)) {
    if (name !== undefined && factory !== undefined) factories.set(name, factory);
  }
  const factory = (name: string): string => {
    const code = factories.get(name);
    if (code === undefined || factories.size !== 3) {
      throw new Error(`maplibre-gl.js is no longer made of shared, worker and index: ${[...factories.keys()].join()}`);
    }
    return code;
  };
  const index = factory("index");
  if (index.match(startsWorker)?.length !== 1) throw new Error("maplibre-gl.js no longer starts its workers in one place");
  return [
    ["map-shared.js", `${missing}\nself.maplibreShared = {}; ${factory("shared")}(self.maplibreShared);`],
    ["map-worker.js", `importScripts("map-shared.js"); ${factory("worker")}(self.maplibreShared);`],
    [
      "map-library.js",
      `import "./map-shared.js";
       const startWorker = (url) => { const started = self.maplibreWorker; self.maplibreWorker = undefined; return started || new Worker(url); };
       const library = {}; ${index.replace(startsWorker, "startWorker($1)")}(library, self.maplibreShared);
       library.setWorkerUrl(new URL("./map-worker.js", import.meta.url).href);
       ${names.map((name) => `const export${name} = library.${name};`).join(" ")}
       export { ${names.map((name) => `export${name} as ${name}`).join(", ")} };`, // a const Map would shadow the global Map
    ],
  ];
}

/** lower transpiles a file for the oldest supported browser and minifies it. */
async function lower(code: string, target: string): Promise<string> {
  const entry = "maplibre-piece";
  const bundle = await rolldown({
    input: entry,
    external: ["./map-shared.js"],
    makeAbsoluteExternalsRelative: false,
    transform: { target },
    plugins: [{ name: "source", resolveId: (id) => (id === entry ? id : null), load: (id) => (id === entry ? code : null) }],
    treeshake: false,
  });
  const { output } = await bundle.generate({ format: "esm", minify: true, comments: false });
  await bundle.close();
  return output[0].code;
}
