import { defineConfig } from "vitest/config";

// Tests in a real browser against the real binary; globalsetup.ts builds and starts both, once for all files.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/globalsetup.ts"],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 1, // software rendering needs the processor for itself
  },
});
