import { defineConfig } from "vitest/config";

// How fast the page is, printed: make bench BENCH=web. It needs the machine for itself.
export default defineConfig({
  test: {
    include: ["test/speed.ts"],
    globalSetup: ["test/globalsetup.ts"],
    testTimeout: 600_000,
    hookTimeout: 60_000,
    disableConsoleIntercept: true,
    maxWorkers: 1,
  },
});
