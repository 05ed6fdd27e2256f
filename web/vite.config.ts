import { defineConfig } from "vite";
import { maplibre } from "./build/maplibre.ts";

// The oldest browser that cars have and that MapLibre 5 can be made to run on (docs/decisions): translation ends there.
const floor = "chrome79";

export default defineConfig({
  root: "overlay",
  base: "/overlay/",
  publicDir: false,
  plugins: [maplibre(floor)],
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
      output: { entryFileNames: "[name].js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
    },
  },
});
