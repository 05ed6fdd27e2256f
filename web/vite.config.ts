import { defineConfig } from "vite";
import { maplibre } from "./build/maplibre.ts";
import { serviceWorker } from "./build/serviceworker.ts";

// The oldest browser in cars that MapLibre 5 runs on (docs/decisions).
const floor = "chrome79";

export default defineConfig({
  root: "overlay",
  base: "/overlay/",
  publicDir: false,
  // The service puts all files into a folder whose name is their version: scripts find others beside themselves.
  experimental: { renderBuiltUrl: (_, { hostType }) => (hostType === "js" ? { relative: true } : undefined) },
  plugins: [maplibre(floor), serviceWorker(floor)],
  build: {
    target: floor,
    cssTarget: floor,
    outDir: "../dist/overlay",
    emptyOutDir: true,
    sourcemap: false,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      // Left alone, Rolldown makes a file of each module that the page and two of its later parts share.
      output: { codeSplitting: { groups: [{ name: "base", test: /overlay.src.(geo.geo|browser.observable|net.api|state.state|i18n.(words|en))\.ts|preload-helper|oxc-project.runtime/ }] }, entryFileNames: "[name].js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
    },
  },
});
