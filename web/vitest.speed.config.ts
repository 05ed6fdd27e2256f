import { defineConfig } from "vitest/config";

// Prints the page's performance: make bench BENCH=web. Nothing else should run on the machine.
export default defineConfig({
  test: {
    include: ["test/speed.ts", "test/navigationspeed.ts", "test/appsspeed.ts"],
    globalSetup: ["test/globalsetup.ts"],
    testTimeout: 600_000,
    hookTimeout: 60_000,
    disableConsoleIntercept: true,
    maxWorkers: 1,
  },
});
