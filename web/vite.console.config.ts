import { existsSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

// The scripts of the console: one module each, which import the overlay's map library by its URL. internal/http/pages/scripts.go
// fills in its version.
const library = "/overlay/map-library.js";
const entries = ["appchecks", "bench", "map", "page", "passkeys"].filter((name) => existsSync(new URL(`console/src/${name}.ts`, import.meta.url)));

const libraryOfOverlay: Plugin = {
  name: "wayside:library-of-overlay",
  enforce: "pre",
  resolveId: (id) => (id === "maplibre-gl" ? { id: library, external: true } : null),
};

export default defineConfig({
  root: "console",
  base: "./", // relative URLs, since the folder name contains a version
  publicDir: false,
  plugins: [libraryOfOverlay],
  build: {
    target: "chrome100", // phones and desktop browsers; older ones get the pages without maps
    outDir: "../dist/console",
    emptyOutDir: true,
    sourcemap: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      preserveEntrySignatures: "exports-only", // the bench and wayside app check import appchecks.js
      input: Object.fromEntries(entries.map((name) => [name, `console/src/${name}.ts`])),
      output: { entryFileNames: "[name].js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
    },
  },
});
