// Builds the service worker beside the page. It is a classic script in one piece, because module workers came with Chromium 91.

import { rolldown } from "rolldown";
import type { Plugin } from "vite";

/** serviceWorker emits sw.js, which internal/http/pages serves at /sw.js. */
export function serviceWorker(target: string): Plugin {
  return {
    name: "wayside:service-worker",
    apply: "build",
    async generateBundle() {
      const bundle = await rolldown({ input: new URL("../overlay/worker/sw.ts", import.meta.url).pathname, transform: { target } });
      const { output } = await bundle.generate({ format: "iife", minify: true });
      await bundle.close();
      this.emitFile({ type: "asset", fileName: "sw.js", source: output[0].code });
    },
  };
}
